//! What other threads may touch of a base: the queue of slabs that they freed blocks of.

use super::slab::Slab;
use core::sync::atomic::{AtomicPtr, Ordering};
use szc_sys::os;

/// What other threads may touch of a base.
pub struct Shared {
    /// Slabs with blocks in `freed_elsewhere`.
    queue: AtomicPtr<Slab>,
}

impl Shared {
    /// Puts a slab into the queue.
    ///
    /// # Safety
    /// The slab's chunk must have the calling thread as a visitor, and the slab be in no queue.
    pub unsafe fn push(&self, slab: *mut Slab) {
        let mut head = self.queue.load(Ordering::Relaxed);
        loop {
            // SAFETY: a chunk is not unmapped while a visitor is in it.
            unsafe { (*slab).next_queued.store(head, Ordering::Relaxed) };
            // Release: pairs with the acquire in `take`.
            match self.queue.compare_exchange_weak(head, slab, Ordering::Release, Ordering::Relaxed)
            {
                Ok(_) => return,
                Err(other) => head = other,
            }
        }
    }

    /// Takes the whole queue: its first slab, or null.
    pub fn take(&self) -> *mut Slab {
        if self.queue.load(Ordering::Relaxed).is_null() {
            return os::null();
        }
        // Acquire: pairs with the release in `push`; the links of the list are visible.
        self.queue.swap(os::null(), Ordering::Acquire)
    }
}
