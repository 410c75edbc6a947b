//! What functions whose frames get pads have behind the slots of a layout, where all layouts of an
//! image have it at the same offsets: the unwind rules of the bodies in the slots, and full checks,
//! each side by side, because each layout writes those of all copies; and behind them the spare
//! bodies, most of which nobody ever writes.

use super::slot::{Entrances, Frames, Slot};
use crate::arch::check::FULL_CHECK_BYTES;
use crate::os::{self, Errno};
use core::ops::Range;
use szc_abi::{Movable, PLACEMENT_GRAIN_BYTES};

/// Bytes of a full check, and its grain: none lies in two lines of a cache.
const CHECK_BYTES: u32 = FULL_CHECK_BYTES as u32;

/// Where an image's spare bodies, full checks and rules lie, in bytes from the start of a place.
#[derive(Clone, Copy)]
pub struct Spares {
    /// Of the full checks, behind the rules.
    checks: u32,
    /// Of the spare bodies, behind the full checks.
    start: u32,
    end: u32,
    count: usize,
    /// By function, the start of its spare body and with it the end of the one before; behind them,
    /// by function, those of its full check, and of its rules. Null if there are none.
    starts: *mut u32,
}

/// Arrays of [`Spares`], and which one is which.
const ARRAYS: usize = 3;
const SPARES: usize = 0;
const CHECKS: usize = 1;
const RULES: usize = 2;

/// Bytes of all spare bodies, full checks and rules of these functions; nothing if that exceeds 2
/// GiB.
#[must_use]
pub fn bytes(functions: impl Iterator<Item = Movable>, frames: Frames) -> Option<u32> {
    let mut total = PLACEMENT_GRAIN_BYTES + CHECK_BYTES;
    for function in functions {
        let slot = Slot::of(&function, frames, Entrances::Heads);
        let own = slot.rules_bytes() + slot.full_check_bytes();
        total = total.checked_add(slot.spare_bytes())?.checked_add(own)?;
    }
    (total < 1 << 31).then_some(total)
}

impl Spares {
    /// Those of `count` functions, behind slots that take up to `slots_bytes`.
    pub fn lay_out(
        slots_bytes: u32,
        count: usize,
        slot: impl Fn(usize) -> Slot,
    ) -> Result<Self, Errno> {
        let rules = slots_bytes.next_multiple_of(PLACEMENT_GRAIN_BYTES);
        let has_any = (0..count).any(|index| slot(index).spare.is_some());
        if !has_any {
            return Ok(Self { checks: rules, start: rules, end: rules, count, starts: os::null() });
        }
        let starts: *mut u32 = os::map_anonymous(ARRAYS * count * size_of::<u32>())?.cast();
        let lay_out = |array: usize, start: u32, bytes: &dyn Fn(Slot) -> u32| {
            (0..count).fold(start, |end, index| {
                // SAFETY: the arrays have an entry for each function.
                unsafe { starts.add(array * count + index).write(end) };
                end + bytes(slot(index))
            })
        };
        let rules_end = lay_out(RULES, rules, &Slot::rules_bytes);
        let checks = rules_end.next_multiple_of(CHECK_BYTES);
        let start = lay_out(CHECKS, checks, &Slot::full_check_bytes);
        let end = lay_out(SPARES, start, &Slot::spare_bytes);
        Ok(Self { checks, start, end, count, starts })
    }

    /// Whether no function has one.
    pub fn is_empty(&self) -> bool {
        self.starts.is_null()
    }

    /// Where the spare bodies begin, which rules and full checks lie in front of.
    pub fn start(&self) -> u32 {
        self.start
    }

    /// Where they end.
    pub fn end(&self) -> u32 {
        self.end
    }

    /// Where the spare body of a function starts, which must have one.
    pub fn start_of(&self, function: u32) -> u32 {
        self.array(SPARES).get(function as usize).copied().unwrap_or(self.end)
    }

    /// Where the full check of a function starts, which must have one.
    pub fn check_of(&self, function: u32) -> u32 {
        self.array(CHECKS).get(function as usize).copied().unwrap_or(self.start)
    }

    /// Where the rules of a function start, which must have some.
    pub fn rules_of(&self, function: u32) -> u32 {
        self.array(RULES).get(function as usize).copied().unwrap_or(self.checks)
    }

    /// The function whose spare body has an offset, and the offset's distance from its start.
    pub fn function_at(&self, offset: u32) -> Option<(u32, u32)> {
        self.within(SPARES, self.start..self.end, offset)
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

    /// Gives back what is kept of them.
    ///
    /// # Safety
    /// Neither this nor a copy of it may be used any more.
    pub unsafe fn free(&self) {
        if !self.is_empty() {
            // SAFETY: the caller's promise; the block is that of `lay_out`.
            unsafe { os::unmap(self.starts.cast(), ARRAYS * self.count * size_of::<u32>()) };
        }
    }

    fn array(&self, array: usize) -> &[u32] {
        if self.is_empty() {
            return &[];
        }
        // SAFETY: an array of that many words, not written any more.
        unsafe { core::slice::from_raw_parts(self.starts.add(array * self.count), self.count) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn slot(size: u32, flags: u32) -> Slot {
        Slot::of(
            &Movable { size, flags, rules_bytes: size / 2, ..Movable::default() },
            Frames::Padded,
            Entrances::Openings,
        )
    }

    #[test]
    fn every_byte_of_a_spare_body_leads_to_its_function() {
        let sizes = [(40, Movable::FLAG_FRAME), (30, 0), (16, Movable::FLAG_FRAME)];
        let spares =
            Spares::lay_out(1001, 3, |index| slot(sizes[index].0, sizes[index].1)).unwrap();
        // Rules of 20 and 8 bytes, each from a multiple of 8; full checks of 32, each from a
        // multiple of that.
        assert_eq!((spares.rules_of(0), spares.rules_of(2)), (1008, 1032));
        assert_eq!((spares.check_of(0), spares.check_of(2)), (1056, 1088));
        assert_eq!((spares.start(), spares.start_of(0)), (1120, 1120));
        assert_eq!((spares.start_of(2), spares.end()), (1168, 1184));
        let within = [1055, 1056, 1087, 1088, 1119, 1120].map(|offset| spares.checked_at(offset));
        assert_eq!(within, [None, Some(0), Some(0), Some(2), Some(2), None]);
        assert_eq!(spares.function_at(1119), None);
        assert_eq!(spares.function_at(1120), Some((0, 0)));
        assert_eq!(spares.function_at(1167), Some((0, 47)));
        assert_eq!(spares.function_at(1168), Some((2, 0)));
        assert_eq!(spares.function_at(1184), None);
        let functions = sizes.map(|(size, flags)| Movable {
            size,
            flags,
            rules_bytes: size / 2,
            ..Movable::default()
        });
        let room = bytes(functions.into_iter(), Frames::Padded).unwrap();
        assert!(spares.end() - 1001 <= room);
        // SAFETY: not used below.
        unsafe { spares.free() };
    }

    #[test]
    fn functions_without_pads_take_no_memory() {
        let spares = Spares::lay_out(1000, 5, |_| slot(40, 0)).unwrap();
        assert!(spares.is_empty());
        assert_eq!(spares.end(), 1008);
        assert_eq!(spares.function_at(1000), None);
    }
}
