//! A layout that is read: an image, its arena and what one epoch drew, together.
#![forbid(unsafe_code)]

use crate::arena::Arena;
use crate::epoch_layout::EpochLayout;
use crate::image::Image;
use core::ops::Range;
use szc_abi::PATCHABLE_ENTRY_BYTES;
use szc_layout::arch::patch::STUB_BYTES;
use szc_layout::arch::stack_check::{CHECK_ENTRY_AT, FULL_CHECK_BYTES};
use szc_layout::body::Targets;
use szc_layout::order;
use szc_layout::slot::{EntryKind, FunctionSlot, WORD_IN_FRONT};

/// Where the functions of an image lie in one layout. Also what the calls of its copies lead to.
#[derive(Clone, Copy)]
pub struct LayoutRef<'a> {
    /// The image.
    pub image: &'a Image,
    /// Memory for its copies.
    pub arena: &'a Arena,
    /// The layout, which has been drawn.
    pub drawn: &'a EpochLayout,
}

/// A part of a layout's place that one function has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// The function slot.
    Slot,
    /// The full check.
    FullCheck,
    /// The unpadded clone.
    Clone,
    /// The stub.
    Stub,
}

impl LayoutRef<'_> {
    fn address(&self, offset: u32) -> usize {
        self.arena.address(self.drawn.place(), offset)
    }

    /// Address of the place's first byte, which identifies the layout.
    pub fn start(&self) -> usize {
        self.address(0)
    }

    /// Address of the origin of a function's slot: of its body, or of the check in front of it.
    #[inline]
    pub fn origin(&self, function: u32) -> usize {
        self.address(self.drawn.offset(function))
    }

    /// Address of a function's body in its slot.
    pub fn body(&self, function: u32) -> usize {
        self.origin(function) + self.image.slot(function).body as usize
    }

    /// The pad of a function's frame, in bytes, if it gets one.
    pub fn pad(&self, function: u32) -> u32 {
        let drawn = self.drawn.pad(self.image.function(function).name_hash);
        match self.image.held_pad() {
            Some((held, pad)) if held == function => {
                pad.bytes(drawn, self.image.first_calls().stack(function))
            }
            _ => drawn,
        }
    }

    /// Address of the FDE of a function's body in its slot.
    pub fn fde(&self, function: u32) -> usize {
        self.address(self.image.clones().fde_of(function))
    }

    /// Address of a function's full check.
    pub fn full_check(&self, function: u32) -> usize {
        self.address(self.image.clones().check_of(function))
    }

    /// Address of a function's unpadded clone.
    pub fn unpadded(&self, function: u32) -> usize {
        self.address(self.image.clones().start_of(function))
    }

    /// Address at which a function is called.
    #[inline]
    pub fn entry(&self, function: u32) -> usize {
        let slot = self.image.slot(function);
        self.entered_at(function, slot, slot.outer)
    }

    /// Address of one of a function's entries.
    #[inline]
    pub(crate) fn entered_at(&self, function: u32, slot: FunctionSlot, entry: EntryKind) -> usize {
        let origin = self.origin(function);
        match entry {
            EntryKind::NoOp => origin.wrapping_add_signed(WORD_IN_FRONT as isize),
            EntryKind::Check => origin + CHECK_ENTRY_AT,
            EntryKind::Body => origin + slot.body as usize,
        }
    }

    /// Address of a function's stub. The stubs end where the place ends.
    #[inline]
    pub fn stub(&self, function: u32) -> usize {
        let end = self.start() + self.arena.place_bytes();
        end - (self.image.count() - function) as usize * STUB_BYTES
    }

    /// The function whose stub contains an offset of the place.
    #[inline]
    pub fn stub_at(&self, offset: u32) -> Option<u32> {
        let from_end = self.arena.place_bytes() - offset as usize;
        let behind = u32::try_from(from_end.div_ceil(STUB_BYTES)).ok()?;
        self.image.count().checked_sub(behind)
    }

    /// The function whose slot contains an offset of the place.
    pub fn slot_at(&self, offset: u32) -> Option<u32> {
        let slot = |function| self.image.slot(function);
        order::function_at(offset, slot, self.drawn.order(), self.drawn.offsets())
    }

    /// Whether an offset of the place lies in a function's slot. Any number may be asked about.
    pub fn is_slot_of(&self, function: u32, offset: u32) -> bool {
        function < self.image.count() && {
            let (origin, slot) = (self.drawn.offset(function), self.image.slot(function));
            (origin - PATCHABLE_ENTRY_BYTES..origin + slot.bytes).contains(&offset)
        }
    }

    /// The function that an offset of the place belongs to, and which part of it. `cached` may be
    /// its function, if the offset lies in a slot; that is seen faster than found.
    pub fn part_at(&self, offset: u32, cached: u32) -> Option<(u32, Part)> {
        if self.is_slot_of(cached, offset) {
            return Some((cached, Part::Slot));
        }
        let clones = self.image.clones();
        if let Some(function) = self.stub_at(offset) {
            return Some((function, Part::Stub));
        }
        if let Some((function, _)) = clones.function_at(offset) {
            return Some((function, Part::Clone));
        }
        if let Some(function) = clones.checked_at(offset) {
            return Some((function, Part::FullCheck));
        }
        Some((self.slot_at(offset)?, Part::Slot))
    }

    /// The addresses of a part of a function that has it.
    pub fn range(&self, function: u32, part: Part) -> Range<usize> {
        let slot = self.image.slot(function);
        let (start, bytes) = match part {
            Part::Slot => {
                let front = PATCHABLE_ENTRY_BYTES as usize;
                (self.origin(function) - front, front + slot.bytes as usize)
            }
            Part::FullCheck => (self.full_check(function), FULL_CHECK_BYTES),
            Part::Clone => (self.unpadded(function), slot.clone_bytes() as usize),
            Part::Stub => (self.stub(function), STUB_BYTES),
        };
        start..start + bytes
    }
}

impl Targets for LayoutRef<'_> {
    fn function(&self, function: u32, offset: u32) -> usize {
        if let Some(original) = self.image.pinned(function) {
            original + offset as usize
        } else if offset == 0 {
            match self.image.injected() {
                Some((injected, _)) if injected == function => {
                    self.image.original(self.image.function(function))
                }
                _ => self.entry(function),
            }
        } else {
            self.origin(function) + offset as usize
        }
    }

    #[inline(never)]
    fn inner(&self, function: u32) -> usize {
        let slot = self.image.slot(function);
        let is_injected = self.image.injected().is_some_and(|(injected, _)| injected == function);
        if slot.inner && self.image.pinned(function).is_none() && !is_injected {
            self.entered_at(function, slot, EntryKind::Body)
        } else {
            self.function(function, 0)
        }
    }

    fn image(&self, offset: u32) -> usize {
        self.image.address(offset)
    }
}
