//! Children that share copies with this process and have not made their own yet.
//!
//! They are counted in a word that parent and children share. A child that is no longer waited for
//! may still be there, and say later that it is separate: so the word has a generation beside the
//! number, and whoever belongs to an older one is not counted.

use crate::os;
use crate::state::CODE;
use core::sync::atomic::{AtomicPtr, AtomicU32, Ordering};
use szc_code::sharing;

/// The word: generation above, number of children below.
static WORD: AtomicPtr<AtomicU32> = AtomicPtr::new(os::null());

/// The generation that children belong to that are made now. Changed under the lock of the copies.
/// A child finds its own.
static GENERATION: AtomicU32 = AtomicU32::new(0);

const NUMBER_BITS: u32 = 16;
const NUMBER_MASK: u32 = (1 << NUMBER_BITS) - 1;

/// A fork is announced, under the lock of the copies: no epoch begins until its child has its own.
pub fn expect_fork() {
    sharing::announce_fork();
    expect_child();
}

/// Counts from now on.
pub fn start() -> Result<(), os::Errno> {
    let word = os::map_shared(os::PAGE_BYTES)?;
    GENERATION.store(0, Ordering::Relaxed);
    WORD.store(word.cast(), Ordering::Relaxed);
    Ok(())
}

/// Whether there is a word to count in.
pub fn are_counted() -> bool {
    word().is_some()
}

fn word() -> Option<&'static AtomicU32> {
    // SAFETY: null or a shared page that stays mapped, until a child that has a single thread
    // forgets it.
    unsafe { WORD.load(Ordering::Relaxed).as_ref() }
}

/// Number of children that are expected to say that they have their own copies.
fn pending() -> u32 {
    // Acquire: pairs with the release in `child_is_separate`; the child has read all it needs.
    word().map_or(0, |word| word.load(Ordering::Acquire) & NUMBER_MASK)
}

/// Whether nobody else may rely on copies as they are: no child that has not said that it is
/// separate, and no fork under way, behind which memory is another's as well.
pub fn all_are_separate() -> bool {
    pending() == 0 && !sharing::is_fork_under_way()
}

fn expect_child() {
    if let Some(word) = word() {
        word.fetch_add(1, Ordering::Relaxed);
    }
}

/// In the child, once it no longer reads the parent's copies.
pub fn child_is_separate() {
    expect_one_less();
}

/// There is no such child, or it is separate.
pub fn expect_one_less() {
    let generation = GENERATION.load(Ordering::Relaxed);
    let less = |word: u32| {
        let counts = word >> NUMBER_BITS == generation && word & NUMBER_MASK != 0;
        counts.then(|| word - 1)
    };
    if let Some(word) = word() {
        // Release: pairs with the acquire in `pending`.
        let _ = word.fetch_update(Ordering::Release, Ordering::Relaxed, less);
    }
}

/// Expects no child any more if there is none: one died before it could say anything.
pub fn doubt() {
    // Under the lock no fork is announced.
    CODE.with(|_| {
        if let Some(word) = word()
            && !sharing::is_fork_under_way()
            && os::has_no_child()
        {
            let next = (GENERATION.load(Ordering::Relaxed) + 1) & NUMBER_MASK;
            GENERATION.store(next, Ordering::Relaxed);
            word.store(next << NUMBER_BITS, Ordering::Relaxed);
        }
    });
}

/// In a child that is separate: what it shares with its parent is not its own.
pub fn forget_parent() {
    let word = WORD.swap(os::null(), Ordering::Relaxed);
    if !word.is_null() {
        // SAFETY: the page of `start`; the child has one thread.
        unsafe { os::unmap(word.cast(), os::PAGE_BYTES) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_child_that_is_no_longer_waited_for_does_not_count_as_another_one() {
        start().unwrap();
        expect_child();
        expect_child();
        child_is_separate();
        assert_eq!(pending(), 1);
        doubt();
        assert_eq!(pending(), 0, "this process has no child");
        expect_child();
        let late = GENERATION.swap(0, Ordering::Relaxed);
        child_is_separate();
        assert_eq!(pending(), 1);
        GENERATION.store(late, Ordering::Relaxed);
        child_is_separate();
        child_is_separate();
        assert_eq!(pending(), 0);
        forget_parent();
        assert!(!are_counted());
    }
}
