//! What was found for the addresses in copies that unwinders asked about before. An exception goes
//! through the same few calls each time, and the search for one function among thousands, and for
//! its unwind rules, costs more than all else that is done for a frame.
//!
//! Nothing found here is believed: whoever uses a guess looks whether it is right for its own
//! question. That needs no lock, and no order between threads.

use super::images::CAPACITY;
use crate::os::PAGE_BYTES;
use core::sync::atomic::{AtomicU64, Ordering};

/// How many guesses there are.
const GUESSES: usize = 512;

/// Bits of a packed guess for the place of the rules, and for the function.
const RULES_BITS: u32 = 32;
const FUNCTION_BITS: u32 = 24;
/// Where the image's slot begins in it.
const SLOT_AT: u32 = RULES_BITS + FUNCTION_BITS;
const _: () = assert!(CAPACITY <= 1 << (u64::BITS - SLOT_AT));

/// What an address in a copy may belong to, of any layout of an image.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Guess {
    /// The function.
    pub function: u32,
    /// Where unwind rules begin in the image, 0 if that was not asked. Where it is another number,
    /// there are rules.
    pub rules: u32,
}

/// Guesses by address.
pub struct Guesses([AtomicU64; GUESSES]);

impl Guesses {
    /// None.
    pub const fn new() -> Self {
        Self([const { AtomicU64::new(0) }; GUESSES])
    }

    /// The guess for an address in a copy of the image in a slot.
    pub fn get(&self, slot: usize, address: usize) -> Guess {
        // Relaxed: what is read is no more than a guess, and nothing else becomes visible by it.
        let packed = self.at(address).load(Ordering::Relaxed);
        if packed >> SLOT_AT != slot as u64 {
            return Guess::default();
        }
        let function = packed >> RULES_BITS & ((1 << FUNCTION_BITS) - 1);
        Guess { function: function as u32, rules: packed as u32 }
    }

    /// Remembers what holds for an address in a copy of the image in a slot.
    pub fn set(&self, slot: usize, address: usize, guess: Guess) {
        if guess.function >> FUNCTION_BITS == 0 {
            let function = u64::from(guess.function) << RULES_BITS;
            let packed = (slot as u64) << SLOT_AT | function | u64::from(guess.rules);
            self.at(address).store(packed, Ordering::Relaxed);
        }
    }

    /// Forgets what is known of the image in a slot, before another one comes there: its rules are
    /// somewhere else.
    pub fn forget(&self, slot: usize) {
        for guess in &self.0 {
            if guess.load(Ordering::Relaxed) >> SLOT_AT == slot as u64 {
                guess.store(0, Ordering::Relaxed);
            }
        }
    }

    fn at(&self, address: usize) -> &AtomicU64 {
        &self.0[(address ^ (address / PAGE_BYTES)) % GUESSES]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_guess_is_of_one_image_until_that_is_forgotten() {
        let guesses = Guesses::new();
        let last = Guess { function: (1 << FUNCTION_BITS) - 1, rules: u32::MAX };
        guesses.set(CAPACITY - 1, 0x1234, last);
        assert_eq!(guesses.get(CAPACITY - 1, 0x1234), last);
        assert_eq!(guesses.get(CAPACITY - 2, 0x1234), Guess::default());
        assert_eq!(guesses.get(CAPACITY - 1, 0x1235), Guess::default());
        guesses.forget(CAPACITY - 2);
        assert_eq!(guesses.get(CAPACITY - 1, 0x1234), last);
        guesses.forget(CAPACITY - 1);
        assert_eq!(guesses.get(CAPACITY - 1, 0x1234), Guess::default());
    }

    #[test]
    fn what_has_no_room_is_not_remembered() {
        let guesses = Guesses::new();
        guesses.set(1, 0x1234, Guess { function: 1 << FUNCTION_BITS, rules: 5 });
        assert_eq!(guesses.get(1, 0x1234), Guess::default());
    }
}
