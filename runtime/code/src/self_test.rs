//! Whether changes of code are seen where it is executed.
//!
//! A processor fetches what memory holds, by whichever mapping it was written. An emulator keeps
//! translations of what it has executed, and learns of changes by the mapping that it has executed
//! from alone (qemu-user; valgrind without `--smc-check=all`): there a program would ask the
//! resolver for ever, or run what is no longer there. So before anything of a program changes, a
//! function is changed by each of the two ways that the runtime has, and called.

use crate::arena::Arena;
use crate::refused::Refused;
use core::sync::atomic::{AtomicU8, Ordering};
use szc_layout::arch::patch::{WORD_BYTES, Word};
use szc_sys::arch::number::{self, FIRST_NUMBER};
use szc_sys::os::{self, File};

/// Calls until a change must have been seen, and as many again. A processor may go on for some
/// nanoseconds with what it has fetched already; an emulator may translate what is called often
/// alone.
const CALLS: u32 = 64;

/// What the test has found in this process.
static RESULT: AtomicU8 = AtomicU8::new(UNKNOWN);
const UNKNOWN: u8 = 0;
const SEEN: u8 = 1;
const UNSEEN: u8 = 2;

/// Why code must not change, if so. The test is made once, in the first place of an arena.
///
/// # Safety
/// Nobody may know the arena yet.
pub(crate) unsafe fn obstacle(arena: &Arena) -> Option<Refused> {
    if RESULT.load(Ordering::Relaxed) == UNKNOWN {
        // SAFETY: the caller's promise.
        match unsafe { test(arena) } {
            Ok(seen) => RESULT.store(if seen { SEEN } else { UNSEEN }, Ordering::Relaxed),
            Err(reason) => return Some(reason),
        }
    }
    (RESULT.load(Ordering::Relaxed) == UNSEEN).then_some(Refused::Emulated)
}

/// # Safety
/// As [`obstacle`].
unsafe fn test(arena: &Arena) -> Result<bool, Refused> {
    // SAFETY: the caller's promise.
    unsafe { arena.open((0, false), WORD_BYTES) }.map_err(|_| Refused::Memory)?;
    let at = arena.address(0, 0);
    let store = |number| {
        // By the same kind of store as patchable entries, and without a system call: those of an
        // emulator may look for changes.
        arena.set_word(at, number::returning(number));
        Ok(())
    };
    let memory = File::open(c"/proc/self/mem", os::OPEN_READ_WRITE).map_err(|_| Refused::Text)?;
    let text = number::in_text();
    let mut found: [Word; 1] = [0];
    let read = memory.read_at(&mut found, text);
    // SAFETY: the function's own bytes.
    let there = unsafe { (text as *const Word).read_volatile() };
    if read.is_err() || found != [there] {
        // The file shows the emulator's memory, at other addresses.
        return Ok(false);
    }
    let write = |number| {
        let bytes = number::returning(number).to_le_bytes();
        // SAFETY: the function there is called by nobody else, and returns another number then.
        unsafe { memory.write_at(&bytes, text) }.map_err(|_| Refused::Text)
    };
    // What is written last to the text is what it had before.
    Ok(shows(at, store)? && shows(text, write)?)
}

/// Whether each of some changes of the function at an address is seen.
fn shows(at: usize, mut change: impl FnMut(u32) -> Result<(), Refused>) -> Result<bool, Refused> {
    let mut seen = true;
    for number in [FIRST_NUMBER, FIRST_NUMBER + 1, FIRST_NUMBER + 2, FIRST_NUMBER] {
        change(number)?;
        // SAFETY: the function is there, in whatever form.
        let says = || unsafe { number::call(at) } == number;
        seen &= (0..CALLS).any(|_| says()) && (0..CALLS).all(|_| says());
    }
    Ok(seen)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::alias::Form;
    use crate::arena::Private;
    use crate::image_file::FileRoom;

    #[test]
    fn a_processor_sees_changes_and_the_function_is_as_before() {
        let image = number::in_text() & !(os::PAGE_BYTES - 1);
        let private = Private { bytes: 8, side_bytes: 0 };
        let (range, budget) = (image..image + 1, 1 << 20);
        let made = Arena::new(&range, 8192, budget, private, Form::Plain, FileRoom::default());
        let (arena, _) = made.ok().unwrap();
        // SAFETY: nobody else knows the arena.
        assert_eq!(unsafe { (test(&arena), obstacle(&arena)) }, (Ok(true), None));
        // SAFETY: the function is there.
        assert_eq!(unsafe { number::call(number::in_text()) }, FIRST_NUMBER);
    }

    #[test]
    fn a_change_that_nobody_sees_is_noticed() {
        let ignored = shows(number::in_text(), |_| Ok(()));
        assert_eq!(ignored, Ok(false));
        let refused = shows(number::in_text(), |_| Err(Refused::Text));
        assert_eq!(refused, Err(Refused::Text));
    }
}
