//! Functions that forked children were the first to call.
//!
//! A child that copies a function pays for it with memory of its own, and each of its siblings that
//! calls the same pays again. So children note what they copy in memory that the family shares, and
//! the parent copies those functions before its next fork, and ahead for each epoch. These are
//! hints: whatever is noted, a program behaves the same.

use crate::sharing;
use core::sync::atomic::{AtomicPtr, AtomicU64, Ordering};
use szc_sys::os;

/// Hints are given up after so many epochs: what no child calls any more is found out.
const EPOCHS: u64 = 64;

/// Most functions that are copied in front of a fork.
pub(crate) const MAX_AT_A_FORK: usize = 256;

/// Two bits for each function of an image: of its copy, and of its unpadded clone.
pub struct Wanted {
    words: AtomicPtr<AtomicU64>,
    count: u32,
}

impl Wanted {
    /// None, of so many functions.
    pub fn of(functions: u32) -> Self {
        Self { words: AtomicPtr::new(os::null()), count: 2 * functions }
    }

    fn bytes(&self) -> usize {
        (self.count as usize).div_ceil(64) * size_of::<u64>()
    }

    fn words(&self) -> &[AtomicU64] {
        let words = self.words.load(Ordering::Relaxed);
        if words.is_null() {
            return &[];
        }
        // SAFETY: a mapping of so many bytes, which stays as long as this.
        unsafe { core::slice::from_raw_parts(words, self.bytes() / size_of::<u64>()) }
    }

    /// Before a fork: makes room for what children note. Whether there was some already.
    pub(crate) fn expect_child(&self) -> bool {
        let had = !self.words.load(Ordering::Relaxed).is_null();
        if !had && let Ok(words) = os::map_shared(self.bytes()) {
            self.words.store(words.cast(), Ordering::Relaxed);
        }
        had
    }

    /// A function has been copied at its first call, or its clone: a child notes it.
    pub(crate) fn note(&self, function: u32, is_clone: bool) {
        let function = 2 * function + u32::from(is_clone);
        if sharing::is_child()
            && let Some(word) = self.words().get(function as usize / 64)
        {
            word.fetch_or(1 << (function % 64), Ordering::Relaxed);
        }
    }

    /// The functions that are noted, and whether their clones are meant.
    pub(crate) fn functions(&self) -> impl Iterator<Item = (u32, bool)> {
        let words = self.words().iter().enumerate();
        let count = self.count;
        words.filter(|(_, word)| word.load(Ordering::Relaxed) != 0).flat_map(
            move |(index, word)| {
                let (first, bits) = (index as u32 * 64, word.load(Ordering::Relaxed));
                let is_noted = move |&bit: &u32| bits >> bit & 1 != 0 && first + bit < count;
                (0..64).filter(is_noted).map(move |bit| ((first + bit) / 2, bit % 2 != 0))
            },
        )
    }

    /// An epoch has been prepared: gives the hints up now and then.
    pub(crate) fn age(&self, epoch: u64) {
        if epoch.is_multiple_of(EPOCHS) {
            for word in self.words() {
                word.store(0, Ordering::Relaxed);
            }
        }
    }
}

impl Drop for Wanted {
    fn drop(&mut self) {
        let words = *self.words.get_mut();
        if !words.is_null() {
            // SAFETY: the mapping of `expect_child`; all references to it were borrowed from this.
            unsafe { os::unmap(words.cast(), self.bytes()) };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_children_note_is_found_until_it_is_old() {
        let wanted = Wanted::of(65);
        assert!(!wanted.expect_child());
        wanted.note(3, false);
        assert_eq!(wanted.functions().count(), 0, "this is no child");
        sharing::become_child();
        for (function, is_clone) in [(64, true), (3, false), (32, false)] {
            wanted.note(function, is_clone);
        }
        assert!(wanted.expect_child());
        wanted.age(EPOCHS + 1);
        let noted: Vec<_> = wanted.functions().collect();
        assert_eq!(noted, [(3, false), (32, false), (64, true)]);
        wanted.age(2 * EPOCHS);
        assert_eq!(wanted.functions().count(), 0);
    }
}
