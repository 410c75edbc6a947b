//! Which memory of copies other processes may have as well.
//!
//! A forked child has the same memory of copies as its parent, because that is mapped shared. So
//! from the announcement of a fork on neither of them writes there any more: who wants to change a
//! page takes one of its own first, with the same content at the same addresses
//! ([`Arena`](crate::arena::Arena)). What one has taken since the last fork is its own.
//!
//! Between the announcement of a fork and its return other threads of the parent run on, and a page
//! that one of them takes then may become the child's as well. They note it, and such a child does
//! not rely on any of this, but copies everything.

use core::sync::atomic::{AtomicBool, AtomicU32, Ordering};

/// Counts announcements and returns of forks. Changed under the lock of copies.
static GENERATION: AtomicU32 = AtomicU32::new(0);

/// Forks that have been announced, and whose calls have not returned in this process.
static UNDER_WAY: AtomicU32 = AtomicU32::new(0);

/// Copies that the child has as well may have been written while a fork was under way.
static WRITTEN: AtomicBool = AtomicBool::new(false);

/// A number that is another one behind each fork.
#[inline]
pub fn generation() -> u32 {
    GENERATION.load(Ordering::Relaxed)
}

/// A fork is announced, under the lock of copies.
pub fn announce_fork() {
    UNDER_WAY.fetch_add(1, Ordering::Relaxed);
    GENERATION.fetch_add(1, Ordering::Relaxed);
}

/// The call of a fork that was announced has returned; under the lock of copies.
pub fn fork_returned() {
    GENERATION.fetch_add(1, Ordering::Relaxed);
    // Release: pairs with the acquire in `is_fork_under_way`; the child is there.
    if UNDER_WAY.fetch_sub(1, Ordering::Release) == 1 {
        WRITTEN.store(false, Ordering::Relaxed);
    }
}

/// Whether a fork that was announced may still make its child.
pub fn is_fork_under_way() -> bool {
    UNDER_WAY.load(Ordering::Acquire) != 0
}

/// Copies that may run are about to be written in memory that was taken a moment ago.
pub(crate) fn note_written() {
    if is_fork_under_way() {
        // Before the memory is mapped: a child that has it finds this noted.
        WRITTEN.store(true, Ordering::SeqCst);
    }
}

/// In a forked child: whether a thread of the parent may still be writing to what both have.
pub fn was_written() -> bool {
    WRITTEN.load(Ordering::Relaxed)
}

/// In a child of which its parent does not know: that goes on writing.
pub fn note_unannounced() {
    WRITTEN.store(true, Ordering::Relaxed);
}

/// In a forked child, which shares with its parent what there is.
pub fn become_child() {
    GENERATION.fetch_add(1, Ordering::Relaxed);
    UNDER_WAY.store(0, Ordering::Relaxed);
}

/// In a forked child that has copied everything, if that was necessary.
pub fn forget_written() {
    WRITTEN.store(false, Ordering::Relaxed);
}
