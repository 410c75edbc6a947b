//! Unwind information in the file of an image: which rules hold where in a function. The link step
//! reads it to describe frames of other sizes, the runtime to describe copies to debuggers.
//!
//! Sources: Linux Standard Base, "Exception Frames" (`.eh_frame`, `.eh_frame_hdr`); DWARF 4, 6.4.
//! All addresses here are those of the link.

use crate::cursor::Cursor;
use crate::elf::{PT_GNU_EH_FRAME, PT_LOAD, segments};

/// Offset in an FDE of the distance back to its CIE (`CIE_pointer`).
pub const CIE_POINTER_AT: usize = 4;

/// Offset in an FDE of the first address that it holds for (`initial_location`).
pub const INITIAL_LOCATION_AT: usize = 8;

/// Encodings of pointers (`DW_EH_PE_…`): the ones that linkers use.
const ABSOLUTE_8: u8 = 0x00;
const RELATIVE_4: u8 = 0x1b;
const RELATIVE_8: u8 = 0x1c;
/// Bits that say what a value counts from.
const BASE_MASK: u8 = 0x70;

/// First bytes of `.eh_frame_hdr`: version, and encodings of the section's address, the count and
/// the table, as all linkers for Linux write them.
const HEADER: [u8; 4] = [1, RELATIVE_4, 0x03, 0x3b];

/// The unwind information of an image.
#[derive(Clone, Copy)]
pub struct EhFrame<'a> {
    file: &'a [u8],
    /// Link address of the header, which the table's words are relative to.
    header: u64,
    /// Pairs of words, by address: of a function, and of its FDE.
    table: &'a [u8],
}

/// What the FDEs of several functions have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cie<'a> {
    /// Its address, which identifies it.
    pub address: u64,
    /// Factor of distances in the code.
    pub code_alignment: u64,
    /// Factor of offsets in the frame.
    pub data_alignment: i64,
    /// Column of the return address.
    pub return_column: u8,
    /// Whether FDEs have augmentation data, with its length in front.
    pub has_augmentation: bool,
    /// Encoding of an FDE's first address.
    pub starts: u8,
    /// Encoding of the pointer to the LSDA, where there is one.
    pub lsda: Option<u8>,
    /// Encoding of the pointer to the handler itself (the personality routine), and the bytes from
    /// the pointer on.
    pub personality: Option<(u8, &'a [u8])>,
    /// Whether the frames are those that a signal interrupted.
    pub is_of_signals: bool,
    /// Rules at the entry.
    pub instructions: &'a [u8],
}

impl<'a> Cie<'a> {
    /// Reads what stands at this address, from its length on. Nothing if it has a form that is not
    /// understood.
    #[must_use]
    pub fn read(address: u64, whole: Cursor<'a>) -> Option<Self> {
        let mut cursor = whole.sized()?;
        let (id, version) = (cursor.u32()?, cursor.u8()?);
        if id != 0 || version != 1 {
            return None;
        }
        let letters = cursor.text()?;
        let mut cie = Self {
            address,
            code_alignment: cursor.unsigned()?,
            data_alignment: cursor.signed()?,
            return_column: cursor.u8()?,
            has_augmentation: !letters.is_empty(),
            starts: ABSOLUTE_8,
            lsda: None,
            personality: None,
            is_of_signals: false,
            instructions: &[],
        };
        if let [b'z', letters @ ..] = letters {
            let bytes = usize::try_from(cursor.unsigned()?).ok()?;
            let mut data = Cursor::new(cursor.take(bytes)?);
            for letter in letters {
                match letter {
                    b'R' => cie.starts = data.u8()?,
                    b'L' => cie.lsda = Some(data.u8()?),
                    b'P' => {
                        let mut pointer = data;
                        cie.personality = Some((pointer.u8()?, pointer.rest()));
                        data.skip_pointer()?;
                    }
                    b'S' => cie.is_of_signals = true,
                    _ => return None,
                }
            }
        } else if cie.has_augmentation {
            return None;
        }
        cie.instructions = cursor.rest();
        Some(cie)
    }
}

/// The FDE of a function or a part of one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fde<'a> {
    /// Its own link address.
    pub address: u64,
    /// Link address of the function's first byte.
    pub start: u64,
    /// Bytes of code that it covers.
    pub bytes: u64,
    /// Its CIE.
    pub cie: Cie<'a>,
    /// All of it, from its length on.
    pub entry: &'a [u8],
    /// Where in it the pointer to the LSDA lies, and the link address meant, if that depends on
    /// where the FDE lies.
    pub lsda: Lsda,
    /// How the rules change from the entry on. Positions are relative to the start: assemblers
    /// write no absolute ones (`DW_CFA_set_loc`).
    pub instructions: &'a [u8],
}

/// How an FDE refers to the LSDA of its function (the language-specific data area).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lsda {
    /// Not at all, or in a form that does not depend on where the FDE lies.
    Anywhere,
    /// By 4 bytes that count from their own place.
    Relative {
        /// Offset of those bytes in the FDE.
        at: usize,
        /// Link address that they mean.
        address: u64,
    },
    /// In a form that is not understood.
    Unknown,
}

impl Fde<'_> {
    /// Whether first address and bytes take 4 bytes each, the address counted from its own place.
    #[must_use]
    pub fn is_relative_4(&self) -> bool {
        self.cie.starts == RELATIVE_4
    }

    /// Offset of the instructions in the FDE.
    #[must_use]
    pub fn instructions_at(&self) -> usize {
        self.entry.len() - self.instructions.len()
    }
}

impl<'a> EhFrame<'a> {
    /// Finds the unwind information in the bytes of an ELF64 file.
    #[must_use]
    pub fn parse(file: &'a [u8]) -> Option<Self> {
        let (address, offset, bytes) = segments(file)?
            .find(|segment| segment.kind == PT_GNU_EH_FRAME)
            .map(|segment| (segment.address, segment.offset, segment.file_bytes))?;
        let section = file.get(offset..)?.get(..bytes)?;
        let mut cursor = Cursor::new(section);
        if cursor.take(4)? != HEADER {
            return None;
        }
        cursor.take(4)?;
        let count = cursor.u32()? as usize;
        let table = section.get(12..)?.get(..count.checked_mul(8)?)?;
        Some(Self { file, header: address, table })
    }

    /// Calls `visit` with each FDE that begins in a range of link addresses.
    pub fn for_each(&self, start: u64, end: u64, mut visit: impl FnMut(&Fde<'a>)) {
        let mut index = self.first_at_or_behind(start);
        while let Some((address, fde)) = self.entry(index) {
            if address >= end {
                return;
            }
            if let Some(frame) = self.fde(fde).filter(|frame| frame.start == address) {
                visit(&frame);
            }
            index += 1;
        }
    }

    /// Number of FDEs that begin in a range of link addresses, in whatever form they are.
    #[must_use]
    pub fn count(&self, start: u64, end: u64) -> usize {
        self.first_at_or_behind(end).saturating_sub(self.first_at_or_behind(start))
    }

    /// Calls `visit` with the places, as link addresses, of the table's words that lead to
    /// FDEs of no code at all, unless the table has another one for the address, and with
    /// that address.
    pub fn for_each_empty(&self, mut visit: impl FnMut(u64, u64)) {
        for index in 0..self.table.len() / 8 {
            let Some((start, fde)) = self.entry(index) else { return };
            let other = [index.checked_sub(1), Some(index + 1)].into_iter().flatten();
            let alone = other.filter_map(|index| self.entry(index)).all(|(at, _)| at != start);
            if alone && self.fde(fde).is_some_and(|frame| frame.bytes == 0) {
                // Behind the words of the header and the entry's own address.
                visit(self.header + 12 + index as u64 * 8 + 4, start);
            }
        }
    }

    /// The word by which the table leads to the FDE at a link address.
    #[must_use]
    pub fn word_to(&self, fde: u64) -> Option<[u8; 4]> {
        let distance = fde.wrapping_sub(self.header).cast_signed();
        i32::try_from(distance).ok().map(i32::to_le_bytes)
    }

    fn first_at_or_behind(&self, address: u64) -> usize {
        let (mut low, mut high) = (0, self.table.len() / 8);
        while low < high {
            let middle = low.midpoint(high);
            if self.entry(middle).is_some_and(|(start, _)| start < address) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        low
    }

    /// Addresses of a function and of its FDE.
    fn entry(&self, index: usize) -> Option<(u64, u64)> {
        let mut cursor = Cursor::new(self.table.get(index * 8..)?);
        let mut address =
            || Some(self.header.wrapping_add_signed(i64::from(cursor.u32()?.cast_signed())));
        Some((address()?, address()?))
    }

    /// The loaded bytes from a link address on.
    fn at(&self, address: u64) -> Option<Cursor<'a>> {
        let segment = segments(self.file)?.find(|segment| {
            segment.kind == PT_LOAD
                && address >= segment.address
                && address - segment.address < segment.file_bytes as u64
        })?;
        let inside = usize::try_from(address - segment.address).ok()?;
        let bytes = self.file.get(segment.offset..)?.get(inside..segment.file_bytes)?;
        Some(Cursor::new(bytes))
    }

    /// The FDE at a link address; nothing if it has a form that is not understood.
    #[must_use]
    pub fn fde(&self, address: u64) -> Option<Fde<'a>> {
        let whole = self.at(address)?;
        let mut cursor = whole.sized()?;
        let entry = whole.rest().get(..4 + cursor.rest().len())?;
        let distance = cursor.u32()?;
        // The distance counts from its own field, which lies behind the length.
        let cie = self.cie((address + 4).checked_sub(u64::from(distance))?)?;
        let field = address + 8;
        let (start, bytes) = match cie.starts {
            RELATIVE_4 => {
                let distance = i64::from(cursor.u32()?.cast_signed());
                (field.wrapping_add_signed(distance), u64::from(cursor.u32()?))
            }
            RELATIVE_8 => (field.wrapping_add(cursor.u64()?), cursor.u64()?),
            ABSOLUTE_8 => (cursor.u64()?, cursor.u64()?),
            _ => return None,
        };
        let mut lsda = Lsda::Anywhere;
        if cie.has_augmentation {
            let bytes = cursor.unsigned()?;
            let at = entry.len() - cursor.rest().len();
            let mut data = Cursor::new(cursor.take(usize::try_from(bytes).ok()?)?);
            lsda = match cie.lsda {
                None => Lsda::Anywhere,
                Some(RELATIVE_4) => match data.u32()? {
                    // No data: the function has no LSDA.
                    0 => Lsda::Anywhere,
                    distance => {
                        let field = address + at as u64;
                        let distance = i64::from(distance.cast_signed());
                        Lsda::Relative { at, address: field.wrapping_add_signed(distance) }
                    }
                },
                Some(encoding) if encoding & BASE_MASK == 0 => Lsda::Anywhere,
                Some(_) => Lsda::Unknown,
            };
        }
        Some(Fde { address, start, bytes, cie, entry, lsda, instructions: cursor.rest() })
    }

    fn cie(&self, address: u64) -> Option<Cie<'a>> {
        let cie = Cie::read(address, self.at(address)?)?;
        // No function that moves has a frame that a signal interrupted.
        (cie.code_alignment == 1 && !cie.is_of_signals).then_some(cie)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_fde_of_this_test_is_found_by_its_address() {
        let file = std::fs::read("/proc/self/exe").unwrap();
        let frames = EhFrame::parse(&file).unwrap();
        let mut seen = 0;
        for index in 0..frames.table.len() / 8 {
            let (start, _) = frames.entry(index).unwrap();
            let mut found = 0;
            frames.for_each(start, start + 1, |frame| {
                assert_eq!((frame.start, frame.cie.return_column), (start, 16));
                assert_eq!(frame.cie.data_alignment, -8);
                assert!(frame.bytes > 0);
                found += 1;
            });
            seen += found;
        }
        // Two FDEs of the C library's start files are signal frames and the like.
        assert!(seen + 8 > frames.table.len() / 8 && seen > 1000, "{seen}");
    }

    #[test]
    fn damaged_files_have_no_frames_and_do_no_harm() {
        let file = std::fs::read("/proc/self/exe").unwrap();
        for length in [0, 10, 64, 200, 1000, 5000] {
            if let Some(frames) = EhFrame::parse(&file[..length.min(file.len())]) {
                frames.for_each(0, u64::MAX, |_| {});
            }
        }
    }
}
