//! Calls of a copy that lead into another layout than its own.
//!
//! A displacement changes while threads run, by one store of the aligned word that has all of it;
//! where there is none (three of eight), the call goes on leading into the copy's own layout.
#![forbid(unsafe_code)]

use crate::layout_ref::LayoutRef;
use core::sync::atomic::Ordering;
use szc_abi::{FieldKind, Malformed};
use szc_layout::arch::patch::{STUB_MARK_AT, STUB_UNMARKED, WORD_BYTES, Word, first_bytes};
use szc_layout::body::{Targets, displacement};

/// Bytes of a displacement.
const DISPLACEMENT_BYTES: usize = 4;

/// Makes the calls of a function's copy that can be led anywhere lead into a layout of the same
/// image, which may be its own again. Whoever fetched an older displacement goes where that led.
pub(crate) fn retarget(from: LayoutRef<'_>, function: u32, to: LayoutRef<'_>) {
    let is_away = from.drawn.place() != to.drawn.place();
    if is_away {
        // Before any call leads there: a forked child copies the marks after the bodies.
        set_mark(from, function, !STUB_UNMARKED);
    }
    // The table was validated at start, so the stream cannot end early.
    let _ = retarget_all(from, function, to);
    if !is_away {
        set_mark(from, function, STUB_UNMARKED);
    }
}

/// Whether calls of a function's copy may lead elsewhere than into its layout.
pub(crate) fn are_retargeted(layout: LayoutRef<'_>, function: u32) -> bool {
    let (at, shift) = mark(layout, function);
    (layout.arena.load(at) >> shift) as u8 != STUB_UNMARKED
}

/// Whether what [`retarget`] changes is seen by this process alone.
pub(crate) fn are_own(layout: LayoutRef<'_>, function: u32) -> bool {
    let bytes = layout.image.function(function).size as usize;
    layout.arena.take_bytes(layout.body(function), bytes)
        && layout.arena.take_bytes(mark(layout, function).0, WORD_BYTES)
}

/// The word that holds the mark of that, a byte of the function's stub, and where in it.
fn mark(layout: LayoutRef<'_>, function: u32) -> (usize, u32) {
    let at = layout.stub(function) + STUB_MARK_AT;
    (at - at % WORD_BYTES, 8 * (at % WORD_BYTES) as u32)
}

fn set_mark(layout: LayoutRef<'_>, function: u32, mark_byte: u8) {
    let (at, shift) = mark(layout, function);
    // The holder of the lock alone writes to stubs.
    let rest = layout.arena.load(at) & !(0xff << shift);
    layout.arena.store(at, rest | Word::from(mark_byte) << shift, Ordering::Release);
}

fn retarget_all(from: LayoutRef<'_>, function: u32, to: LayoutRef<'_>) -> Result<(), Malformed> {
    let start = from.body(function);
    let mut reader = from.image.table().fields(from.image.function(function));
    for _ in 0..reader.field_count()? {
        let field = reader.next_field()?;
        let Some(target) = callee(to, function, field.kind) else { continue };
        let at = start + field.at as usize;
        let in_word = at % WORD_BYTES;
        if in_word + DISPLACEMENT_BYTES > WORD_BYTES {
            continue;
        }
        let shift = 8 * in_word as u32;
        let displacement = Word::from(displacement(at, target)) << shift;
        let mask = first_bytes(DISPLACEMENT_BYTES as u32) << shift;
        from.arena.change_word(at - in_word, displacement, mask);
    }
    Ok(())
}

/// Where a field of a function leads in a layout that calls or jumps to the beginning of another,
/// if that is complete by itself: the other parts of this one work on its frame, which is that of
/// its own layout.
fn callee(to: LayoutRef<'_>, function: u32, kind: FieldKind) -> Option<usize> {
    let (FieldKind::Function { function: callee, offset: 0 } | FieldKind::Inner(callee)) = kind
    else {
        return None;
    };
    let mut member = to.image.function(function).unit_next;
    while member != function {
        if member == callee {
            return None;
        }
        member = to.image.function(member).unit_next;
    }
    Some(match kind {
        FieldKind::Inner(_) if to.image.slot(function).padded.is_some() => to.inner(callee),
        _ => to.function(callee, 0),
    })
}
