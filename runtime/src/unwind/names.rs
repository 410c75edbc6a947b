//! dladdr(3): a copy has the name of its original.

use crate::next::Next;
use crate::state::LOCATORS;
use core::ffi::{c_int, c_void};

fn original(address: *const c_void) -> *const c_void {
    match LOCATORS.origin(address as usize) {
        Some(origin) => origin.original as *const c_void,
        None => address,
    }
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
    static NEXT: Next = Next::new(c"dladdr");
    let Some(next) = NEXT.get() else { return 0 };
    // SAFETY: the symbol of that name has this type; the caller's promise.
    unsafe {
        let next: unsafe extern "C" fn(*const c_void, *mut c_void) -> c_int =
            core::mem::transmute(next);
        next(original(address), info)
    }
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
    static NEXT: Next = Next::new(c"dladdr1");
    let Some(next) = NEXT.get() else { return 0 };
    // SAFETY: the symbol of that name has this type; the caller's promise.
    unsafe {
        let next: unsafe extern "C" fn(
            *const c_void,
            *mut c_void,
            *mut *mut c_void,
            c_int,
        ) -> c_int = core::mem::transmute(next);
        next(original(address), info, extra, flags)
    }
}
