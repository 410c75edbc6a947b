//! The spare parts of functions whose frames get pads: behind the slots of a layout, where all layouts of an image
//! have them at the same offsets.

use super::slot::{Entrances, Frames, Slot};
use crate::os::{self, Errno};
use szc_abi::{Movable, PLACEMENT_GRAIN_BYTES};

/// Where an image's spare parts lie, in bytes from the start of a place.
#[derive(Clone, Copy)]
pub struct Spares {
    start: u32,
    end: u32,
    count: usize,
    /// By function, the start of its spare part and with it the end of the one before. Null if there are none.
    starts: *mut u32,
}

/// Bytes of all spare parts of these functions; nothing if that exceeds 2 GiB.
#[must_use]
pub fn bytes(functions: impl Iterator<Item = Movable>, frames: Frames) -> Option<u32> {
    let mut total = 0u32;
    for function in functions {
        total = total.checked_add(Slot::of(&function, frames, Entrances::Heads).spare_bytes())?;
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
        let start = slots_bytes.next_multiple_of(PLACEMENT_GRAIN_BYTES);
        let has_any = (0..count).any(|index| slot(index).spare.is_some());
        let starts: *mut u32 =
            if has_any { os::map_anonymous(count * size_of::<u32>())?.cast() } else { os::null() };
        let mut end = start;
        for index in (0..count).filter(|_| has_any) {
            // SAFETY: the array has an entry for each function.
            unsafe { starts.add(index).write(end) };
            end += slot(index).spare_bytes();
        }
        Ok(Self { start, end, count, starts })
    }

    /// Whether no function has one.
    pub fn is_empty(&self) -> bool {
        self.starts.is_null()
    }

    /// Where they end.
    pub fn end(&self) -> u32 {
        self.end
    }

    /// Where that of a function starts, which must have one.
    pub fn start_of(&self, function: u32) -> u32 {
        self.starts().get(function as usize).copied().unwrap_or(self.end)
    }

    /// The function whose spare part has an offset, and the offset's distance from its start.
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
            unsafe { os::unmap(self.starts.cast(), self.count * size_of::<u32>()) };
        }
    }

    fn starts(&self) -> &[u32] {
        if self.is_empty() {
            return &[];
        }
        // SAFETY: an array of that many words, not written any more.
        unsafe { core::slice::from_raw_parts(self.starts, self.count) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn slot(size: u32, flags: u32) -> Slot {
        Slot::of(
            &Movable { size, flags, ..Movable::default() },
            Frames::Padded,
            Entrances::Openings,
        )
    }

    #[test]
    fn every_byte_of_a_spare_part_leads_to_its_function() {
        let sizes = [(40, Movable::FLAG_FRAME), (30, 0), (16, Movable::FLAG_FRAME)];
        let spares =
            Spares::lay_out(1001, 3, |index| slot(sizes[index].0, sizes[index].1)).unwrap();
        assert_eq!((spares.start_of(0), spares.start_of(2), spares.end()), (1008, 1056, 1072));
        assert_eq!(spares.function_at(1007), None);
        assert_eq!(spares.function_at(1008), Some((0, 0)));
        assert_eq!(spares.function_at(1055), Some((0, 47)));
        assert_eq!(spares.function_at(1056), Some((2, 0)));
        assert_eq!(spares.function_at(1072), None);
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
