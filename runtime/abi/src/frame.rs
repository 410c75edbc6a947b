//! The frame of a function, as far as copies may give it another size.
//!
//! A frame grows by adding to the constants that move the stack pointer, where the frame is taken
//! and wherever it is given back, and by telling unwinders of it:
//!
//! ```text
//! frame = site count, (bytes since the last site) × site count,
//!         [CIE, LSDA at, [LSDA], offset count, (bytes since the last) × offset count]
//! ```
//!
//! The part in brackets is there if [`Movable::fde_bytes`] is not 0, and the FDE follows it as
//! bytes. Every number is a varint.

use crate::cursor::Cursor;
use crate::{Malformed, Movable, read_varint};

/// Bytes of an offset from the canonical frame address in [`CopyFde::bytes`]: a LEB128 number of
/// fixed length, so that it can be replaced.
pub const OFFSET_BYTES: usize = 3;

/// [`OFFSET_BYTES`], as offsets count.
const OFFSET_WIDTH: u32 = 3;

/// Largest number that [`OFFSET_BYTES`] can hold.
pub const MAX_OFFSET: u32 = (1 << (7 * OFFSET_BYTES)) - 1;

/// Bytes of a constant that moves the stack pointer.
const SITE_BYTES: u32 = 4;

/// The description of a frame.
#[derive(Clone, Debug)]
pub struct FrameReader<'a> {
    /// Offsets in the function of the constants of 4 bytes that grow with the frame.
    pub sites: NumberReader<'a>,
    /// The FDE of a copy; none if the rules of the original hold at any size of the frame.
    pub fde: Option<CopyFde<'a>>,
}

/// The FDE of a copy, before the copy's place and the size of its frame are filled in.
#[derive(Clone, Debug)]
pub struct CopyFde<'a> {
    /// Offset in the image of its CIE.
    pub cie: u32,
    /// Where the pointer to the LSDA lies in [`CopyFde::bytes`], and what it points at, an offset
    /// in the image; none if its bytes are right everywhere.
    pub lsda: Option<(u32, u32)>,
    /// Where [`OFFSET_BYTES`] hold an offset that grows with the frame.
    pub offsets: NumberReader<'a>,
    /// The FDE as in `.eh_frame`.
    pub bytes: &'a [u8],
}

/// Ascending numbers.
#[derive(Clone, Debug)]
pub struct NumberReader<'a> {
    bytes: &'a [u8],
    position: usize,
    left: u32,
    last: u32,
}

impl<'a> NumberReader<'a> {
    /// Reads the count at `*position`, checks the numbers, and moves the position behind them.
    fn read(bytes: &'a [u8], position: &mut usize) -> Result<Self, Malformed> {
        let left = read_varint(bytes, position)?;
        let reader = Self { bytes, position: *position, left, last: 0 };
        let mut end = reader.clone();
        while end.next_number()?.is_some() {}
        *position = end.position;
        Ok(reader)
    }

    fn next_number(&mut self) -> Result<Option<u32>, Malformed> {
        if self.left == 0 {
            return Ok(None);
        }
        self.left -= 1;
        let distance = read_varint(self.bytes, &mut self.position)?;
        self.last = self.last.checked_add(distance).ok_or(Malformed::OutOfBounds)?;
        Ok(Some(self.last))
    }
}

impl Iterator for NumberReader<'_> {
    type Item = u32;

    fn next(&mut self) -> Option<u32> {
        // The numbers were checked when the reader was made.
        self.next_number().ok().flatten()
    }
}

impl<'a> FrameReader<'a> {
    pub(crate) fn read(
        bytes: &'a [u8],
        position: &mut usize,
        fde_bytes: u32,
    ) -> Result<Self, Malformed> {
        let sites = NumberReader::read(bytes, position)?;
        let mut frame = Self { sites, fde: None };
        if fde_bytes == 0 {
            return Ok(frame);
        }
        let cie = read_varint(bytes, position)?;
        let at = read_varint(bytes, position)?;
        let lsda = if at == 0 { None } else { Some((at, read_varint(bytes, position)?)) };
        let offsets = NumberReader::read(bytes, position)?;
        let end = position.checked_add(fde_bytes as usize).ok_or(Malformed::OutOfBounds)?;
        let fde = bytes.get(*position..end).ok_or(Malformed::OutOfBounds)?;
        *position = end;
        frame.fde = Some(CopyFde { cie, lsda, offsets, bytes: fde });
        Ok(frame)
    }

    /// Checks that all places lie inside the function and inside the FDE.
    pub(crate) fn validate(&self, function: &Movable) -> Result<(), Malformed> {
        let inside = |mut places: NumberReader<'_>, width: u32, end: u32| {
            places.all(|at| at.checked_add(width).is_some_and(|behind| behind <= end))
        };
        let mut fits = inside(self.sites.clone(), SITE_BYTES, function.size);
        fits &= self.sites.clone().all(|site| site >= function.hot_patch_point_end());
        if let Some(fde) = &self.fde {
            let end = function.fde_bytes;
            fits &= end >= CopyFde::MIN_BYTES && end.is_multiple_of(4);
            fits &= inside(fde.offsets.clone(), OFFSET_WIDTH, end);
            fits &= fde.lsda.is_none_or(|(at, _)| at <= end - 4);
            fits &= fde.offsets.clone().all(|at| fde.offset(at).is_some());
        }
        if fits { Ok(()) } else { Err(Malformed::OutOfBounds) }
    }
}

impl CopyFde<'_> {
    /// Length, CIE pointer, first address and number of bytes.
    const MIN_BYTES: u32 = 16;

    /// The offset from the canonical frame address at a place of the FDE, as it is without
    /// growth.
    #[must_use]
    pub fn offset(&self, at: u32) -> Option<u32> {
        let bytes = self.bytes.get(at as usize..at as usize + OFFSET_BYTES)?;
        let value = Cursor::new(bytes).unsigned()?;
        let has_length = bytes[0] & bytes[1] & 0x80 != 0 && bytes[2] & 0x80 == 0;
        if has_length { u32::try_from(value).ok() } else { None }
    }
}

/// An offset in [`OFFSET_BYTES`], of which it must not be larger than they can hold.
#[must_use]
pub fn put_offset(offset: u32) -> [u8; OFFSET_BYTES] {
    let seven_bits = |shift: u32| (offset >> shift & 0x7f).to_le_bytes()[0];
    [seven_bits(0) | 0x80, seven_bits(7) | 0x80, seven_bits(14)]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn function() -> Movable {
        Movable { size: 40, fde_bytes: 20, flags: Movable::FLAG_FRAME, ..Movable::default() }
    }

    fn stream() -> Vec<u8> {
        let mut out = vec![2, 3, 30]; // sites at 3 and 33
        out.extend([9, 8, 7, 1, 16]); // CIE at 9, LSDA at 8 means 7, one offset at 16
        out.extend([0; 16]);
        out.extend(put_offset(70));
        out.push(0);
        out
    }

    fn read(bytes: &[u8]) -> Result<FrameReader<'_>, Malformed> {
        let mut position = 0;
        let frame = FrameReader::read(bytes, &mut position, 20)?;
        assert_eq!(position, bytes.len());
        frame.validate(&function())?;
        Ok(frame)
    }

    #[test]
    fn a_frame_is_read_as_it_was_written() {
        let bytes = stream();
        let frame = read(&bytes).unwrap();
        assert_eq!(frame.sites.clone().collect::<Vec<_>>(), [3, 33]);
        let fde = frame.fde.unwrap();
        assert_eq!((fde.cie, fde.lsda, fde.bytes.len()), (9, Some((8, 7)), 20));
        assert_eq!(fde.offset(16), Some(70));
    }

    #[test]
    fn places_outside_and_offsets_of_another_length_are_refused() {
        for (at, value) in [(2, 36), (4, 17), (7, 19), (7, 0)] {
            let mut bytes = stream();
            bytes[at] = value;
            assert!(read(&bytes).is_err(), "{at} {value}");
        }
        let bytes = stream();
        for length in 0..bytes.len() {
            assert!(FrameReader::read(&bytes[..length], &mut 0, 20).is_err());
        }
    }

    #[test]
    fn an_offset_has_three_bytes_whatever_it_is() {
        for offset in [0, 1, 127, 128, 5000, MAX_OFFSET] {
            let bytes = put_offset(offset);
            assert_eq!(Cursor::new(&bytes).unsigned(), Some(u64::from(offset)));
        }
    }
}
