//! Where in each place's headers the memory of a function is: for what unwinders are told of it.

use super::refused::Refused;
use crate::os;
use crate::unwind::{HEADER_BYTES, MAX_ENTRIES};

/// The memory of all functions of an image at one place.
#[derive(Clone, Copy)]
pub struct Headers {
    count: usize,
    /// By function, where its memory ends. Null if each has a header alone.
    ends: *mut u32,
}

/// The memory of one function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Memory {
    /// At this offset, a header that leads to rules elsewhere.
    Header(usize),
    /// From this offset on, for each part of the function so many bytes for a header and rules.
    Rules(usize, usize),
}

impl Headers {
    /// A header for each of `count` functions.
    pub fn alone(count: usize) -> Self {
        Self { count, ends: os::null() }
    }

    /// Headers and rules: `room` says how many bytes each part of a function needs, if its rules
    /// can be relocated.
    ///
    /// # Errors
    /// Rules that cannot, or not enough memory.
    pub fn with_rules(
        count: usize,
        room: impl Fn(usize) -> Option<usize>,
    ) -> Result<Self, Refused> {
        let memory = os::map_anonymous(count * size_of::<u32>()).map_err(|_| Refused::Memory)?;
        let headers = Self { count, ends: memory.cast() };
        let filled = headers.fill(room);
        if filled.is_err() {
            // SAFETY: nobody else knows of them.
            unsafe { headers.free() };
        }
        filled.map(|()| headers)
    }

    fn fill(&self, room: impl Fn(usize) -> Option<usize>) -> Result<(), Refused> {
        let mut end = 0u32;
        for index in 0..self.count {
            let bytes = MAX_ENTRIES * room(index).ok_or(Refused::OtherUnwinder)?;
            let sum = u32::try_from(bytes).ok().and_then(|bytes| end.checked_add(bytes));
            end = sum.ok_or(Refused::Memory)?;
            // SAFETY: the array has an entry for each function.
            unsafe { self.ends.add(index).write(end) };
        }
        Ok(())
    }

    /// Bytes of all.
    pub fn bytes(&self) -> usize {
        self.ends()
            .map_or(self.count * HEADER_BYTES, |ends| ends.last().copied().unwrap_or(0) as usize)
    }

    /// The memory of a function.
    pub fn of(&self, function: u32) -> Memory {
        let index = function as usize;
        let Some(ends) = self.ends() else { return Memory::Header(index * HEADER_BYTES) };
        let end = |index: usize| ends.get(index).map_or(0, |&end| end as usize);
        let start = index.checked_sub(1).map_or(0, end);
        Memory::Rules(start, (end(index) - start) / MAX_ENTRIES)
    }

    /// Gives back what is kept of them.
    ///
    /// # Safety
    /// Neither this nor a copy of it may be used any more.
    pub unsafe fn free(&self) {
        if !self.ends.is_null() {
            // SAFETY: the caller's promise; the block is that of `with_rules`.
            unsafe { os::unmap(self.ends.cast(), self.count * size_of::<u32>()) };
        }
    }

    fn ends(&self) -> Option<&[u32]> {
        // SAFETY: an array of that many words, not written any more.
        (!self.ends.is_null())
            .then(|| unsafe { core::slice::from_raw_parts(self.ends, self.count) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_function_has_memory_of_its_own() {
        let alone = Headers::alone(3);
        assert_eq!(alone.bytes(), 3 * HEADER_BYTES);
        assert_eq!(alone.of(2), Memory::Header(2 * HEADER_BYTES));
        let rooms = [88, 104, 96];
        let headers = Headers::with_rules(3, |index| Some(rooms[index])).unwrap();
        assert_eq!(headers.bytes(), MAX_ENTRIES * (88 + 104 + 96));
        assert_eq!(headers.of(0), Memory::Rules(0, 88));
        assert_eq!(headers.of(2), Memory::Rules(MAX_ENTRIES * (88 + 104), 96));
        // SAFETY: not used below.
        unsafe { headers.free() };
    }

    #[test]
    fn more_than_can_be_reached_is_refused() {
        let refused = |room| Headers::with_rules(2, |_| room).err();
        assert_eq!(refused(Some(1 << 29)), Some(Refused::Memory));
        assert_eq!(refused(None), Some(Refused::OtherUnwinder));
    }
}
