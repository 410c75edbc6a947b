//! The image whose functions move: its table, its original bytes, and the pointers through which
//! its original entries jump.
//!
//! A function keeps its identity: its address is the original entry. That entry becomes
//! `jmp *pointer` once, at start, and is never written again; to move the function is to change a
//! pointer, which is data and stays private to a process across `fork`.

use crate::first_calls::FirstCalls;
use crate::loaded_image::LoadedImage;
use crate::original_text::OriginalText;
use crate::side_memory::SideMemory;
use crate::table::MappedTable;
use crate::unpadded_clones::UnpaddedClones;
use core::ops::Range;
use core::sync::atomic::{AtomicUsize, Ordering};
use szc_abi::{Movable, Table, digest};
use szc_layout::arch::injected::Injected;
use szc_layout::arch::patch::Word;
use szc_layout::arch::{entry_jump, fde};
use szc_layout::body::Source;
use szc_layout::held::{Held, HeldFunction, HeldPad, MAX_HELD};
use szc_layout::placement::{Room, Turn};
use szc_layout::slot::{CopyShape, Frames, FunctionSlot, Order, Patching};
use szc_sys::arch;
use szc_sys::os::{Array, Errno};

/// Bytes kept of each function before its entry is overwritten.
const SAVED_BYTES: usize = size_of::<Word>();

const _: () = assert!(
    SAVED_BYTES >= szc_abi::ENTRY_JUMP_BYTES
        // What an undo trampoline needs of its function, which is at least as long as the jump, is
        // saved.
        && (Movable::MAX_UNDONE_PUSHES + Movable::HOT_PATCH_BYTES) as usize
            <= szc_abi::ENTRY_JUMP_BYTES
);

/// An image with movable functions.
pub struct Image {
    loaded: LoadedImage,
    range: Range<usize>,
    table: MappedTable,
    /// The table's records, decoded once: an epoch reads each of them several times.
    functions: Array<Movable>,
    /// The first bytes of each function, as they were loaded.
    saved: Array<Word>,
    /// One for each function and one for the stubs, in front of the arena.
    pointers: *const AtomicUsize,
    original_text: OriginalText,
    shape: CopyShape,
    /// The functions that are held at offsets.
    held: [Option<(u32, Held)>; MAX_HELD],
    /// The function whose pad is held.
    held_pad: Option<(u32, HeldPad)>,
    first_calls: FirstCalls,
    /// The function in front of which something is computed.
    injected: Option<(u32, Injected)>,
    clones: UnpaddedClones,
    side_memory: SideMemory,
    /// Distance of a thread's pad state from its thread pointer.
    pad_state: i32,
    /// Not 0 for each function that is pinned although it may move, because a debugger has put
    /// breakpoints into it or into what is copied with it; empty if no debugger may have.
    pinned: Array<u8>,
    /// Pages that layouts take.
    room: Room,
    /// The functions in the order in which they choose where to lie.
    turns: Array<Turn>,
}

// SAFETY: the pointers are atomic numbers; all else is written in `new` alone.
unsafe impl Send for Image {}
// SAFETY: as above.
unsafe impl Sync for Image {}

/// What an image is made of.
pub struct Parts {
    /// The image in memory.
    pub loaded: LoadedImage,
    /// Its table.
    pub table: MappedTable,
    /// Its text in its file.
    pub original_text: OriginalText,
    /// What copies are to be like.
    pub shape: CopyShape,
    /// Pages that layouts take.
    pub room: Room,
    /// What unwinders get at each place.
    pub side_memory: SideMemory,
    /// What stubs enter.
    pub resolver: usize,
    /// Whether a debugger may have put breakpoints into originals.
    pub has_breakpoints: bool,
}

impl Image {
    /// Takes charge of an image. Nothing of it changes yet.
    ///
    /// # Safety
    /// `pointers` must have room for [`Self::pointer_bytes`] for as long as the image is used, and
    /// only one thread may exist or know of the image.
    pub unsafe fn new(parts: Parts, pointers: *mut u8) -> Result<Self, Errno> {
        let Parts { table, shape, loaded, .. } = parts;
        let count = table.table().movable_count();
        let pinned = if parts.has_breakpoints { count } else { 0 };
        // SAFETY: numbers, and records of numbers.
        let (mut functions, mut saved, pinned, mut turns) = unsafe {
            (
                Array::<Movable>::zeroed(count)?,
                Array::<Word>::zeroed(count)?,
                Array::<u8>::zeroed(pinned)?,
                Array::<Turn>::zeroed(count)?,
            )
        };
        for (index, function) in functions.iter_mut().enumerate() {
            *function = table.table().movable(index).unwrap_or_default();
        }
        let slot = |index: usize| FunctionSlot::of(&functions[index], shape.frames, shape.patching);
        let clones = UnpaddedClones::lay_out(parts.room.bytes(), count, slot)?;
        let name = |index: usize| table.table().name(functions[index].name_at);
        let named = |wanted| (0..count).find(|&index| digest(name(index)) == wanted);
        let at = |held: HeldFunction| Some((named(held.name)? as u32, held.at));
        let held = shape.held.map(|held| held.and_then(at));
        let held_pad = shape.held_frame.and_then(|held| {
            let index = named(held.name)?;
            slot(index).padded.map(|_| (index as u32, held.pad))
        });
        let first_calls = FirstCalls::of(if shape.notes_calls { count } else { 0 })?;
        let injected = shape.injected.and_then(|wanted| {
            let index = named(wanted.name)?;
            let (start, size) = (functions[index].start as usize, functions[index].size as usize);
            // Copies are made of the bytes that are in the file.
            parts.original_text.at(loaded.range().start + start, size)?;
            (size >= wanted.code.bytes()).then_some((index as u32, wanted.code))
        });
        for (index, turn) in (0..).zip(turns.iter_mut()) {
            *turn = Turn::of(index, &functions[index as usize], shape);
        }
        turns.sort_unstable_by_key(Turn::key);
        let range = loaded.range();
        for (saved, function) in saved.iter_mut().zip(&*functions) {
            let bytes = SAVED_BYTES.min(function.size as usize);
            let from = (range.start + function.start as usize) as *const u8;
            // SAFETY: the image is mapped readable.
            unsafe { arch::copy_bytes((&raw mut *saved).cast(), from, bytes) };
        }
        let mut image = Self {
            loaded,
            range,
            table,
            functions,
            saved,
            pointers: pointers.cast_const().cast(),
            original_text: parts.original_text,
            shape,
            held,
            held_pad,
            first_calls,
            injected,
            clones,
            side_memory: parts.side_memory,
            pad_state: arch::pads::state_offset(),
            pinned,
            room: parts.room,
            turns,
        };
        image.retarget(count as u32, parts.resolver);
        let in_front = image.fdes_in_front() as *mut u8;
        // SAFETY: there is room for them, which nobody reads yet.
        unsafe { arch::copy_bytes(in_front, fde::PATTERNS.as_ptr(), fde::PATTERNS.len()) };
        image.pin_functions_with_breakpoints();
        Ok(image)
    }

    /// A function that a debugger has put breakpoints into is pinned, with all that is copied
    /// together with it: there the debugger finds lines and variables, and stops.
    fn pin_functions_with_breakpoints(&mut self) {
        for index in 0..self.pinned.len() as u32 {
            if !self.is_changed(self.function(index)) {
                continue;
            }
            let mut member = index;
            loop {
                self.pinned[member as usize] = 1;
                member = self.function(member).unit_next;
                if member == index {
                    break;
                }
            }
        }
    }

    /// Whether a function's bytes in memory are not those of the file.
    fn is_changed(&self, function: &Movable) -> bool {
        let (start, size) = (self.original(function), function.size as usize);
        let Some(original) = self.original_text.at(start, size) else { return false };
        // SAFETY: mapped readable, and nobody writes them while one thread exists.
        unsafe { core::slice::from_raw_parts(start as *const u8, size) != original }
    }

    /// Where a function is that is pinned although it may move.
    #[inline]
    pub fn pinned(&self, index: u32) -> Option<usize> {
        let pinned = self.pinned.get(index as usize).is_some_and(|&pinned| pinned != 0);
        pinned.then(|| self.original(self.function(index)))
    }

    /// Bytes of what an image has within its reach: the pointers, one a function and that of its
    /// stubs, and behind them the FDEs of what copies have in front of their bodies.
    pub fn pointer_bytes(table: &Table<'_>) -> usize {
        (table.movable_count() + 1) * size_of::<usize>() + fde::PATTERNS.len()
    }

    /// Address of those FDEs.
    pub fn fdes_in_front(&self) -> usize {
        self.resolver_pointer() + size_of::<usize>()
    }

    /// Address of the pointer through which the image's stubs enter the resolver.
    pub fn resolver_pointer(&self) -> usize {
        self.pointer(self.count())
    }

    /// Address of a function's pointer.
    pub(crate) fn pointer(&self, index: u32) -> usize {
        self.pointers.wrapping_add(index as usize) as usize
    }

    /// Whether the image's first entry leads through its pointer: the image is still the one that
    /// was taken over, not another at the same addresses.
    ///
    /// # Safety
    /// The image's addresses must be mapped readable.
    pub unsafe fn is_redirected(&self) -> bool {
        let at = self.original(self.function(0));
        // SAFETY: a movable function has room for the jump; the caller's promise.
        let found = unsafe { (at as *const [u8; szc_abi::ENTRY_JUMP_BYTES]).read_unaligned() };
        entry_jump(at, self.pointer(0)) == Some(found)
    }

    /// The image in memory.
    pub fn loaded(&self) -> LoadedImage {
        self.loaded
    }

    /// Whether an address lies in the image.
    pub fn contains(&self, address: usize) -> bool {
        self.range.contains(&address)
    }

    /// Number of movable functions.
    #[inline]
    pub fn count(&self) -> u32 {
        self.functions.len() as u32
    }

    /// The table.
    pub fn table(&self) -> &Table<'_> {
        self.table.table()
    }

    /// Address of the first record.
    pub(crate) fn records(&self) -> usize {
        self.functions.as_ptr() as usize
    }

    /// The record of a function. `index` must be below [`Self::count`].
    #[inline]
    pub fn function(&self, index: u32) -> &Movable {
        debug_assert!(index < self.count());
        // SAFETY: the array has an entry for each function; indices come from the validated table.
        unsafe { self.functions.get_unchecked(index as usize) }
    }

    /// Whether bodies of copies may change after they were written.
    pub fn bodies_change(&self) -> bool {
        self.shape.patching == Patching::Bodies
    }

    /// Where the parts of a function's slot lie.
    #[inline]
    pub fn slot(&self, index: u32) -> FunctionSlot {
        FunctionSlot::of(self.function(index), self.shape.frames, self.shape.patching)
    }

    /// Where the unpadded clones of functions lie, full checks and FDEs.
    pub fn clones(&self) -> &UnpaddedClones {
        &self.clones
    }

    /// Where the side memory of functions is.
    pub fn side_memory(&self) -> &SideMemory {
        &self.side_memory
    }

    /// What copies do to frames.
    pub fn frames(&self) -> Frames {
        self.shape.frames
    }

    /// Pages that layouts take, and the functions in the order in which they choose.
    pub(crate) fn choice(&self) -> (Room, &[Turn]) {
        (self.room, &self.turns)
    }

    /// The functions that are held at offsets in all its layouts.
    pub fn held(&self) -> [Option<(u32, Held)>; MAX_HELD] {
        self.held
    }

    /// The function whose pad is held.
    pub fn held_pad(&self) -> Option<(u32, HeldPad)> {
        self.held_pad
    }

    /// Where the stack was at first calls.
    pub fn first_calls(&self) -> &FirstCalls {
        &self.first_calls
    }

    /// The function in front of which something is computed: calls of it, from copies too, lead to
    /// where its original was.
    #[inline]
    pub fn injected(&self) -> Option<(u32, Injected)> {
        self.injected.filter(|&(index, _)| self.pinned(index).is_none())
    }

    /// In which order functions lie.
    pub fn order(&self) -> Order {
        self.shape.order
    }

    /// Distance of a thread's pad state from its thread pointer, in bytes.
    pub fn pad_state(&self) -> i32 {
        self.pad_state
    }

    /// Address of a function's original entry, which is its identity.
    #[inline]
    pub fn original(&self, function: &Movable) -> usize {
        self.range.start + function.start as usize
    }

    /// Address of an offset in the image.
    #[inline]
    pub fn address(&self, offset: u32) -> usize {
        self.range.start + offset as usize
    }

    /// Offset of an address, if it lies in the image, and not farther in than offsets reach.
    pub fn offset(&self, address: usize) -> Option<u32> {
        self.contains(address).then(|| u32::try_from(address - self.range.start).ok())?
    }

    /// The first bytes of a function's original body; the last of them are none of its, if it is
    /// shorter.
    #[inline]
    pub fn first_bytes(&self, index: u32) -> Word {
        debug_assert!(index < self.count());
        // SAFETY: as `function`.
        unsafe { *self.saved.get_unchecked(index as usize) }
    }

    /// The bytes of a function's original body.
    pub(crate) fn source(&self, index: u32) -> Source<'_> {
        let function = self.function(index);
        let (start, size) = (self.original(function), function.size as usize);
        if let Some(original) = self.original_text.at(start, size) {
            return Source::of(original);
        }
        // SAFETY: the image is mapped readable; behind the bytes of the entry, which are not asked
        // for, its text never changes.
        let text = unsafe { core::slice::from_raw_parts(start as *const u8, size) };
        Source::beginning_with(self.first_bytes(index), text)
    }

    /// Lets pages go that are read when functions are copied.
    pub(crate) fn let_go(&self) {
        self.table.let_go();
        self.original_text.let_go();
    }

    /// Makes a function's original entry lead to `address`.
    #[inline]
    pub(crate) fn retarget(&self, index: u32, address: usize) {
        debug_assert!(index <= self.count());
        // SAFETY: `new` was promised one for each function, and one for the stubs.
        let pointer = unsafe { &*self.pointers.add(index as usize) };
        // Release: whoever jumps through the pointer finds a patchable entry at `address`, which
        // was written before.
        pointer.store(address, Ordering::Release);
    }
}
