//! Where the jump tables of a function lie in its copy.

use crate::FieldReader;

/// Finds the offsets of a function's jump tables, which lie one behind the other in a copy.
///
/// Tables stand behind all fields in the stream. It is read up to there at the first question and
/// not at each: the loop of an interpreter has hundreds of fields that refer to its tables, among
/// thousands of others.
#[derive(Clone, Debug)]
pub struct TableOffsets<'a> {
    /// At the first table; before the first question, at the start of the stream.
    first: FieldReader<'a>,
    /// At the table that was asked for last, with its index and offset.
    last: Option<(FieldReader<'a>, u32, u32)>,
}

impl<'a> TableOffsets<'a> {
    /// Those of the function whose stream `start` is at the start of.
    #[must_use]
    pub fn of(start: &FieldReader<'a>) -> Self {
        Self { first: start.clone(), last: None }
    }

    /// The offset of a table of a validated stream from the first one, in bytes.
    pub fn of_table(&mut self, table: u32) -> u32 {
        if self.last.is_none() {
            let _ = self.first.skip_fields();
        }
        let known = self.last.take().filter(|&(_, index, _)| index <= table);
        let (mut reader, mut index, mut offset) = known.unwrap_or((self.first.clone(), 0, 0));
        while index < table {
            offset += reader.next_table().ok().and_then(|table| table.slot_bytes()).unwrap_or(0);
            index += 1;
        }
        self.last = Some((reader, index, offset));
        offset
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::varint::push;
    use crate::{FieldKind, TableTarget};

    /// A stream of two fields and of tables with these numbers of entries, every other of 8 bytes
    /// each.
    fn stream(entries: &[u32]) -> Vec<u8> {
        let (field, operands) = FieldKind::TableRelative32(1).encode();
        let (target, _) = TableTarget::Image(40).encode();
        let mut numbers = vec![2, 3 << 3 | field, operands[0].unwrap(), 500 << 3];
        numbers.push(u32::try_from(entries.len()).unwrap());
        for (index, &count) in (0..).zip(entries) {
            numbers.push((count << 1) | (index % 2));
            numbers.extend(core::iter::repeat_n(target, count as usize));
        }
        let mut bytes = Vec::new();
        numbers.into_iter().for_each(|number| push(&mut bytes, number));
        bytes
    }

    #[test]
    fn tables_lie_one_behind_the_other_whichever_is_asked_for_first() {
        let bytes = stream(&[3, 2, 1, 200]);
        let expected = [0, 16, 32, 40];
        for order in [[0, 1, 2, 3], [3, 2, 1, 0], [2, 2, 0, 3], [1, 3, 1, 2]] {
            let mut offsets = TableOffsets::of(&FieldReader::new(&bytes));
            for table in order {
                assert_eq!(offsets.of_table(table), expected[table as usize], "{order:?}");
            }
        }
    }
}
