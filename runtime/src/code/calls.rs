//! Calls of a copy that lead into another layout than its own.
//!
//! A displacement changes while threads run, by one store of the aligned word that has all of it;
//! where there is none (three of eight), the call goes on leading into the copy's own layout.

use super::arena::Arena;
use super::body::displacement;
use super::copy::Calls;
use super::entrances::change_word;
use super::image::Image;
use super::region::Region;
use crate::arch::entry::{self, STUB_MARK_AT, STUB_UNMARKED, WORD_BYTES, Word};
use core::sync::atomic::{AtomicU8, Ordering};
use szc_abi::Malformed;

/// Bytes of a displacement.
const DISPLACEMENT_BYTES: usize = 4;

impl Region {
    /// Makes the calls of a function's copy that can be led anywhere lead into a layout of the same
    /// image, which may be this one again. Whoever fetched an older displacement goes where that
    /// led.
    pub(super) fn lead_calls(&self, image: &Image, arena: &Arena, function: u32, to: &Self) {
        let mark = self.mark(arena, function);
        let is_away = self.place() != to.place();
        if is_away {
            // Before any call leads there: a forked child copies the marks after the bodies.
            mark.store(!STUB_UNMARKED, Ordering::Release);
        }
        let start = self.body(arena, function) + image.slot(function).body as usize;
        // The table was validated at start, so the stream cannot end early.
        let _ = lead(&Calls { into: to, image, arena }, function, start);
        if !is_away {
            mark.store(STUB_UNMARKED, Ordering::Release);
        }
    }

    /// Whether calls of a function's copy may lead elsewhere than into this layout.
    pub(super) fn is_led(&self, arena: &Arena, function: u32) -> bool {
        self.mark(arena, function).load(Ordering::Relaxed) != STUB_UNMARKED
    }

    /// The mark of that, in the function's stub.
    fn mark<'a>(&self, arena: &'a Arena, function: u32) -> &'a AtomicU8 {
        let at = self.stub(arena, function) + STUB_MARK_AT;
        // SAFETY: the byte lies in the arena, whose writable view stays mapped.
        unsafe { AtomicU8::from_ptr(arena.writable(at)) }
    }
}

/// Writes the displacements of the calls of a function's body at `start` that lie in one word each.
fn lead(calls: &Calls<'_>, function: u32, start: usize) -> Result<(), Malformed> {
    let mut reader = calls.image.table().fields(&calls.image.function(function));
    for _ in 0..reader.field_count()? {
        let field = reader.next_field()?;
        let Some(target) = calls.callee(function, field.kind) else { continue };
        let at = start + field.at as usize;
        let in_word = at % WORD_BYTES;
        if in_word + DISPLACEMENT_BYTES > WORD_BYTES {
            continue;
        }
        let shift = 8 * in_word as u32;
        let displacement = Word::from(displacement(at, target)) << shift;
        let mask = entry::first_bytes(DISPLACEMENT_BYTES as u32) << shift;
        change_word(calls.arena, at - in_word, displacement, mask);
    }
    Ok(())
}
