//! What each base allocator can do.

/// An allocator of blocks of size classes, owned by one thread at a time.
pub trait Base {
    /// Takes up to `out.len()` blocks of a class; returns how many. Fewer only if the kernel has no
    /// memory.
    ///
    /// # Safety
    /// The calling thread must own the base. A pointer, because other threads may give blocks to it
    /// meanwhile.
    unsafe fn take(this: *mut Self, class: usize, out: &mut [*mut u8]) -> usize;

    /// Gives blocks back, of this base or of another thread's.
    ///
    /// # Safety
    /// The calling thread must own this base. The blocks must be ones that a base of the same kind
    /// gave for this class, and nobody may use them.
    unsafe fn give(this: *mut Self, class: usize, blocks: &[*mut u8]);
}
