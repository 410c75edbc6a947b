//! The functions of libc that this library stands in front of.

use core::ffi::{CStr, c_int};
use core::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// A function, found when it is first called: constructors of other libraries may call before this
/// library's own has run.
pub struct Next {
    name: &'static CStr,
    address: AtomicUsize,
}

impl Next {
    /// The function of that name.
    pub const fn new(name: &'static CStr) -> Self {
        Self { name, address: AtomicUsize::new(0) }
    }

    /// Its address. Who is here was called by that name, so there is one: in libc, or nowhere, and
    /// then the program could not do without this library what it does with it.
    pub fn address(&self) -> usize {
        match self.address.load(Relaxed) {
            0 => self.find(),
            known => known,
        }
    }

    #[cold]
    fn find(&self) -> usize {
        // SAFETY: the name ends with a zero.
        let found = unsafe { libc::dlsym(libc::RTLD_NEXT, self.name.as_ptr()) } as usize;
        if found == 0 {
            crate::system::abort();
        }
        self.address.store(found, Relaxed);
        found
    }
}

static SIGACTION: Next = Next::new(c"sigaction");

/// libc's sigaction(2).
///
/// # Safety
/// As that.
pub unsafe fn sigaction(
    signal: c_int,
    new: *const libc::sigaction,
    old: *mut libc::sigaction,
) -> c_int {
    type Function =
        unsafe extern "C" fn(c_int, *const libc::sigaction, *mut libc::sigaction) -> c_int;
    // SAFETY: the type is that of signal.h; the rest is the caller's promise.
    unsafe { core::mem::transmute::<usize, Function>(SIGACTION.address())(signal, new, old) }
}
