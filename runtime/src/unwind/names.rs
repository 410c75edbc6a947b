//! Names of files and functions by addresses: a copy has the name of its original.

use crate::pc_map::PC_MAP;
use core::ffi::{CStr, c_char, c_void};
use szc_sys::next::DLADDR;

/// The address that has the name of another.
pub fn named(address: *const c_void) -> *const c_void {
    PC_MAP.translate(address as usize).map_or(address, |original| original as *const c_void)
}

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
