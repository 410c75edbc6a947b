//! The field stream: what to patch in a copy of a function, and its jump tables.
//!
//! ```text
//! function = count, field × count, table count, table × table count, [frame]
//! field    = (bytes since the last field's start << 3 | kind), operands
//! table    = (entries << 1 | absolute), target × entries
//! target   = (index << 2 | tag), [offset]     tag 0: image offset, 1: entry, 2: middle
//! ```
//!
//! Every number is a varint.

use crate::{FrameReader, Malformed, read_varint};

/// A place in a function's bytes that must change when the function moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Field {
    /// Offset of the field's first byte in the function.
    pub at: u32,
    /// What the field refers to.
    pub kind: FieldKind,
}

/// What a field refers to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FieldKind {
    /// A 32-bit PC-relative field whose target stays: subtract the distance of the move.
    Fixed,
    /// A 32-bit branch to a movable function: its entry, or its middle if `offset` is not 0.
    Function {
        /// Index of the function.
        function: u32,
        /// Offset in that function.
        offset: u32,
    },
    /// A 32-bit branch to the entry of a function, whose frame gets a pad without a check if that
    /// of this function has one: to its inner entry from the body with a pad, to its entry from the
    /// other.
    Inner(u32),
    /// A 32-bit PC-relative reference to a jump table of this function.
    TableRelative32(u32),
    /// A 32-bit absolute reference to a jump table of this function.
    TableAbsolute32(u32),
    /// A 64-bit absolute reference to a jump table of this function.
    TableAbsolute64(u32),
}

impl FieldKind {
    /// Tag of the kind in the stream, and its operands.
    #[must_use]
    pub fn encode(self) -> (u32, [Option<u32>; 2]) {
        match self {
            Self::Fixed => (0, [None, None]),
            Self::Function { function, offset: 0 } => (1, [Some(function), None]),
            Self::Function { function, offset } => (2, [Some(function), Some(offset)]),
            Self::TableRelative32(table) => (3, [Some(table), None]),
            Self::TableAbsolute32(table) => (4, [Some(table), None]),
            Self::TableAbsolute64(table) => (5, [Some(table), None]),
            Self::Inner(function) => (6, [Some(function), None]),
        }
    }
}

/// Where an entry of a jump table leads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TableTarget {
    /// A place of the image that stays, as an offset in the image.
    Image(u32),
    /// A movable function: its entry, or its middle if `offset` is not 0.
    Function {
        /// Index of the function.
        function: u32,
        /// Offset in that function.
        offset: u32,
    },
}

impl TableTarget {
    /// The numbers that stand for the target in the stream.
    #[must_use]
    pub fn encode(self) -> (u32, Option<u32>) {
        match self {
            Self::Image(at) => (at << 2, None),
            Self::Function { function, offset: 0 } => (function << 2 | 1, None),
            Self::Function { function, offset } => (function << 2 | 2, Some(offset)),
        }
    }
}

/// Reads the fields of one function, then its jump tables, in the order of the stream.
#[derive(Clone, Debug)]
pub struct FieldReader<'a> {
    bytes: &'a [u8],
    position: usize,
    at: u32,
}

impl<'a> FieldReader<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, position: 0, at: 0 }
    }

    /// The number of fields: to be read first.
    ///
    /// # Errors
    /// [`Malformed`] when the stream ends.
    pub fn field_count(&mut self) -> Result<u32, Malformed> {
        self.varint()
    }

    /// The next field.
    ///
    /// # Errors
    /// [`Malformed`] when the stream ends or the kind is unknown.
    #[inline]
    pub fn next_field(&mut self) -> Result<Field, Malformed> {
        let word = self.varint()?;
        self.at = self.at.checked_add(word >> 3).ok_or(Malformed::OutOfBounds)?;
        let kind = match word & 7 {
            0 => FieldKind::Fixed,
            1 => FieldKind::Function { function: self.varint()?, offset: 0 },
            2 => FieldKind::Function { function: self.varint()?, offset: self.varint()? },
            3 => FieldKind::TableRelative32(self.varint()?),
            4 => FieldKind::TableAbsolute32(self.varint()?),
            5 => FieldKind::TableAbsolute64(self.varint()?),
            6 => FieldKind::Inner(self.varint()?),
            _ => return Err(Malformed::BadEncoding),
        };
        Ok(Field { at: self.at, kind })
    }

    /// Reads all fields of a stream at its start, and then the number of jump tables.
    ///
    /// # Errors
    /// [`Malformed`] when the stream ends or a kind is unknown.
    pub fn skip_fields(&mut self) -> Result<u32, Malformed> {
        for _ in 0..self.field_count()? {
            self.next_field()?;
        }
        self.table_count()
    }

    /// The number of jump tables: to be read after the last field.
    ///
    /// # Errors
    /// [`Malformed`] when the stream ends.
    pub fn table_count(&mut self) -> Result<u32, Malformed> {
        self.varint()
    }

    /// The next jump table.
    ///
    /// # Errors
    /// [`Malformed`] when the stream ends.
    pub fn next_table(&mut self) -> Result<JumpTable<'a>, Malformed> {
        let word = self.varint()?;
        let table = JumpTable {
            absolute: word & 1 == 1,
            count: word >> 1,
            bytes: self.bytes,
            position: self.position,
        };
        let mut targets = table.targets();
        for _ in 0..table.count {
            targets.next_target()?;
        }
        self.position = targets.position;
        Ok(table)
    }

    /// The frame: to be read after the last jump table, of functions that have one.
    ///
    /// # Errors
    /// [`Malformed`] when the stream ends.
    pub fn frame(&mut self, fde_bytes: u32) -> Result<FrameReader<'a>, Malformed> {
        FrameReader::read(self.bytes, &mut self.position, fde_bytes)
    }

    fn varint(&mut self) -> Result<u32, Malformed> {
        read_varint(self.bytes, &mut self.position)
    }
}

/// A jump table or label array of a function, which each copy gets for itself.
#[derive(Clone, Copy, Debug)]
pub struct JumpTable<'a> {
    /// Entries are 8-byte addresses; otherwise 4-byte distances from the table's start.
    pub absolute: bool,
    /// Number of entries.
    pub count: u32,
    bytes: &'a [u8],
    position: usize,
}

impl<'a> JumpTable<'a> {
    /// Bytes of one entry.
    #[must_use]
    pub fn entry_bytes(&self) -> u32 {
        if self.absolute { 8 } else { 4 }
    }

    /// Bytes the table takes in a copy, rounded up to 8; nothing if that does not fit in 32 bits.
    #[must_use]
    pub fn slot_bytes(&self) -> Option<u32> {
        let bytes = self.count.checked_mul(self.entry_bytes())?;
        Some(bytes.checked_add(7)? / 8 * 8)
    }

    /// Reads the entries in order.
    #[must_use]
    pub fn targets(&self) -> TargetReader<'a> {
        TargetReader { bytes: self.bytes, position: self.position }
    }
}

/// Reads the targets of a jump table.
#[derive(Clone, Debug)]
pub struct TargetReader<'a> {
    bytes: &'a [u8],
    position: usize,
}

impl TargetReader<'_> {
    /// The next target.
    ///
    /// # Errors
    /// [`Malformed`] when the stream ends or the tag is unknown.
    pub fn next_target(&mut self) -> Result<TableTarget, Malformed> {
        let word = read_varint(self.bytes, &mut self.position)?;
        match word & 3 {
            0 => Ok(TableTarget::Image(word >> 2)),
            1 => Ok(TableTarget::Function { function: word >> 2, offset: 0 }),
            2 => {
                let offset = read_varint(self.bytes, &mut self.position)?;
                Ok(TableTarget::Function { function: word >> 2, offset })
            }
            _ => Err(Malformed::BadEncoding),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::varint::push;

    #[test]
    fn fields_and_tables_survive_a_round_trip() {
        let fields = [
            Field { at: 3, kind: FieldKind::Fixed },
            Field { at: 9, kind: FieldKind::Function { function: 700, offset: 0 } },
            Field { at: 900, kind: FieldKind::Function { function: 1, offset: 12 } },
            Field { at: 904, kind: FieldKind::TableRelative32(0) },
            Field { at: 912, kind: FieldKind::Inner(300) },
        ];
        let targets = [
            TableTarget::Image(77),
            TableTarget::Function { function: 5, offset: 0 },
            TableTarget::Function { function: 5, offset: 300 },
        ];
        let mut out = Vec::new();
        push(&mut out, 5);
        let mut last = 0;
        for field in fields {
            let (tag, operands) = field.kind.encode();
            push(&mut out, (field.at - last) << 3 | tag);
            last = field.at;
            operands.into_iter().flatten().for_each(|operand| push(&mut out, operand));
        }
        push(&mut out, 1);
        push(&mut out, 3 << 1);
        for target in targets {
            let (word, offset) = target.encode();
            push(&mut out, word);
            offset.into_iter().for_each(|offset| push(&mut out, offset));
        }

        let mut reader = FieldReader::new(&out);
        assert_eq!(reader.field_count(), Ok(5));
        for field in fields {
            assert_eq!(reader.next_field(), Ok(field));
        }
        assert_eq!(reader.table_count(), Ok(1));
        let table = reader.next_table().unwrap();
        assert_eq!((table.absolute, table.count, table.slot_bytes()), (false, 3, Some(16)));
        let mut read = table.targets();
        for target in targets {
            assert_eq!(read.next_target(), Ok(target));
        }
    }
}
