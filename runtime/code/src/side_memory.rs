//! Where in each place's side memory the part of a function is: what is made there for unwinders
//! that ask.

use crate::refused::Refused;
use core::ops::Range;
use szc_sys::os::Array;

/// The side memory of all functions of an image at one place.
pub enum SideMemory {
    /// As many bytes for each of so many functions.
    Alike {
        /// Number of functions.
        count: usize,
        /// Bytes of each.
        bytes: usize,
    },
    /// By function, where its part ends.
    Ends(Array<u32>),
}

impl SideMemory {
    /// `bytes` says how many each function needs; nothing if it cannot be helped.
    ///
    /// # Errors
    /// One that cannot, or not enough memory.
    pub fn of_each(count: usize, bytes: impl Fn(usize) -> Option<usize>) -> Result<Self, Refused> {
        // SAFETY: numbers.
        let mut ends = unsafe { Array::<u32>::zeroed(count) }.map_err(|_| Refused::Memory)?;
        let mut sum = 0u32;
        for (index, end) in ends.iter_mut().enumerate() {
            let bytes = bytes(index).ok_or(Refused::OtherUnwinder)?;
            let next = u32::try_from(bytes).ok().and_then(|bytes| sum.checked_add(bytes));
            sum = next.ok_or(Refused::Memory)?;
            *end = sum;
        }
        Ok(Self::Ends(ends))
    }

    /// Bytes of all.
    pub fn bytes(&self) -> usize {
        match self {
            Self::Alike { count, bytes } => count * bytes,
            Self::Ends(ends) => ends.last().map_or(0, |&end| end as usize),
        }
    }

    /// The part of a function.
    pub fn of(&self, function: u32) -> Range<usize> {
        let index = function as usize;
        match self {
            Self::Alike { bytes, .. } => index * bytes..(index + 1) * bytes,
            Self::Ends(ends) => {
                let end = |index: usize| ends.get(index).map_or(0, |&end| end as usize);
                index.checked_sub(1).map_or(0, end)..end(index)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_function_has_memory_of_its_own() {
        let alike = SideMemory::Alike { count: 3, bytes: 24 };
        assert_eq!((alike.bytes(), alike.of(2)), (72, 48..72));
        let bytes = [88, 0, 96];
        let each = SideMemory::of_each(3, |index| Some(bytes[index])).ok().unwrap();
        assert_eq!((each.bytes(), each.of(0), each.of(1)), (184, 0..88, 88..88));
        assert_eq!(each.of(2), 88..184);
    }

    #[test]
    fn more_than_can_be_reached_is_refused() {
        let refused = |bytes| SideMemory::of_each(2, |_| bytes).err();
        assert_eq!(refused(Some(1 << 31)), Some(Refused::Memory));
        assert_eq!(refused(None), Some(Refused::OtherUnwinder));
    }
}
