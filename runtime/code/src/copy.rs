//! Copies functions into a layout: bodies, FDEs and stack-room checks. All by the holder of the
//! lock, or in a layout that no thread knows yet by the maintenance task.

use crate::arena::Arena;
use crate::epoch_layout::{COPIED, HAS_CLONE};
use crate::layout_ref::LayoutRef;
use crate::patchable_entry::PatchableEntry;
use core::sync::atomic::{AtomicBool, Ordering};
use szc_abi::{Movable, NumberReader};
use szc_layout::arch::patch::{WORD_BYTES, Word, first_bytes, with_bytes};
use szc_layout::arch::stack_check::{self, CHECK_HOT_PATCH_POINT_END, FULL_CHECK_BYTES};
use szc_layout::body::{self, Body, Out};
use szc_layout::slot::{EntryKind, FunctionSlot};

/// A copy of a function has been made that goes on on other stacks.
static SWITCHES_STACKS: AtomicBool = AtomicBool::new(false);

/// Whether a copy has been made, in any layout, of a function that goes on on other stacks. It is
/// noted before the copy can be entered: until then no stack but the threads' holds references.
pub fn switches_stacks() -> bool {
    SWITCHES_STACKS.load(Ordering::Relaxed)
}

/// What was copied.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Copied {
    /// Functions.
    pub functions: u32,
    /// Bytes of their copies.
    pub bytes: u64,
}

/// Copies a function and whatever shares its unit. Their entries stay unresolved until
/// [`resolve_copies`].
pub(crate) fn copy_unit(layout: LayoutRef<'_>, function: u32) -> Copied {
    let mut copied = Copied::default();
    if layout.image.pinned(function).is_some() {
        return copied;
    }
    let mut member = function;
    loop {
        let record = layout.image.function(member);
        if !layout.drawn.is_copied(member) {
            write_slot(layout, member);
            let slot = layout.image.slot(member);
            copied.bytes += u64::from(slot.bytes + slot.fde_bytes());
            copied.functions += 1;
            if record.flags & Movable::FLAG_SWITCHES_STACKS != 0 {
                SWITCHES_STACKS.store(true, Ordering::Relaxed);
            }
            if record.flags & Movable::FLAG_LABELS_ESCAPE != 0 {
                layout.drawn.note_escaping_labels();
            }
            layout.drawn.push(member);
            layout.drawn.note(member, COPIED);
        }
        member = record.unit_next;
        if member == function {
            break;
        }
    }
    layout.drawn.count_bytes(copied.bytes);
    copied
}

/// Writes the unpadded clone of a function that was copied and has one, unless it is there. Returns
/// the bytes. Nobody is led there until [`PatchableEntry::retarget_checks_to_clone`].
pub(crate) fn write_missing_clone(layout: LayoutRef<'_>, function: u32) -> u64 {
    let bytes = layout.image.slot(function).clone_bytes();
    if bytes == 0 || layout.drawn.has(function, HAS_CLONE) {
        return 0;
    }
    let start = layout.unpadded(function);
    write_body(layout, function, (start, None), 0);
    // SAFETY: a part of the place that is open; only the caller writes there.
    unsafe { layout.arena.mirror(start, bytes as usize) };
    layout.drawn.note(function, HAS_CLONE);
    layout.drawn.count_bytes(u64::from(bytes));
    u64::from(bytes)
}

/// Resolves the entries of the functions copied since the first `from`. All cores must have been
/// synchronized since their bytes were written.
pub(crate) fn resolve_copies(layout: LayoutRef<'_>, from: u32) {
    for index in from..layout.drawn.copied_count() {
        PatchableEntry::of(layout, layout.drawn.copied(index)).resolve();
    }
}

/// Copies all functions if a debugger may put breakpoints here: from then on no body is written, so
/// that breakpoints stay. Returns the bytes.
pub(crate) fn complete_for_debugger(layout: LayoutRef<'_>) -> u64 {
    if !layout.arena.is_breakable() {
        return 0;
    }
    let mut bytes = 0;
    for function in 0..layout.image.count() {
        bytes += copy_unit(layout, function).bytes;
        if layout.drawn.is_copied(function) {
            bytes += write_missing_clone(layout, function);
        }
    }
    bytes
}

/// Writes the body of a function to its slot, whose entries must be unresolved, and what belongs to
/// it.
fn write_slot(layout: LayoutRef<'_>, function: u32) {
    let (origin, slot) = (layout.origin(function), layout.image.slot(function));
    let start = origin + slot.body as usize;
    let pad = slot.padded.map(|_| layout.pad(function));
    let sites = pad.and_then(|pad| write_fde(layout, function, (start, pad)));
    write_body(layout, function, (start, pad.zip(sites)), slot.hot_patch_bytes());
    if pad.is_some() {
        write_checks(layout, function, slot);
    }
    // SAFETY: a part of the place that is open; only the caller writes there.
    unsafe { layout.arena.mirror(origin, slot.bytes as usize) };
}

/// Words of code or data from an address of the arena on, where nobody runs, or all who do run what
/// is written.
struct Words<'a> {
    arena: &'a Arena,
    start: usize,
    /// Up to here the pages are this process's alone.
    own_to: usize,
}

impl<'a> Words<'a> {
    fn new(arena: &'a Arena, start: usize) -> Self {
        Self { arena, start, own_to: start }
    }
}

impl Out for Words<'_> {
    #[inline]
    fn put(&mut self, at: usize, word: Word) {
        // Relaxed: whoever resolves the entries, or makes a check lead here, does so by a release.
        let at = self.start + at;
        if at >= self.own_to {
            self.own_to = self.arena.take_page_at(at);
        }
        self.arena.store_own(at, word, Ordering::Relaxed);
    }
}

/// Writes a body of a function, but for so many bytes at its beginning, which are an entry that is
/// unresolved.
#[inline(never)]
fn write_body(
    layout: LayoutRef<'_>,
    function: u32,
    (start, pad): (usize, Option<(u32, NumberReader<'_>)>),
    entry_bytes: u32,
) {
    let record = layout.image.function(function);
    let entry = layout.arena.load(start);
    let body = Body {
        function: record,
        index: function,
        source: layout.image.source(function),
        original: layout.image.original(record),
        start,
        pad,
        entry: (entry, first_bytes(entry_bytes)),
    };
    let out = Words::new(layout.arena, start);
    // The table was validated at start, so the stream cannot end early.
    let _ = body::write_body(layout.image.table(), &body, &layout, out);
}

/// Writes the FDE of a body whose frame has so large a pad, if it has one of its own; the constants
/// in the body that follow the pad. (In a function of its own, it takes no stack while bodies are
/// written.)
#[inline(never)]
fn write_fde<'a>(
    layout: LayoutRef<'a>,
    function: u32,
    (start, pad): (usize, u32),
) -> Option<NumberReader<'a>> {
    let (image, record) = (layout.image, layout.image.function(function));
    // The table was validated at start.
    let frame = body::frame_of(image.table(), record).ok()?;
    if let Some(fde) = frame.fde {
        let at = layout.fde(function);
        let out = Words::new(layout.arena, at);
        body::write_fde(&fde, (at, start), pad, |offset| image.address(offset), out);
    }
    Some(frame.sites)
}

/// Writes the checks of a slot with an unpadded clone, which lead to the stub.
#[inline(never)]
fn write_checks(layout: LayoutRef<'_>, function: u32, slot: FunctionSlot) {
    let (arena, state) = (layout.arena, layout.image.pad_state());
    let (origin, full) = (layout.origin(function), layout.full_check(function));
    let (body, stub) = (origin + slot.body as usize, layout.stub(function));
    // Where the check is an entry, its first word changes as one, when it is resolved.
    let entry_bytes = match slot.outer {
        EntryKind::Check => CHECK_HOT_PATCH_POINT_END as u32,
        EntryKind::NoOp | EntryKind::Body => 0,
    };
    put_code(arena, origin, &stack_check::check(origin, full, state), entry_bytes);
    put_code(arena, full, &stack_check::full_check(full, body, stub, state), 0);
    // SAFETY: a part of the place that is open; only the caller writes there.
    unsafe { arena.mirror(full, FULL_CHECK_BYTES) };
}

/// Puts bytes of code, which fill words; so many at the beginning stay as they are.
fn put_code(arena: &Arena, start: usize, code: &[u8], without: u32) {
    let (mut out, mut kept) = (Words::new(arena, start), first_bytes(without));
    for (index, word) in code.as_chunks().0.iter().enumerate() {
        let at = index * WORD_BYTES;
        let before = arena.load(start + at);
        out.put(at, with_bytes(Word::from_le_bytes(*word), before, kept));
        kept = 0;
    }
}
