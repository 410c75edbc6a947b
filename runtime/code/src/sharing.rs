//! Which memory of copies other processes may have as well.
//!
//! A forked child has the same memory of copies as its parent, because that is mapped shared. So
//! from the announcement of a fork on neither of them writes there any more: who wants to change a
//! page takes one of its own first, with the same content at the same addresses
//! ([`Arena`](crate::arena::Arena)). What one has taken since the last fork is its own.
//!
//! Most children end soon. When a process has no children any more, and none of them has had
//! children of its own, everything is its own again that was so before, without being taken.
//!
//! Between the announcement of a fork and its return other threads of the parent run on, and a page
//! that one of them takes then may become the child's as well. They note it, and such a child does
//! not rely on any of this, but copies everything.

use core::sync::atomic::{AtomicBool, AtomicU32, Ordering};

/// Counts announcements and returns of forks. Changed under the lock of copies.
static GENERATION: AtomicU32 = AtomicU32::new(0);

/// The generation since which memory that was taken is this process's alone.
static OWN_SINCE: AtomicU32 = AtomicU32::new(0);

/// The generation since which memory is this process's alone when no child is left: the one with
/// which this process began, or in which others than children came by its memory.
static BASE: AtomicU32 = AtomicU32::new(0);

/// Forks that have been announced, and whose calls have not returned in this process.
static UNDER_WAY: AtomicU32 = AtomicU32::new(0);

/// Copies that the child has as well may have been written while a fork was under way.
static WRITTEN: AtomicBool = AtomicBool::new(false);

/// This process is a child that knows of it.
static IS_CHILD: AtomicBool = AtomicBool::new(false);

/// Whether this process is a child of one that has the runtime.
pub fn is_child() -> bool {
    IS_CHILD.load(Ordering::Relaxed)
}

/// A number that is another one behind each fork.
#[inline]
pub fn generation() -> u32 {
    GENERATION.load(Ordering::Relaxed)
}

/// The generation since which memory that was taken is this process's alone.
#[inline]
pub fn own_since() -> u32 {
    OWN_SINCE.load(Ordering::Relaxed)
}

/// The generation since which memory is this process's alone when no child is left.
pub fn base() -> u32 {
    BASE.load(Ordering::Relaxed)
}

/// Whether children may have memory that was this process's before.
pub fn may_be_shared() -> bool {
    own_since() != base()
}

/// No other process has memory that was this one's alone; under the lock of copies, while no fork
/// is under way.
pub fn is_shared_no_more() {
    OWN_SINCE.store(base(), Ordering::Relaxed);
}

/// Others than children may have what there is, whatever becomes of those; under the lock of
/// copies.
pub fn is_shared_for_good() {
    BASE.store(own_since(), Ordering::Relaxed);
}

/// What there is, others may have from now on.
fn begin_generation() {
    let last = GENERATION.fetch_add(1, Ordering::Relaxed);
    OWN_SINCE.store(last.wrapping_add(1), Ordering::Relaxed);
}

/// A fork is announced, under the lock of copies.
pub fn announce_fork() {
    UNDER_WAY.fetch_add(1, Ordering::Relaxed);
    begin_generation();
}

/// The call of a fork that was announced has returned; under the lock of copies.
pub fn fork_returned() {
    begin_generation();
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
    begin_generation();
    BASE.store(generation(), Ordering::Relaxed);
    UNDER_WAY.store(0, Ordering::Relaxed);
    IS_CHILD.store(true, Ordering::Relaxed);
}

/// In a forked child that has copied everything, if that was necessary.
pub fn forget_written() {
    // Most pages of a child are its parent's until it writes there.
    if was_written() {
        WRITTEN.store(false, Ordering::Relaxed);
    }
}
