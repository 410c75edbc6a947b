//! Reads numbers from bytes, in the little-endian and variable-length forms of ELF and DWARF.

/// A position in bytes. Reading behind the end gives nothing.
#[derive(Clone, Copy, Debug)]
pub struct Cursor<'a> {
    bytes: &'a [u8],
}

impl<'a> Cursor<'a> {
    /// At the first of these bytes.
    #[must_use]
    pub fn new(bytes: &'a [u8]) -> Self {
        Self { bytes }
    }

    /// The bytes that are left.
    #[must_use]
    pub fn rest(self) -> &'a [u8] {
        self.bytes
    }

    /// The next `count` bytes.
    pub fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.bytes.split_at_checked(count)?;
        self.bytes = rest;
        Some(taken)
    }

    fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (taken, rest) = self.bytes.split_first_chunk()?;
        self.bytes = rest;
        Some(*taken)
    }

    /// A byte.
    pub fn u8(&mut self) -> Option<u8> {
        self.array().map(u8::from_le_bytes)
    }

    /// A number of 2 bytes.
    pub fn u16(&mut self) -> Option<u16> {
        self.array().map(u16::from_le_bytes)
    }

    /// A number of 4 bytes.
    pub fn u32(&mut self) -> Option<u32> {
        self.array().map(u32::from_le_bytes)
    }

    /// A number of 8 bytes.
    pub fn u64(&mut self) -> Option<u64> {
        self.array().map(u64::from_le_bytes)
    }

    /// An unsigned LEB128 number.
    pub fn unsigned(&mut self) -> Option<u64> {
        let (mut value, mut shift) = (0, 0);
        loop {
            let byte = self.u8()?;
            value |= u64::from(byte & 0x7f).checked_shl(shift)?;
            shift += 7;
            if byte & 0x80 == 0 {
                return Some(value);
            }
        }
    }

    /// A signed LEB128 number.
    pub fn signed(&mut self) -> Option<i64> {
        let (mut value, mut shift) = (0i64, 0);
        loop {
            let byte = self.u8()?;
            value |= i64::from(byte & 0x7f).checked_shl(shift)?;
            shift += 7;
            if byte & 0x80 == 0 {
                let is_negative = byte & 0x40 != 0 && shift < i64::BITS;
                return Some(if is_negative { value | (-1i64 << shift) } else { value });
            }
        }
    }

    /// Text up to a NUL.
    pub fn text(&mut self) -> Option<&'a [u8]> {
        let end = self.bytes.iter().position(|&byte| byte == 0)?;
        let text = self.take(end)?;
        self.u8()?;
        Some(text)
    }

    /// What a length of 4 bytes at this position covers. (Longer forms are for objects beyond 4
    /// GiB.)
    #[must_use]
    pub fn sized(mut self) -> Option<Self> {
        let bytes = self.u32()? as usize;
        self.take(bytes).map(Self::new)
    }

    /// Skips a pointer that its encoding (`DW_EH_PE_…`) stands in front of.
    pub fn skip_pointer(&mut self) -> Option<()> {
        let encoding = self.u8()?;
        let bytes = match encoding & 0x0f {
            0x00 | 0x04 | 0x0c => 8,
            0x02 | 0x0a => 2,
            0x03 | 0x0b => 4,
            _ => return None,
        };
        self.take(bytes).map(drop)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_variable_length_are_those_of_the_standard() {
        // DWARF 4, figures 22 and 23.
        let unsigned = |bytes: &[u8]| Cursor::new(bytes).unsigned();
        assert_eq!(unsigned(&[0x7f]), Some(127));
        assert_eq!(unsigned(&[57 + 0x80, 100]), Some(12_857));
        assert_eq!(unsigned(&[0x80]), None);
        assert_eq!(unsigned(&[0xff; 20]), None);
        let signed = |bytes: &[u8]| Cursor::new(bytes).signed();
        assert_eq!(signed(&[0x7e]), Some(-2));
        assert_eq!(signed(&[0xff, 0]), Some(127));
        assert_eq!(signed(&[0xff, 0x7e]), Some(-129));
        assert_eq!(signed(&[0x78]), Some(-8));
    }
}
