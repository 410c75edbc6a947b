//! Finds the function that a symbol of the runtime stands in front of.

use crate::arch;
use core::ffi::{CStr, c_char, c_void};
use core::sync::atomic::{AtomicUsize, Ordering};

/// Address of the next definition of a symbol in the order of loading; 0 if there is none, as in
/// static programs.
pub fn next_symbol(name: &CStr) -> usize {
    let dlsym = arch::weak_dlsym();
    if dlsym == 0 {
        return 0;
    }
    let next = -1isize as *mut c_void; // RTLD_NEXT
    // SAFETY: the address is that of dlsym(3); the caller is the program's image, which is loaded.
    unsafe {
        let dlsym: unsafe extern "C" fn(*mut c_void, *const c_char) -> *mut c_void =
            core::mem::transmute(dlsym);
        dlsym(next, name.as_ptr()) as usize
    }
}

/// The next definition of a symbol, looked for once.
///
/// A cancellation point of libc has to stay one, so the runtime calls it rather than the kernel
/// where it can be found.
pub struct Next {
    name: &'static CStr,
    address: AtomicUsize,
}

/// No address is this one, and none has been looked for.
const UNKNOWN: usize = usize::MAX;

impl Next {
    pub const fn new(name: &'static CStr) -> Self {
        Self { name, address: AtomicUsize::new(UNKNOWN) }
    }

    /// Its address, if there is one.
    pub fn get(&self) -> Option<usize> {
        let known = self.address.load(Ordering::Relaxed);
        let address = if known == UNKNOWN { next_symbol(self.name) } else { known };
        self.address.store(address, Ordering::Relaxed);
        (address != 0).then_some(address)
    }
}
