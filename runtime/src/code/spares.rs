//! What functions whose frames get pads have behind the slots of a layout, where all layouts of an image have it at the same
//! offsets: the unwind rules of the bodies in the slots, side by side, because each layout writes those of all copies; and
//! behind them the spare bodies, most of which nobody ever writes.

use super::slot::{Entrances, Frames, Slot};
use crate::os::{self, Errno};
use szc_abi::{Movable, PLACEMENT_GRAIN_BYTES};

/// Where an image's spare bodies and rules lie, in bytes from the start of a place.
#[derive(Clone, Copy)]
pub struct Spares {
    /// Of the spare bodies, behind the rules.
    start: u32,
    end: u32,
    count: usize,
    /// By function, the start of its spare body and with it the end of the one before; behind them, by function, that of its
    /// rules. Null if there are none.
    starts: *mut u32,
}

/// Bytes of all spare bodies and rules of these functions; nothing if that exceeds 2 GiB.
#[must_use]
pub fn bytes(functions: impl Iterator<Item = Movable>, frames: Frames) -> Option<u32> {
    let mut total = PLACEMENT_GRAIN_BYTES;
    for function in functions {
        let slot = Slot::of(&function, frames, Entrances::Heads);
        total = total.checked_add(slot.spare_bytes())?.checked_add(slot.rules_bytes())?;
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
        let mut end = slots_bytes.next_multiple_of(PLACEMENT_GRAIN_BYTES);
        let has_any = (0..count).any(|index| slot(index).spare.is_some());
        if !has_any {
            return Ok(Self { start: end, end, count, starts: os::null() });
        }
        let starts: *mut u32 = os::map_anonymous(2 * count * size_of::<u32>())?.cast();
        for index in 0..count {
            // SAFETY: the array has two entries for each function.
            unsafe { starts.add(count + index).write(end) };
            end += slot(index).rules_bytes();
        }
        let start = end.next_multiple_of(PLACEMENT_GRAIN_BYTES);
        end = start;
        for index in 0..count {
            // SAFETY: as above.
            unsafe { starts.add(index).write(end) };
            end += slot(index).spare_bytes();
        }
        Ok(Self { start, end, count, starts })
    }

    /// Whether no function has one.
    pub fn is_empty(&self) -> bool {
        self.starts.is_null()
    }

    /// Where the spare bodies begin, which the rules lie in front of.
    pub fn start(&self) -> u32 {
        self.start
    }

    /// Where they end.
    pub fn end(&self) -> u32 {
        self.end
    }

    /// Where the spare body of a function starts, which must have one.
    pub fn start_of(&self, function: u32) -> u32 {
        self.starts().get(function as usize).copied().unwrap_or(self.end)
    }

    /// Where the rules of a function start, which must have some.
    pub fn rules_of(&self, function: u32) -> u32 {
        self.words().get(self.count + function as usize).copied().unwrap_or(self.start)
    }

    /// The function whose spare body has an offset, and the offset's distance from its start.
    pub fn function_at(&self, offset: u32) -> Option<(u32, u32)> {
        if !(self.start..self.end).contains(&offset) {
            return None;
        }
        let index = self.starts().partition_point(|&start| start <= offset).checked_sub(1)?;
        Some((index as u32, offset - self.starts()[index]))
    }

    /// Gives back what is kept of them.
    ///
    /// # Safety
    /// Neither this nor a copy of it may be used any more.
    pub unsafe fn free(&self) {
        if !self.is_empty() {
            // SAFETY: the caller's promise; the block is that of `lay_out`.
            unsafe { os::unmap(self.starts.cast(), 2 * self.count * size_of::<u32>()) };
        }
    }

    fn starts(&self) -> &[u32] {
        self.words().get(..self.count).unwrap_or(&[])
    }

    fn words(&self) -> &[u32] {
        if self.is_empty() {
            return &[];
        }
        // SAFETY: an array of that many words, not written any more.
        unsafe { core::slice::from_raw_parts(self.starts, 2 * self.count) }
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
        // Rules of 20 and 8 bytes, each from a multiple of 8.
        assert_eq!((spares.rules_of(0), spares.rules_of(2)), (1008, 1032));
        assert_eq!((spares.start(), spares.start_of(0)), (1040, 1040));
        assert_eq!((spares.start_of(2), spares.end()), (1088, 1104));
        assert_eq!(spares.function_at(1039), None);
        assert_eq!(spares.function_at(1040), Some((0, 0)));
        assert_eq!(spares.function_at(1087), Some((0, 47)));
        assert_eq!(spares.function_at(1088), Some((2, 0)));
        assert_eq!(spares.function_at(1104), None);
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
