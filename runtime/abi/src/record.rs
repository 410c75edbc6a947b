//! The fixed-size records of a table: header, movable functions, pinned functions.

use crate::{ABI_VERSION, FixedFrame, MAGIC, Malformed};

/// Outline of a table. Offsets are in bytes from the table's start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Header {
    /// Bytes of the whole table, but for the digest behind it.
    pub total_bytes: u32,
    /// Number of [`Movable`] records.
    pub movable_count: u32,
    /// Where they start.
    pub movable_offset: u32,
    /// Number of [`Pinned`] records.
    pub pinned_count: u32,
    /// Where they start.
    pub pinned_offset: u32,
    /// Where the field stream starts.
    pub fields_offset: u32,
    /// Bytes of the field stream.
    pub fields_bytes: u32,
    /// Where the names start.
    pub names_offset: u32,
    /// Bytes of the names.
    pub names_bytes: u32,
    /// Number of fields of all functions.
    pub field_count: u32,
    /// Number of jump tables of all functions.
    pub table_count: u32,
    /// Link-time address of the image's lowest byte, low half.
    pub base_low: u32,
    /// Link-time address of the image's lowest byte, high half.
    pub base_high: u32,
    /// See the constants of this type.
    pub flags: u32,
}

impl Header {
    /// Size of the encoded record: magic, version and fourteen words.
    pub const BYTES: usize = 8 + 4 + 14 * 4;

    /// Code of the image that is no movable function goes on on other stacks, as far as the link
    /// step can see.
    pub const FLAG_SWITCHES_STACKS: u32 = 1;

    /// Link-time address of the image's lowest byte.
    #[must_use]
    pub fn link_base(&self) -> u64 {
        u64::from(self.base_high) << 32 | u64::from(self.base_low)
    }

    /// Encodes the record, magic and version included.
    #[must_use]
    pub fn encode(&self) -> [u8; Self::BYTES] {
        let mut out = [0; Self::BYTES];
        out[..8].copy_from_slice(&MAGIC);
        out[8..12].copy_from_slice(&ABI_VERSION.to_le_bytes());
        for (index, word) in self.words().into_iter().enumerate() {
            let at = 12 + 4 * index;
            out[at..at + 4].copy_from_slice(&word.to_le_bytes());
        }
        out
    }

    /// Reads the record at the start of `bytes`.
    ///
    /// # Errors
    /// [`Malformed::NotATable`], [`Malformed::Version`] or [`Malformed::OutOfBounds`].
    pub fn read(bytes: &[u8]) -> Result<Self, Malformed> {
        if bytes.get(..8) != Some(&MAGIC[..]) {
            return Err(Malformed::NotATable);
        }
        let version = u32_at(bytes, 8).ok_or(Malformed::OutOfBounds)?;
        if version != ABI_VERSION {
            return Err(Malformed::Version(version));
        }
        let word = |index: usize| u32_at(bytes, 12 + 4 * index).ok_or(Malformed::OutOfBounds);
        Ok(Self {
            total_bytes: word(0)?,
            movable_count: word(1)?,
            movable_offset: word(2)?,
            pinned_count: word(3)?,
            pinned_offset: word(4)?,
            fields_offset: word(5)?,
            fields_bytes: word(6)?,
            names_offset: word(7)?,
            names_bytes: word(8)?,
            field_count: word(9)?,
            table_count: word(10)?,
            base_low: word(11)?,
            base_high: word(12)?,
            flags: word(13)?,
        })
    }

    fn words(&self) -> [u32; 14] {
        [
            self.total_bytes,
            self.movable_count,
            self.movable_offset,
            self.pinned_count,
            self.pinned_offset,
            self.fields_offset,
            self.fields_bytes,
            self.names_offset,
            self.names_bytes,
            self.field_count,
            self.table_count,
            self.base_low,
            self.base_high,
            self.flags,
        ]
    }
}

/// A function that may be copied to another place.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Movable {
    /// Offset of its first byte in the image.
    pub start: u32,
    /// Bytes of its body.
    pub size: u32,
    /// Bytes of its jump tables, which follow the body in a copy, aligned to 8.
    pub tables_bytes: u32,
    /// Position of its fields in the field stream.
    pub fields_at: u32,
    /// Position of its name in the names.
    pub name_at: u32,
    /// Next function of its unit: functions that jump into one another's middle are copied
    /// together. A function alone names itself; the links of a unit form a ring.
    pub unit_next: u32,
    /// Bytes of the FDE that a copy brings along, because its frame has another size than
    /// the original's.
    pub fde_bytes: u32,
    /// See the constants of this type.
    pub flags: u32,
    /// A number of the function's canonical name, by which places and pads are drawn: the same in
    /// all versions of a program, and of no other function of this one.
    pub name_hash: u64,
}

impl Movable {
    /// Size of the encoded record.
    pub const BYTES: usize = Self::NAME_HASH_AT + 8;

    const NAME_HASH_AT: usize = 8 * 4;

    /// The function holds the addresses of its own labels in an array that the program can read as
    /// data, so that such an address may outlive the copy that is running.
    pub const FLAG_LABELS_ESCAPE: u32 = 1;

    /// Copies may have a frame of another size: its description follows the function's tables in
    /// the field stream.
    pub const FLAG_FRAME: u32 = 2;

    /// The function goes on on other stacks, as far as the link step can see.
    pub const FLAG_SWITCHES_STACKS: u32 = 4;

    /// Copies whose frame has a pad have a second entry behind the check for room, for callers
    /// whose frames have pads.
    pub const FLAG_INNER_ENTRY: u32 = 8;

    /// Most pushes in front of the instruction at which copies may be retargeted.
    pub const MAX_UNDONE_PUSHES: u32 = 3;

    /// Bytes of the jump by which a copy is retargeted, to its undo trampoline: of that instruction
    /// as many change.
    pub const HOT_PATCH_BYTES: u32 = 2;

    /// Where in the flags the pushes in front of the hot-patch point lie, plus one: 0 is a function
    /// without.
    const HOT_PATCH_SHIFT: u32 = 4;
    const HOT_PATCH_MASK: u32 = 7;

    /// Where in the flags the code of a [`FixedFrame`] lies.
    const FIXED_FRAME_SHIFT: u32 = 8;

    /// The flags of a function that begins with so many pushes of one byte each, and then has an
    /// instruction of at least [`Self::HOT_PATCH_BYTES`] of which those are the same in all
    /// copies. Nothing but the entry leads to any of these instructions, so that copies can be
    /// entered at their first byte and still be left for others.
    #[must_use]
    pub fn hot_patch_flags(pushes: u32) -> u32 {
        (pushes + 1) << Self::HOT_PATCH_SHIFT
    }

    /// The pushes in front of the hot-patch point, the instruction at which copies may be
    /// retargeted, if they have one.
    #[must_use]
    pub fn hot_patch_point(&self) -> Option<u32> {
        (self.flags >> Self::HOT_PATCH_SHIFT & Self::HOT_PATCH_MASK).checked_sub(1)
    }

    /// Bytes at the beginning up to the end of the hot-patch point: no copy has a field there, and
    /// no way but that by the entry leads there. 0 without one.
    #[must_use]
    pub fn hot_patch_point_end(&self) -> u32 {
        self.hot_patch_point().map_or(0, |pushes| pushes + Self::HOT_PATCH_BYTES)
    }

    /// The flags of a function whose frame keeps its size for this reason.
    #[must_use]
    pub fn fixed_frame_flags(reason: FixedFrame) -> u32 {
        (reason as u32) << Self::FIXED_FRAME_SHIFT
    }

    /// Why the frame keeps its size although the compiler prepared it for another; none if it has
    /// no frame, or one that was not prepared, or one that may change.
    #[must_use]
    pub fn fixed_frame(&self) -> Option<FixedFrame> {
        FixedFrame::from_code(self.flags >> Self::FIXED_FRAME_SHIFT)
    }

    /// Whether copies may have a frame of another size.
    #[must_use]
    pub fn has_frame(&self) -> bool {
        self.flags & Self::FLAG_FRAME != 0
    }

    /// Whether copies whose frame has a pad have a second entry.
    #[must_use]
    pub fn has_inner_entry(&self) -> bool {
        let both = Self::FLAG_FRAME | Self::FLAG_INNER_ENTRY;
        self.flags & both == both
    }

    /// Encodes the record.
    #[must_use]
    pub fn encode(&self) -> [u8; Self::BYTES] {
        let words = [
            self.start,
            self.size,
            self.tables_bytes,
            self.fields_at,
            self.name_at,
            self.unit_next,
            self.fde_bytes,
            self.flags,
        ];
        let mut out = [0; Self::BYTES];
        for (index, word) in words.into_iter().enumerate() {
            out[4 * index..4 * index + 4].copy_from_slice(&word.to_le_bytes());
        }
        out[Self::NAME_HASH_AT..].copy_from_slice(&self.name_hash.to_le_bytes());
        out
    }

    /// Reads the record at the start of `bytes`.
    #[must_use]
    pub fn read(bytes: &[u8]) -> Option<Self> {
        Some(Self {
            start: u32_at(bytes, 0)?,
            size: u32_at(bytes, 4)?,
            tables_bytes: u32_at(bytes, 8)?,
            fields_at: u32_at(bytes, 12)?,
            name_at: u32_at(bytes, 16)?,
            unit_next: u32_at(bytes, 20)?,
            fde_bytes: u32_at(bytes, 24)?,
            flags: u32_at(bytes, 28)?,
            name_hash: u64::from(u32_at(bytes, 36)?) << 32 | u64::from(u32_at(bytes, 32)?),
        })
    }

    /// Bytes that a copy needs from its body's start: body, padding to 8, jump tables.
    #[must_use]
    pub fn copy_bytes(&self) -> u32 {
        if self.tables_bytes == 0 {
            self.size
        } else {
            self.size.saturating_add(7) / 8 * 8 + self.tables_bytes
        }
    }
}

/// A pinned function: it stays where the linker put it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Pinned {
    /// Offset of its first byte in the image.
    pub start: u32,
    /// Bytes of its body.
    pub size: u32,
    /// Position of its name in the names.
    pub name_at: u32,
    /// Code of a [`Reason`](crate::Reason).
    pub reason: u32,
}

impl Pinned {
    /// Size of the encoded record.
    pub const BYTES: usize = 4 * 4;

    /// Encodes the record.
    #[must_use]
    pub fn encode(&self) -> [u8; Self::BYTES] {
        let mut out = [0; Self::BYTES];
        for (index, word) in
            [self.start, self.size, self.name_at, self.reason].into_iter().enumerate()
        {
            out[4 * index..4 * index + 4].copy_from_slice(&word.to_le_bytes());
        }
        out
    }

    /// Reads the record at the start of `bytes`.
    #[must_use]
    pub fn read(bytes: &[u8]) -> Option<Self> {
        Some(Self {
            start: u32_at(bytes, 0)?,
            size: u32_at(bytes, 4)?,
            name_at: u32_at(bytes, 8)?,
            reason: u32_at(bytes, 12)?,
        })
    }
}

/// Reads a little-endian `u32` at `at`.
fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    let word = bytes.get(at..at.checked_add(4)?)?;
    Some(u32::from_le_bytes([word[0], word[1], word[2], word[3]]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Reason;

    #[test]
    fn records_survive_a_round_trip() {
        let header =
            Header { total_bytes: 9, base_high: 7, names_bytes: 3, flags: 1, ..Header::default() };
        assert_eq!(Header::read(&header.encode()), Ok(header));
        let movable = Movable {
            start: 1,
            size: 2,
            flags: 3,
            unit_next: 4,
            fde_bytes: 5,
            name_hash: 6 << 40 | 7,
            ..Movable::default()
        };
        assert_eq!(Movable::read(&movable.encode()), Some(movable));
        let pinned = Pinned { start: 5, size: 6, name_at: 7, reason: 8 };
        assert_eq!(Pinned::read(&pinned.encode()), Some(pinned));
    }

    #[test]
    fn every_reason_has_its_own_code_and_text() {
        for (index, &reason) in Reason::ALL.iter().enumerate() {
            assert_eq!(Reason::from_code(reason as u32), Some(reason));
            assert!(Reason::ALL[..index].iter().all(|earlier| earlier.text() != reason.text()));
        }
        assert_eq!(Reason::from_code(0), None);
        for &reason in FixedFrame::ALL {
            let function = Movable {
                flags: Movable::fixed_frame_flags(reason) | Movable::FLAG_LABELS_ESCAPE,
                ..Movable::default()
            };
            assert_eq!(function.fixed_frame(), Some(reason));
            assert!(!function.has_frame());
        }
        assert_eq!(Movable { flags: 3, ..Movable::default() }.fixed_frame(), None);
    }

    #[test]
    fn a_hot_patch_point_shares_the_flags_with_everything_else() {
        for pushes in 0..=Movable::MAX_UNDONE_PUSHES {
            let flags = Movable::hot_patch_flags(pushes)
                | Movable::FLAG_INNER_ENTRY
                | Movable::fixed_frame_flags(FixedFrame::ALL[0]);
            let function = Movable { flags, ..Movable::default() };
            assert_eq!(
                (function.hot_patch_point(), function.hot_patch_point_end()),
                (Some(pushes), pushes + 2)
            );
            assert_eq!(function.fixed_frame(), Some(FixedFrame::ALL[0]));
        }
        let without = Movable { flags: 0xf | 1 << 8, ..Movable::default() };
        assert_eq!((without.hot_patch_point(), without.hot_patch_point_end()), (None, 0));
    }

    #[test]
    fn another_version_is_named() {
        let mut bytes = Header::default().encode();
        bytes[8] = 99;
        assert_eq!(Header::read(&bytes), Err(Malformed::Version(99)));
    }
}
