//! One epoch's layout and what has been copied into it.
//!
//! Each function has a slot: an entrance or two, and room for its body. An entrance is *closed*,
//! and leads to the resolver by way of the function's stub; *open*, and leads into the body; or
//! *sent on* to a newer copy. Bodies and entrances are written by whoever holds the lock, or in a
//! region that no thread knows yet by the maintenance task.

use super::arena::Arena;
use super::image::Image;
use super::layout;
use super::reclaim::stacks::{self, Blocked};
use super::slot::{self, Entrance, Order, Slot};
use crate::arch::{
    self,
    check::CHECK_ENTRY_AT,
    entry::{self, STUB_BYTES},
};
use crate::os;
use crate::rng::Stream;
use crate::symbols;
use core::sync::atomic::{AtomicU8, Ordering};
use szc_abi::{Movable, SLOT_HEAD_BYTES};

/// Bytes of a region's arrays for each function: three words and a byte.
const BYTES_FOR_EACH: usize = 13;

/// The function's body is in its slot.
const COPIED: u8 = 1;

/// Its spare body has been written.
const HAS_SPARE: u8 = 2;

/// The layout of one epoch at one place of the arena.
#[derive(Clone, Copy)]
pub struct Region {
    place: u32,
    count: u32,
    bytes: u32,
    /// Functions by position.
    order: *mut u32,
    /// Offset of the origin of each function's slot in the place.
    offsets: *mut u32,
    /// Functions copied, in the order of copying.
    copied: *mut u32,
    copied_count: u32,
    /// [`COPIED`] and [`HAS_SPARE`] of each function.
    state: *mut u8,
    epoch: u64,
    /// What the pads of its functions are drawn by.
    pad_seed: u64,
    /// Bytes of copies.
    copied_bytes: u64,
    /// A copy of a function is here whose labels the program may have stored anywhere.
    labels_escape: bool,
}

impl Region {
    /// Draws the layout of an epoch and fills its place, which may be full of traps already, with
    /// traps and closed entrances. Nothing is copied yet. The arrays of the region that was there
    /// `last` are used again.
    ///
    /// Whoever asks for the origin of an address at that place meanwhile gets a wrong one: nobody
    /// may be able to reach it.
    pub fn draw(
        image: &Image,
        arena: &Arena,
        last: Option<&Self>,
        (place, trapped): (u32, bool),
        seed: u64,
        epoch: u64,
    ) -> Option<Self> {
        let count = image.count();
        let n = count as usize;
        let words: *mut u32 = match last {
            Some(last) if last.count == count => last.order,
            _ => os::map_anonymous(n * BYTES_FOR_EACH).ok()?.cast(),
        };
        // SAFETY: the block has room for three arrays of words and one of bytes.
        let mut region = unsafe {
            Self {
                place,
                count,
                bytes: 0,
                order: words,
                offsets: words.add(n),
                copied: words.add(2 * n),
                copied_count: 0,
                state: words.add(3 * n).cast(),
                epoch,
                pad_seed: slot::pad_seed(seed, epoch),
                copied_bytes: 0,
                labels_escape: false,
            }
        };
        // SAFETY: the array has `n` bytes.
        unsafe { arch::fill_bytes(region.state, 0, n) };
        // SAFETY: the arrays are disjoint and have `n` elements, which are numbers.
        let (order, offsets) = unsafe {
            (
                core::slice::from_raw_parts_mut(region.order, n),
                core::slice::from_raw_parts_mut(region.offsets, n),
            )
        };
        let slot = |function| image.slot(function);
        region.bytes = match image.order() {
            Order::Random => layout::draw(&mut Stream::new(seed, epoch), slot, order, offsets),
            Order::Linked => {
                let original = |function| image.original(&image.function(function));
                layout::in_order(slot, original, order, offsets)
            }
        };
        // Spare bodies have traps around them only where a place is used again: memory that nobody
        // needs stays untouched.
        let trap_bytes = if trapped { 0 } else { region.bytes };
        if !image.spares().is_empty() {
            region.bytes = image.spares().end();
        }
        symbols::withdraw(arena.address(place, 0));
        arena.open(place, trap_bytes as usize).ok()?;
        for function in 0..count {
            let stub = region.stub(arena, function);
            let bytes = entry::stub(stub, image.resolver_pointer())?;
            // SAFETY: the stubs lie behind the layout, in the place that was opened.
            unsafe { arena.writable(stub).cast::<[u8; STUB_BYTES]>().write(bytes) };
            region.close(image, arena, function);
        }
        Some(region)
    }

    /// Gives back what the region keeps beside its place.
    ///
    /// # Safety
    /// Neither this region nor a copy of it may be used any more.
    pub unsafe fn free(&self) {
        // SAFETY: the caller's promise; the block of `draw` begins with the order.
        unsafe { os::unmap(self.order.cast(), self.count as usize * BYTES_FOR_EACH) };
    }

    /// Whether there is none: the place has never been used.
    pub fn is_nowhere(&self) -> bool {
        self.order.is_null()
    }

    /// Bytes of the place that the layout uses.
    pub fn bytes(&self) -> u32 {
        self.bytes
    }

    /// The place of the arena.
    pub fn place(&self) -> u32 {
        self.place
    }

    /// The epoch whose layout it is.
    pub fn epoch(&self) -> u64 {
        self.epoch
    }

    /// Bytes of copies.
    pub fn copied_bytes(&self) -> u64 {
        self.copied_bytes
    }

    /// Whether the program may have stored addresses of labels of copies that are here.
    pub fn labels_escape(&self) -> bool {
        self.labels_escape
    }

    fn offset(&self, function: u32) -> u32 {
        debug_assert!(function < self.count);
        // SAFETY: indices come from the validated table, whose count is the array's.
        unsafe { self.offsets.add(function as usize).read() }
    }

    /// The function at a position of the layout.
    pub fn function(&self, position: u32) -> u32 {
        debug_assert!(position < self.count);
        // SAFETY: as `offset`: the arrays are equally long.
        unsafe { self.order.add(position as usize).read() }
    }

    /// Address of the origin of a function's slot: of its body, or of the check in front of it.
    pub fn body(&self, arena: &Arena, function: u32) -> usize {
        arena.address(self.place, self.offset(function))
    }

    /// The pad of a function's frame, in bytes, if it gets one.
    pub fn pad(&self, function: u32) -> u32 {
        slot::pad(self.pad_seed, function)
    }

    /// Address of the rules of a function's body in its slot.
    pub fn rules(&self, image: &Image, arena: &Arena, function: u32) -> usize {
        arena.address(self.place, image.spares().rules_of(function))
    }

    /// Address of a function's full check.
    pub fn full_check(&self, image: &Image, arena: &Arena, function: u32) -> usize {
        arena.address(self.place, image.spares().check_of(function))
    }

    /// Address of a function's spare body.
    pub fn spare(&self, image: &Image, arena: &Arena, function: u32) -> usize {
        arena.address(self.place, image.spares().start_of(function))
    }

    /// Address at which a function is called.
    pub fn entry(&self, image: &Image, arena: &Arena, function: u32) -> usize {
        let slot = image.slot(function);
        self.entered_at(arena, function, slot, slot.outer)
    }

    pub(super) fn entered_at(
        &self,
        arena: &Arena,
        function: u32,
        slot: Slot,
        entrance: Entrance,
    ) -> usize {
        let origin = self.body(arena, function);
        match entrance {
            Entrance::Head => origin.wrapping_add_signed(slot::WORD_IN_FRONT as isize),
            Entrance::Check => origin + CHECK_ENTRY_AT,
            Entrance::Body => origin + slot.body as usize,
        }
    }

    /// Address of a function's stub. The stubs end where the place ends.
    pub fn stub(&self, arena: &Arena, function: u32) -> usize {
        self.stubs_end(arena) - (self.count - function) as usize * STUB_BYTES
    }

    fn stubs_end(&self, arena: &Arena) -> usize {
        arena.address(self.place, 0) + arena.place_bytes()
    }

    /// The function whose stub contains an offset of the place, and the address of the stub.
    pub fn stub_at(&self, arena: &Arena, offset: u32) -> Option<(u32, usize)> {
        let end = self.stubs_end(arena);
        let from_end = end - arena.address(self.place, offset);
        let behind = u32::try_from(from_end.div_ceil(STUB_BYTES)).ok()?;
        let function = self.count.checked_sub(behind)?;
        Some((function, self.stub(arena, function)))
    }

    /// The function whose slot contains an offset of the place.
    pub fn function_at(&self, image: &Image, offset: u32) -> Option<u32> {
        let n = self.count as usize;
        // SAFETY: written when the layout was drawn and never since.
        let (order, offsets) = unsafe {
            (
                core::slice::from_raw_parts(self.order, n),
                core::slice::from_raw_parts(self.offsets, n),
            )
        };
        layout::function_at(offset, |function| image.slot(function), order, offsets)
    }

    /// Whether an offset of the place lies in a function's slot. Any number may be asked about.
    pub fn is_slot_of(&self, image: &Image, function: u32, offset: u32) -> bool {
        function < self.count && {
            let (origin, slot) = (self.offset(function), image.slot(function));
            (origin - SLOT_HEAD_BYTES..origin + slot.bytes).contains(&offset)
        }
    }

    /// Whether a function has been copied.
    pub fn is_copied(&self, function: u32) -> bool {
        self.has(function, COPIED)
    }

    fn has(&self, function: u32, what: u8) -> bool {
        self.state_of(function).load(Ordering::Relaxed) & what != 0
    }

    fn state_of(&self, function: u32) -> &AtomicU8 {
        debug_assert!(function < self.count);
        // SAFETY: as `offset`.
        unsafe { AtomicU8::from_ptr(self.state.add(function as usize)) }
    }

    /// Number of functions copied.
    pub fn copied_count(&self) -> u32 {
        self.copied_count
    }

    /// The function copied as number `index`.
    pub fn copied(&self, index: u32) -> u32 {
        // SAFETY: callers stay below `copied_count`.
        unsafe { self.copied.add(index as usize).read() }
    }

    /// Copies a function and whatever shares its unit. Returns the number of functions copied and
    /// their bytes. Their entrances stay closed until [`Self::open_copies`].
    pub fn copy_unit(&mut self, image: &Image, arena: &Arena, function: u32) -> (u32, u64) {
        let mut bytes = 0;
        let first = self.copied_count;
        if image.staying(function).is_some() {
            return (0, 0);
        }
        let mut member = function;
        loop {
            let record = image.function(member);
            if !self.is_copied(member) {
                self.write_copy(image, arena, member, &record);
                let slot = image.slot(member);
                bytes += u64::from(slot.bytes + slot.rules_bytes());
                if record.flags & Movable::FLAG_SWITCHES_STACKS != 0 {
                    // Nobody has been in it yet, so that no stack but the threads' holds
                    // references.
                    stacks::block(Blocked::Switches);
                }
                self.labels_escape |= record.flags & Movable::FLAG_LABELS_ESCAPE != 0;
                // SAFETY: each function is pushed once, so the array has room.
                unsafe { self.copied.add(self.copied_count as usize).write(member) };
                self.copied_count += 1;
                // Release: pairs with `become_child`. A child made in the middle of this finds a
                // function that is copied with its body and on the list.
                self.state_of(member).fetch_or(COPIED, Ordering::Release);
            }
            member = record.unit_next;
            if member == function {
                break;
            }
        }
        self.copied_bytes += bytes;
        (self.copied_count - first, bytes)
    }

    /// In a forked child, which has memory of its own with what was [written](Self::written):
    /// closes all slots, also those without a copy, because an old one may lead to the current
    /// layout. A thread of the parent may have led someone on of whom nothing is known here; checks
    /// may so lead to a spare body that was not copied, and lead to the stub again.
    pub fn ask_again(&self, image: &Image, arena: &Arena) {
        for function in 0..self.count {
            self.close(image, arena, function);
            let has_checks = self.is_copied(function) && image.slot(function).spare.is_some();
            if has_checks && !self.has(function, HAS_SPARE) {
                self.lead_checks(image, arena, function, self.stub(arena, function));
            }
        }
    }

    /// In a forked child: another thread of the parent may have been in the middle of
    /// [`Self::copy_unit`]. The copy that it had begun is none, and will be written again.
    pub fn become_child(&mut self, image: &Image) {
        while let Some(last) = self.copied_count.checked_sub(1)
            && !self.is_copied(self.copied(last))
        {
            self.copied_count = last;
        }
        let bytes = |function| {
            let slot = image.slot(function);
            let spare = if self.has(function, HAS_SPARE) { slot.spare_bytes() } else { 0 };
            u64::from(slot.bytes + slot.rules_bytes() + spare)
        };
        self.copied_bytes = (0..self.copied_count).map(|index| bytes(self.copied(index))).sum();
    }

    /// Writes the spare body of a function that was copied and has one, unless it is there. Returns
    /// the bytes. Nobody is led there until [`Self::lead_to_spare`].
    pub fn write_missing_spare(&mut self, image: &Image, arena: &Arena, function: u32) -> u64 {
        let bytes = u64::from(image.slot(function).spare_bytes());
        if bytes == 0 || self.has(function, HAS_SPARE) {
            return 0;
        }
        self.write_spare(image, arena, function);
        // Release: as in `copy_unit`.
        self.state_of(function).fetch_or(HAS_SPARE, Ordering::Release);
        self.copied_bytes += bytes;
        bytes
    }

    /// Calls `part` with the offset in the place and the bytes of each part that was written: all
    /// but the room of spare bodies that nobody has needed.
    pub fn written(&self, image: &Image, place_bytes: usize, mut part: impl FnMut(usize, usize)) {
        part(0, image.spares().start() as usize);
        for function in (0..self.count).filter(|&function| self.has(function, HAS_SPARE)) {
            let start = image.spares().start_of(function) as usize;
            part(start, image.slot(function).spare_bytes() as usize);
        }
        let stubs_bytes = self.count as usize * STUB_BYTES;
        part(place_bytes - stubs_bytes, stubs_bytes);
    }

    /// Fills what was written of a layout that nobody can reach any more with traps: whoever could,
    /// dies.
    pub fn poison(&self, image: &Image, arena: &Arena) {
        let place = arena.address(self.place, 0);
        self.written(image, arena.place_bytes(), |start, bytes| arena.fill(place + start, bytes));
    }

    /// Copies all functions if a debugger may put breakpoints here: from then on no body is
    /// written, so that breakpoints stay. Returns the bytes.
    pub fn complete_for_debugger(&mut self, image: &Image, arena: &Arena) -> u64 {
        let mut bytes = 0;
        if arena.is_breakable() {
            for function in 0..self.count {
                bytes += self.copy_unit(image, arena, function).1;
                if self.is_copied(function) {
                    bytes += self.write_missing_spare(image, arena, function);
                }
            }
        }
        bytes
    }
}
