//! What functions whose frames get pads have behind the slots of a layout, where all layouts of an
//! image have it at the same offsets: the FDEs of the bodies in the slots, and full checks, each
//! side by side, because each layout writes those of all copies; and behind them the unpadded
//! clones, most of which nobody ever writes.

use core::ops::Range;
use szc_abi::{Movable, PLACEMENT_GRAIN_BYTES};
use szc_layout::arch::stack_check::FULL_CHECK_BYTES;
use szc_layout::slot::{Frames, FunctionSlot, Patching};
use szc_sys::os::{Array, Errno};

/// Bytes of a full check, and its grain: none lies in two lines of a cache.
const CHECK_BYTES: u32 = FULL_CHECK_BYTES as u32;

/// Where an image's unpadded clones, full checks and FDEs lie, in bytes from the start of a place.
pub struct UnpaddedClones {
    /// Of the FDEs, behind the slots.
    fdes: u32,
    /// Of the full checks, behind the FDEs.
    checks: u32,
    /// Of the clones, behind the full checks.
    start: u32,
    end: u32,
    count: usize,
    /// By function, the start of its clone and with it the end of the one before; behind them, by
    /// function, those of its full check, and of its FDE. Empty if there are none.
    starts: Array<u32>,
}

/// Arrays of [`UnpaddedClones`], and which one is which.
const ARRAYS: usize = 3;
const CLONES: usize = 0;
const CHECKS: usize = 1;
const FDES: usize = 2;

/// Bytes of all clones, full checks and FDEs of these functions; nothing if that exceeds 2 GiB.
#[must_use]
pub fn bytes(functions: impl Iterator<Item = Movable>, frames: Frames) -> Option<u32> {
    let mut total = PLACEMENT_GRAIN_BYTES + CHECK_BYTES;
    for function in functions {
        let slot = FunctionSlot::of(&function, frames, Patching::NoOps);
        let own = slot.fde_bytes() + slot.full_check_bytes();
        total = total.checked_add(slot.clone_bytes())?.checked_add(own)?;
    }
    (total < 1 << 31).then_some(total)
}

impl UnpaddedClones {
    /// Those of `count` functions, behind slots that take up to `slots_bytes`.
    pub fn lay_out(
        slots_bytes: u32,
        count: usize,
        slot: impl Fn(usize) -> FunctionSlot,
    ) -> Result<Self, Errno> {
        let fdes = slots_bytes.next_multiple_of(PLACEMENT_GRAIN_BYTES);
        let has_any = (0..count).any(|index| slot(index).padded.is_some());
        // SAFETY: numbers.
        let mut starts = unsafe { Array::<u32>::zeroed(if has_any { ARRAYS * count } else { 0 }) }?;
        if !has_any {
            return Ok(Self { fdes, checks: fdes, start: fdes, end: fdes, count, starts });
        }
        let mut lay_out = |array: usize, start: u32, bytes: &dyn Fn(FunctionSlot) -> u32| {
            let mut end = start;
            for (index, start) in starts[array * count..][..count].iter_mut().enumerate() {
                *start = end;
                end += bytes(slot(index));
            }
            end
        };
        let checks = lay_out(FDES, fdes, &FunctionSlot::fde_bytes).next_multiple_of(CHECK_BYTES);
        let start = lay_out(CHECKS, checks, &FunctionSlot::full_check_bytes);
        let end = lay_out(CLONES, start, &FunctionSlot::clone_bytes);
        Ok(Self { fdes, checks, start, end, count, starts })
    }

    /// Whether no function has one.
    pub fn is_empty(&self) -> bool {
        self.starts.is_empty()
    }

    /// Address of the starts of clones and, behind them, of full checks, and of FDEs; nothing if
    /// there are none.
    pub(crate) fn address(&self) -> Option<usize> {
        (!self.is_empty()).then(|| self.starts.as_ptr() as usize)
    }

    /// Where full checks begin, behind which the clones lie.
    pub(crate) fn checks_start(&self) -> u32 {
        self.checks
    }

    /// Where the first of all begins, behind the slots.
    pub fn first(&self) -> u32 {
        self.fdes
    }

    /// Where the clones begin, which FDEs and full checks lie in front of.
    pub fn start(&self) -> u32 {
        self.start
    }

    /// Where they end.
    pub fn end(&self) -> u32 {
        self.end
    }

    /// Where the clone of a function starts, which must have one.
    pub fn start_of(&self, function: u32) -> u32 {
        self.array(CLONES).get(function as usize).copied().unwrap_or(self.end)
    }

    /// Where the full check of a function starts, which must have one.
    pub fn check_of(&self, function: u32) -> u32 {
        self.array(CHECKS).get(function as usize).copied().unwrap_or(self.start)
    }

    /// Where the FDE of a function starts, which must have one.
    pub fn fde_of(&self, function: u32) -> u32 {
        self.array(FDES).get(function as usize).copied().unwrap_or(self.checks)
    }

    /// The function whose clone has an offset, and the offset's distance from its start.
    pub fn function_at(&self, offset: u32) -> Option<(u32, u32)> {
        self.within(CLONES, self.start..self.end, offset)
    }

    /// The function whose full check has an offset.
    pub fn checked_at(&self, offset: u32) -> Option<u32> {
        self.within(CHECKS, self.checks..self.start, offset).map(|(function, _)| function)
    }

    fn within(&self, array: usize, all: Range<u32>, offset: u32) -> Option<(u32, u32)> {
        if !all.contains(&offset) {
            return None;
        }
        let starts = self.array(array);
        let index = starts.partition_point(|&start| start <= offset).checked_sub(1)?;
        Some((index as u32, offset - starts[index]))
    }

    fn array(&self, array: usize) -> &[u32] {
        if self.is_empty() {
            return &[];
        }
        &self.starts[array * self.count..][..self.count]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn slot(size: u32, flags: u32) -> FunctionSlot {
        FunctionSlot::of(
            &Movable { size, flags, fde_bytes: size / 2, ..Movable::default() },
            Frames::Padded,
            Patching::Bodies,
        )
    }

    #[test]
    fn every_byte_of_an_unpadded_clone_leads_to_its_function() {
        let sizes = [(40, Movable::FLAG_FRAME), (30, 0), (16, Movable::FLAG_FRAME)];
        let clones =
            UnpaddedClones::lay_out(1001, 3, |index| slot(sizes[index].0, sizes[index].1)).unwrap();
        // FDEs of 20 and 8 bytes, each from a multiple of 8; full checks of 32, each from a
        // multiple of that.
        assert_eq!((clones.fde_of(0), clones.fde_of(2)), (1008, 1032));
        assert_eq!((clones.check_of(0), clones.check_of(2)), (1056, 1088));
        assert_eq!((clones.start(), clones.start_of(0)), (1120, 1120));
        assert_eq!((clones.start_of(2), clones.end()), (1168, 1184));
        let within = [1055, 1056, 1087, 1088, 1119, 1120].map(|offset| clones.checked_at(offset));
        assert_eq!(within, [None, Some(0), Some(0), Some(2), Some(2), None]);
        assert_eq!(clones.function_at(1119), None);
        assert_eq!(clones.function_at(1120), Some((0, 0)));
        assert_eq!(clones.function_at(1167), Some((0, 47)));
        assert_eq!(clones.function_at(1168), Some((2, 0)));
        assert_eq!(clones.function_at(1184), None);
        let functions = sizes.map(|(size, flags)| Movable {
            size,
            flags,
            fde_bytes: size / 2,
            ..Movable::default()
        });
        let room = bytes(functions.into_iter(), Frames::Padded).unwrap();
        assert!(clones.end() - 1001 <= room);
    }

    #[test]
    fn functions_without_pads_take_no_memory() {
        let clones = UnpaddedClones::lay_out(1000, 5, |_| slot(40, 0)).unwrap();
        assert!(clones.is_empty());
        assert_eq!(clones.end(), 1008);
        assert_eq!(clones.function_at(1000), None);
    }
}
