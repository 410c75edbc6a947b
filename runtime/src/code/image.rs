//! The image whose functions move: its table, its original bytes, and the pointers through which
//! its original entries jump.
//!
//! A function keeps its identity: its address is the original entry. That entry becomes
//! `jmp *pointer` once, at start, and is never written again; to move the function is to change a
//! pointer, which is data and stays private to a process across `fork`.

use super::body::Source;
use super::headers::Headers;
use super::pristine::Pristine;
use super::slot::{Entrances, Frames, Order, Shape, Slot};
use super::spares::Spares;
use crate::arch::{self, entry, entry_jump, rules};
use crate::os::{self, File, PAGE_BYTES};
use crate::symbols;
use core::sync::atomic::{AtomicUsize, Ordering};
use szc_abi::{Movable, Table};

/// Bytes kept of each function before its entry is overwritten.
const SAVED_BYTES: usize = 8;

const _: () = assert!(
    SAVED_BYTES >= szc_abi::ENTRY_JUMP_BYTES
        // What a detour needs of its function, which is at least as long as the jump, is saved.
        && (Movable::MAX_DETOUR_PUSHES + Movable::DETOUR_JUMP_BYTES) as usize
            <= szc_abi::ENTRY_JUMP_BYTES
);

/// An image with movable functions.
#[derive(Clone, Copy)]
pub struct Image {
    base: usize,
    /// Bytes from there to the end of the image.
    loaded_bytes: usize,
    table: Table<'static>,
    /// The table's records, decoded once: an epoch reads each of them several times.
    functions: *mut Movable,
    saved: *mut [u8; SAVED_BYTES],
    pointers: *const AtomicUsize,
    pristine: Pristine,
    shape: Shape,
    spares: Spares,
    headers: Headers,
    /// Distance of a thread's pad state from its thread pointer.
    pad_state: i32,
    /// 1 for each function that stays where it is although it may move; null if none does.
    stays: *mut u8,
}

impl Image {
    /// Takes charge of the image at `base`. Nothing of it changes yet. `pointers` has room for
    /// [`Self::pointer_bytes`]. The slots of a layout take up to `slots_bytes`.
    pub fn new(
        base: usize,
        table: Table<'static>,
        pointers: *const AtomicUsize,
        pristine: Pristine,
        shape: Shape,
        slots_bytes: u32,
        headers: Headers,
    ) -> Option<Self> {
        let count = table.movable_count();
        let saved: *mut [u8; SAVED_BYTES] = os::map_anonymous(count * SAVED_BYTES).ok()?.cast();
        let functions: *mut Movable = os::map_anonymous(count * size_of::<Movable>()).ok()?.cast();
        let stays =
            if symbols::for_debugger() { os::map_anonymous(count).ok()? } else { os::null() };
        for index in 0..count {
            // SAFETY: the array has an entry for each function.
            unsafe { functions.add(index).write(table.movable(index)?) };
        }
        // SAFETY: written a moment ago.
        let slot =
            |index| Slot::of(unsafe { &*functions.add(index) }, shape.frames, shape.entrances);
        let spares = Spares::lay_out(slots_bytes, count, slot).ok()?;
        let pad_state = arch::pads::state_offset();
        let image = Self {
            base,
            loaded_bytes: loaded_bytes(base),
            table,
            functions,
            saved,
            pointers,
            pristine,
            shape,
            spares,
            headers,
            pad_state,
            stays,
        };
        image.set_pointer(count as u32, entry::resolver());
        let in_front = image.rules_in_front() as *mut u8;
        // SAFETY: there is room for them, which nobody reads yet.
        unsafe { arch::copy_bytes(in_front, rules::PATTERNS.as_ptr(), rules::PATTERNS.len()) };
        for index in 0..image.count() {
            let function = image.function(index);
            let bytes = SAVED_BYTES.min(function.size as usize);
            let from = image.original(&function) as *const u8;
            // SAFETY: the array has an entry for each function; the image is mapped readable.
            unsafe { arch::copy_bytes(saved.add(index as usize).cast(), from, bytes) };
        }
        if !stays.is_null() {
            image.keep_functions_with_breakpoints();
        }
        Some(image)
    }

    /// A function that a debugger has put breakpoints into stays, with all that is copied together
    /// with it: there the debugger finds lines and variables, and stops.
    fn keep_functions_with_breakpoints(&self) {
        for index in 0..self.count() {
            let function = self.function(index);
            if !self.is_changed(&function) {
                continue;
            }
            let mut member = index;
            loop {
                // SAFETY: the array has an entry for each function; only this thread exists.
                unsafe { self.stays.add(member as usize).write(1) };
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
        let Some(pristine) = self.pristine.at(start, size) else { return false };
        // SAFETY: both ranges are mapped readable, and nobody writes them while one thread exists.
        unsafe {
            core::slice::from_raw_parts(start as *const u8, size)
                != core::slice::from_raw_parts(pristine, size)
        }
    }

    /// Where a function is that stays although it may move.
    pub fn staying(&self, index: u32) -> Option<usize> {
        // SAFETY: null, or an array with an entry for each function, not written any more.
        let stays = !self.stays.is_null() && unsafe { *self.stays.add(index as usize) } != 0;
        stays.then(|| self.original(&self.function(index)))
    }

    /// Bytes of what an image has within its reach: the pointers, one a function and that of its
    /// stubs, and behind them the unwind rules of what copies have in front of their bodies.
    pub fn pointer_bytes(table: &Table<'_>) -> usize {
        (table.movable_count() + 1) * size_of::<usize>() + rules::PATTERNS.len()
    }

    /// Address of those rules.
    pub fn rules_in_front(&self) -> usize {
        self.resolver_pointer() + size_of::<usize>()
    }

    /// Gives back what is kept of the image beside its pointers.
    ///
    /// # Safety
    /// Neither this nor a copy of it may be used any more.
    pub unsafe fn free(&self) {
        let count = self.count() as usize;
        // SAFETY: the caller's promise; the blocks are those of `new`.
        unsafe {
            os::unmap(self.saved.cast(), count * SAVED_BYTES);
            os::unmap(self.functions.cast(), count * size_of::<Movable>());
            if !self.stays.is_null() {
                os::unmap(self.stays, count);
            }
            self.spares.free();
            self.headers.free();
            self.pristine.free();
        }
    }

    /// Address of the pointer through which the image's stubs enter the resolver.
    pub fn resolver_pointer(&self) -> usize {
        // SAFETY: it stands behind those of the functions; only the address is taken.
        unsafe { self.pointers.add(self.count() as usize) as usize }
    }

    /// Whether the image's first entry leads through its pointer: the image is still the one that
    /// was taken over, not another at the same addresses.
    ///
    /// # Safety
    /// The image's addresses must be mapped readable.
    pub unsafe fn is_redirected(&self) -> bool {
        let at = self.original(&self.function(0));
        // SAFETY: a movable function has room for the jump; the caller's promise.
        let found = unsafe { (at as *const [u8; szc_abi::ENTRY_JUMP_BYTES]).read_unaligned() };
        entry_jump(at, self.pointers as usize) == Some(found)
    }

    /// Whether an address lies in the image.
    pub fn contains(&self, address: usize) -> bool {
        address.wrapping_sub(self.base) < self.loaded_bytes
    }

    /// Number of movable functions.
    pub fn count(&self) -> u32 {
        self.table.movable_count() as u32
    }

    /// The table.
    pub fn table(&self) -> &Table<'static> {
        &self.table
    }

    /// The record of a function. `index` must be below [`Self::count`].
    pub fn function(&self, index: u32) -> Movable {
        debug_assert!(index < self.count());
        // SAFETY: the array has an entry for each function; indices come from the validated table.
        unsafe { self.functions.add(index as usize).read() }
    }

    /// Whether bodies of copies may change after they were written.
    pub fn bodies_change(&self) -> bool {
        self.shape.entrances == Entrances::Openings
    }

    /// Where the parts of a function's slot lie.
    pub fn slot(&self, index: u32) -> Slot {
        Slot::of(&self.function(index), self.shape.frames, self.shape.entrances)
    }

    /// Where the spare bodies of functions lie, and rules.
    pub fn spares(&self) -> &Spares {
        &self.spares
    }

    /// Where the memory is for what unwinders are told.
    pub fn headers(&self) -> &Headers {
        &self.headers
    }

    /// What copies do to frames.
    pub fn frames(&self) -> Frames {
        self.shape.frames
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
    pub fn original(&self, function: &Movable) -> usize {
        self.base + function.start as usize
    }

    /// Address of an offset in the image.
    pub fn address(&self, offset: u32) -> usize {
        self.base + offset as usize
    }

    /// Offset of an address, if it lies in the image, and not farther in than offsets reach.
    pub fn offset(&self, address: usize) -> Option<u32> {
        self.contains(address).then(|| u32::try_from(address - self.base).ok())?
    }

    /// The first bytes of a function's original body; the last of them are none of its, if it is
    /// shorter.
    pub fn first_bytes(&self, index: u32) -> entry::Word {
        // SAFETY: the array has an entry for each function, written before any layout was drawn.
        entry::Word::from_le_bytes(unsafe { self.saved.add(index as usize).read() })
    }

    /// The bytes of a function's original body.
    pub fn source(&self, index: u32, function: &Movable) -> Source<'_> {
        let (start, size) = (self.original(function), function.size as usize);
        if let Some(from) = self.pristine.at(start, size) {
            // SAFETY: the file's bytes stay mapped for as long as the image.
            return Source::of(unsafe { core::slice::from_raw_parts(from, size) });
        }
        // SAFETY: the image is mapped readable; behind the bytes of the entry, which are not asked
        // for, its text never changes.
        let text = unsafe { core::slice::from_raw_parts(start as *const u8, size) };
        Source::beginning_with(self.first_bytes(index), text)
    }

    /// Makes a function's original entry lead to `address`.
    pub fn set_pointer(&self, index: u32, address: usize) {
        // SAFETY: the array has an entry for each function, and one for the stubs.
        let pointer = unsafe { &*self.pointers.add(index as usize) };
        // Release: whoever jumps through the pointer finds a head at `address`, which was written
        // before.
        pointer.store(address, Ordering::Release);
    }

    /// Overwrites all entries by jumps through their pointers, which must have been set.
    ///
    /// Writes through `/proc/self/mem`, so that the text stays a mapping of its file, which
    /// debuggers and profilers rely on, and never becomes writable.
    ///
    /// # Safety
    /// No thread may be inside a movable function of the image or enter one meanwhile.
    pub unsafe fn redirect_entries(&self) -> Result<(), RedirectFailed> {
        let memory = File::open(c"/proc/self/mem", os::OPEN_READ_WRITE)
            .map_err(|_| RedirectFailed::NothingWritten)?;
        let mut page =
            PageWriter { memory: &memory, start: 0, bytes: [0; PAGE_BYTES], written: false };
        for index in (0..self.count()).filter(|&index| self.staying(index).is_none()) {
            let at = self.original(&self.function(index));
            // SAFETY: inside the array; only the address is taken.
            let pointer = unsafe { self.pointers.add(index as usize) } as usize;
            let Some(jump) = entry_jump(at, pointer) else { return Err(page.failure()) };
            for (distance, &byte) in jump.iter().enumerate() {
                // SAFETY: the caller's promise.
                if unsafe { page.set(at + distance, byte) }.is_err() {
                    return Err(page.failure());
                }
            }
        }
        // SAFETY: the caller's promise.
        unsafe { page.flush() }.map_err(|_| page.failure())
    }
}

/// Bytes that the image at `base` occupies in memory, by its program headers.
pub fn loaded_bytes(base: usize) -> usize {
    // SAFETY: an image begins with its ELF64 header, and its program headers are loaded with it.
    unsafe {
        let long = |at: usize| (at as *const u64).read_unaligned() as usize;
        let half = |at: usize| usize::from((at as *const u16).read_unaligned());
        let (headers, each, count) =
            (base + long(base + 0x20), half(base + 0x36), half(base + 0x38));
        let (mut lowest, mut highest) = (usize::MAX, 0);
        for index in 0..count {
            let header = headers + index * each;
            let is_load = (header as *const u32).read_unaligned() == 1;
            if is_load {
                let (address, bytes) = (long(header + 0x10), long(header + 0x28));
                lowest = lowest.min(address);
                highest = highest.max(address + bytes);
            }
        }
        highest.saturating_sub(lowest).next_multiple_of(PAGE_BYTES)
    }
}

/// Why entries could not be redirected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RedirectFailed {
    /// The kernel does not allow it; the image is as it was.
    NothingWritten,
    /// Some entries lead through their pointers. That is sound as long as the pointers are served.
    PartlyWritten,
}

/// Collects changes to one page of text, so that each page is written once.
struct PageWriter<'a> {
    memory: &'a File,
    start: usize,
    bytes: [u8; PAGE_BYTES],
    written: bool,
}

impl PageWriter<'_> {
    unsafe fn set(&mut self, address: usize, byte: u8) -> Result<(), os::Errno> {
        let start = address & !(PAGE_BYTES - 1);
        if start != self.start {
            // SAFETY: the caller's promise.
            unsafe { self.flush()? };
            self.start = start;
            // SAFETY: the page holds a function of the image, so it is mapped readable.
            unsafe { arch::copy_bytes(self.bytes.as_mut_ptr(), start as *const u8, PAGE_BYTES) };
        }
        self.bytes[address - start] = byte;
        Ok(())
    }

    unsafe fn flush(&mut self) -> Result<(), os::Errno> {
        if self.start != 0 {
            // SAFETY: the caller's promise: these bytes of text may change now.
            unsafe { self.memory.write_at(&self.bytes, self.start)? };
            self.written = true;
        }
        Ok(())
    }

    fn failure(&self) -> RedirectFailed {
        if self.written { RedirectFailed::PartlyWritten } else { RedirectFailed::NothingWritten }
    }
}
