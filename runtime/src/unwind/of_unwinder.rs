//! Functions of the shared unwinder.

use core::ffi::CStr;
use core::marker::PhantomData;
use core::sync::atomic::{AtomicUsize, Ordering};
use szc_sys::next::{Function, next_symbol, symbol_in};

/// A function of the shared unwinder, found once. (The search makes the program depend on the
/// library, so that it stays.)
pub struct OfUnwinder<F> {
    name: &'static CStr,
    /// 0 as long as it is not found: libc loads the unwinder itself when a thread of a C program is
    /// cancelled or ends early.
    address: AtomicUsize,
    function: PhantomData<F>,
}

impl<F: Function> OfUnwinder<F> {
    /// # Safety
    /// What has that name in the unwinder must be a function of this type.
    pub const unsafe fn new(name: &'static CStr) -> Self {
        Self { name, address: AtomicUsize::new(0), function: PhantomData }
    }

    /// The function, if there is an unwinder.
    pub fn get(&self) -> Option<F> {
        let mut address = self.address.load(Ordering::Relaxed);
        if address == 0 {
            address = next_symbol(self.name);
            if address == 0 {
                address = symbol_in(c"libgcc_s.so.1", self.name);
            }
            self.address.store(address, Ordering::Relaxed);
        }
        // SAFETY: the promise of `new`.
        (address != 0).then(|| unsafe { F::at(address) })
    }
}
