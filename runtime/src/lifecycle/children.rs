//! Children that share copies with this process.
//!
//! Those that have not made their own yet, where they must, are counted in a word that parent and
//! children share. A child that is no longer waited for may still be there, and say later that it
//! is separate: so the word has a generation beside the number, and whoever belongs to an older one
//! is not counted.
//!
//! A second word says whether others than children may have this process's memory: children of its
//! children.

use crate::os;
use crate::state::CODE;
use core::sync::atomic::{AtomicBool, AtomicPtr, AtomicU32, Ordering};
use szc_code::sharing;

/// What a process and its children share.
#[repr(C)]
struct Words {
    /// Generation above, number of children below.
    pending: AtomicU32,
    /// Not 0 if somebody may have this process's memory who is no child of it.
    strangers: AtomicU32,
    /// Not 0 if a child has lived until its first round was due, since there was none.
    grown: AtomicU32,
    /// How often all children have ended before that, without another in between.
    young: AtomicU32,
}

/// So often, that the next ones probably do, too.
const YOUNG: u32 = 8;

/// The words that this process shares with its children; none before its first fork.
static OWN: AtomicPtr<Words> = AtomicPtr::new(os::null());

/// Those that it shares with its parent.
static PARENT: AtomicPtr<Words> = AtomicPtr::new(os::null());

/// There was no memory for words when a child was made: it cannot say anything.
static UNKNOWN: AtomicBool = AtomicBool::new(false);

/// The generation that children belong to that are made now. Changed under the lock of the copies.
/// A child finds its own.
static GENERATION: AtomicU32 = AtomicU32::new(0);

const NUMBER_BITS: u32 = 16;
const NUMBER_MASK: u32 = (1 << NUMBER_BITS) - 1;

/// A fork is announced, under the lock of the copies: no epoch begins until its child has its own.
/// `is_own`: this is the process that has the memory, and the child will be its own.
pub fn expect_fork(is_own: bool) {
    // Without words it shares copies for as long as it lives.
    UNKNOWN.fetch_or(make().is_err(), Ordering::Relaxed);
    if !is_own {
        note_strangers(&OWN);
    }
    // To its parent this process's child is one.
    note_strangers(&PARENT);
    expect_any();
}

/// The same, where nothing can change any more.
pub fn expect_any() {
    sharing::announce_fork();
    expect_child();
}

fn note_strangers(words: &AtomicPtr<Words>) {
    if let Some(words) = of(words)
        && words.strangers.load(Ordering::Relaxed) == 0
    {
        // Before the child is there: who finds no child any more finds this.
        words.strangers.store(1, Ordering::SeqCst);
    }
}

fn of(words: &AtomicPtr<Words>) -> Option<&'static Words> {
    // SAFETY: null or a shared page that stays mapped, until a child that has a single thread
    // forgets it.
    unsafe { words.load(Ordering::Relaxed).as_ref() }
}

/// Makes the words that are shared with children, if there are none.
fn make() -> Result<(), os::Errno> {
    if of(&OWN).is_none() {
        let words = os::map_shared(os::PAGE_BYTES)?;
        GENERATION.store(0, Ordering::Relaxed);
        OWN.store(words.cast(), Ordering::Relaxed);
    }
    Ok(())
}

/// Whether this process was forked by one that has copies.
pub fn is_child() -> bool {
    of(&PARENT).is_some()
}

fn word() -> Option<&'static AtomicU32> {
    of(&OWN).map(|words| &words.pending)
}

/// Number of children that are expected to say that they have their own copies.
fn pending() -> u32 {
    // Acquire: pairs with the release in `child_is_separate`; the child has read all it needs.
    word().map_or(0, |word| word.load(Ordering::Acquire) & NUMBER_MASK)
}

/// Whether nobody else may rely on copies as they are: no child that has not said that it is
/// separate, and no fork under way, behind which memory is another's as well.
pub fn all_are_separate() -> bool {
    pending() == 0 && !sharing::is_fork_under_way() && !UNKNOWN.load(Ordering::Relaxed)
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

/// Finds out whether children may still have memory of this process's, under the lock of the
/// copies. If all have ended, it is its own again.
pub fn look() {
    // The last child has noted before it ended whether it had children.
    if !sharing::may_be_shared() || sharing::is_fork_under_way() || !os::has_no_child() {
        return;
    }
    expect_none();
    if let Some(words) = of(&OWN) {
        let young = if words.grown.swap(0, Ordering::Relaxed) == 0 {
            words.young.load(Ordering::Relaxed).saturating_add(1)
        } else {
            0
        };
        words.young.store(young, Ordering::Relaxed);
    }
    match of(&OWN) {
        Some(words) if words.strangers.swap(0, Ordering::SeqCst) == 0 => {
            sharing::is_shared_no_more();
        }
        _ => sharing::is_shared_for_good(),
    }
}

fn expect_none() {
    if let Some(word) = word() {
        let next = (GENERATION.load(Ordering::Relaxed) + 1) & NUMBER_MASK;
        GENERATION.store(next, Ordering::Relaxed);
        word.store(next << NUMBER_BITS, Ordering::Relaxed);
    }
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
        if !sharing::is_fork_under_way() && os::has_no_child() {
            expect_none();
        }
    });
}

/// In a child: whether it will probably end before its first round, as those before it did.
pub fn end_soon() -> bool {
    of(&PARENT).is_some_and(|words| words.young.load(Ordering::Relaxed) >= YOUNG)
}

/// In a child: its first round is due.
pub fn note_grown() {
    if let Some(words) = of(&PARENT)
        && words.grown.load(Ordering::Relaxed) == 0
    {
        words.grown.store(1, Ordering::Relaxed);
    }
}

/// In a child that is separate: its children's words are to be others than its parent's.
pub fn become_child() {
    let old = PARENT.swap(OWN.swap(os::null(), Ordering::Relaxed), Ordering::Relaxed);
    if !old.is_null() {
        // SAFETY: a page of `make`; a child has one thread.
        unsafe { os::unmap(old.cast(), os::PAGE_BYTES) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_child_that_is_no_longer_waited_for_does_not_count_as_another_one() {
        make().unwrap();
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
        become_child();
        assert!(word().is_none());
    }

    #[test]
    fn memory_is_own_again_when_children_have_ended_that_had_none() {
        let strangers = |words| of(words).map(|words| words.strangers.load(Ordering::Relaxed));
        let fork = |is_own| {
            expect_fork(is_own);
            sharing::fork_returned();
            assert!(sharing::may_be_shared());
        };
        assert!(!sharing::may_be_shared());
        fork(true);
        look();
        assert!(!sharing::may_be_shared());
        // Not this process's, so nobody knows when it ends.
        fork(false);
        let since = sharing::own_since();
        look();
        assert!(!sharing::may_be_shared() && sharing::own_since() == since);
        assert_eq!(strangers(&OWN), Some(0));
        // As a child that has one: its parent cannot know when that ends.
        become_child();
        sharing::become_child();
        fork(true);
        assert_eq!((strangers(&OWN), strangers(&PARENT)), (Some(0), Some(1)));
    }

    #[test]
    fn children_end_soon_when_all_have_for_some_time() {
        let fork = |grows| {
            expect_fork(true);
            sharing::fork_returned();
            if grows {
                // What a child would do.
                PARENT.store(OWN.load(Ordering::Relaxed), Ordering::Relaxed);
                note_grown();
                PARENT.store(os::null(), Ordering::Relaxed);
            }
            look();
        };
        let end_soon =
            || of(&OWN).is_some_and(|words| words.young.load(Ordering::Relaxed) >= YOUNG);
        for _ in 0..YOUNG {
            assert!(!end_soon());
            fork(false);
        }
        assert!(end_soon());
        fork(true);
        assert!(!end_soon());
    }
}
