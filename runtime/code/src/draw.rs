//! Draws the layout of an epoch.

use crate::epoch_layout::Draft;
use crate::layout_ref::LayoutRef;
use crate::patchable_entry::PatchableEntry;
use crate::space::CodeSpace;
use core::sync::atomic::Ordering;
use szc_layout::arch::patch::{self, STUB_BYTES, WORD_BYTES, Word};
use szc_layout::rng::{Purpose, Seeds, Stream};
use szc_layout::slot::Order;
use szc_layout::{order, placement};
use szc_sys::os::Array;

/// Draws the layout of an epoch and fills its place, which may be full of traps already, with traps
/// and unresolved entries. Nothing is copied yet. Nothing if there is not enough memory.
///
/// Whoever asks about an address at that place meanwhile gets a wrong answer.
///
/// # Safety
/// No thread may be able to reach the place, and only the caller write there.
pub(crate) unsafe fn draw<'a>(
    space: &'a CodeSpace,
    (place, trapped): (u32, bool),
    (seeds, epoch): (Seeds, u64),
) -> Option<LayoutRef<'a>> {
    let CodeSpace { image, arena, layouts, .. } = space;
    let (room, turns) = image.choice();
    let is_random = image.order() == Order::Random;
    let scratch_words = if is_random { room.scratch_words() } else { 0 };
    // SAFETY: numbers.
    let mut scratch = unsafe { Array::<u64>::zeroed(scratch_words) }.ok()?;
    let slot = |function| image.slot(function);
    let order = |draft: Draft<'_>| {
        let slots_bytes = match image.order() {
            Order::Random => {
                let key = Stream::of(Purpose::Code, seeds.code, epoch).bits();
                let out = (draft.order, draft.offsets);
                let with_slot = |(index, at)| (index, at, slot(index));
                let held = image.held().map(|held| held.map(with_slot));
                placement::draw((key, room), turns, held, &mut scratch, out)
            }
            Order::Linked => {
                let original = |function| image.original(image.function(function));
                order::in_order(slot, original, draft.order, draft.offsets)
            }
        };
        let all = if image.clones().is_empty() { slots_bytes } else { image.clones().end() };
        (slots_bytes, all)
    };
    layouts.note_drawn(place);
    let layout = space.layout(place);
    let trapped_bytes = if trapped { layout.drawn.slots_bytes() } else { 0 };
    // SAFETY: the caller's promise.
    unsafe { layout.drawn.draw((place, image.count()), (seeds.stack, epoch), order) }.ok()?;
    // Clones have traps around them only where a place is used again: memory that nobody needs
    // stays untouched.
    let slots_bytes = layout.drawn.slots_bytes();
    let trapped = slots_bytes <= trapped_bytes;
    // SAFETY: the caller's promise.
    unsafe { arena.open((place, trapped), slots_bytes as usize) }.ok()?;
    for function in 0..image.count() {
        let at = layout.stub(function);
        let stub: [u8; STUB_BYTES] = patch::stub(at, image.resolver_pointer())?;
        for (index, word) in stub.as_chunks().0.iter().enumerate() {
            let word = Word::from_le_bytes(*word);
            arena.store(at + index * WORD_BYTES, word, Ordering::Relaxed);
        }
        PatchableEntry::of(layout, function).unresolve();
    }
    Some(layout)
}
