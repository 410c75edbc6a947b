//! dladdr(3): a copy has the name of its original.

use crate::state::LOCATORS;
use core::ffi::{CStr, c_char, c_int, c_void};

fn original(address: *const c_void) -> *const c_void {
    match LOCATORS.origin(address as usize) {
        Some(origin) => origin.original as *const c_void,
        None => address,
    }
}

/// libc's dladdr(3).
use crate::next::DLADDR;

/// The start of `Dl_info`.
#[repr(C)]
struct Info {
    path: *const c_char,
    others: [usize; 3],
}

/// Name of the file that an address is mapped from, without its folders.
pub fn file_name(address: usize) -> Option<&'static [u8]> {
    let mut info = Info { path: core::ptr::null(), others: [0; 3] };
    // SAFETY: the symbol of that name has this type; the result has room. The loader's name of an
    // image that stays loaded.
    let path = unsafe {
        let next = DLADDR.get()?;
        if next(address as *const c_void, (&raw mut info).cast()) == 0 || info.path.is_null() {
            return None;
        }
        CStr::from_ptr(info.path)
    };
    path.to_bytes().rsplit(|&byte| byte == b'/').next()
}

/// dladdr(3)
///
/// # Safety
/// As libc's: `info` can be written to.
#[unsafe(no_mangle)]
unsafe extern "C" fn szc_rt_shared_walks_dladdr(
    address: *const c_void,
    info: *mut c_void,
) -> c_int {
    let Some(next) = DLADDR.get() else { return 0 };
    // SAFETY: the symbol of that name has this type; the caller's promise.
    unsafe { next(original(address), info) }
}

/// dladdr1(3)
///
/// # Safety
/// As libc's: `info` and `extra` can be written to.
#[unsafe(no_mangle)]
unsafe extern "C" fn szc_rt_shared_walks_dladdr1(
    address: *const c_void,
    info: *mut c_void,
    extra: *mut *mut c_void,
    flags: c_int,
) -> c_int {
    use crate::next::DLADDR1 as NEXT;
    let Some(next) = NEXT.get() else { return 0 };
    // SAFETY: the symbol of that name has this type; the caller's promise.
    unsafe { next(original(address), info, extra, flags) }
}
