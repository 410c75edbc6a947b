//! The fixed-size records of a table: header, movable functions, pinned functions.

use crate::stack::Stay;
use crate::{ABI_VERSION, MAGIC, Malformed, u32_at};

/// Outline of a table. Offsets are in bytes from the table's start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Header {
    /// Bytes of the whole table.
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
}

impl Header {
    /// Size of the encoded record: magic, version and thirteen words.
    pub const BYTES: usize = 8 + 4 + 13 * 4;

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
        })
    }

    fn words(&self) -> [u32; 13] {
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
    /// See the constants of this type.
    pub flags: u32,
}

impl Movable {
    /// Size of the encoded record.
    pub const BYTES: usize = 7 * 4;

    /// The function holds the addresses of its own labels in an array that the program can read as
    /// data, so that such an address may outlive the copy that is running.
    pub const FLAG_LABELS_ESCAPE: u32 = 1;

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
            self.flags,
        ];
        let mut out = [0; Self::BYTES];
        for (index, word) in words.into_iter().enumerate() {
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
            tables_bytes: u32_at(bytes, 8)?,
            fields_at: u32_at(bytes, 12)?,
            name_at: u32_at(bytes, 16)?,
            unit_next: u32_at(bytes, 20)?,
            flags: u32_at(bytes, 24)?,
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

/// A function that stays where the linker put it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Pinned {
    /// Offset of its first byte in the image.
    pub start: u32,
    /// Bytes of its body.
    pub size: u32,
    /// Position of its name in the names.
    pub name_at: u32,
    /// Code of a [`Reason`].
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

macro_rules! reasons {
    ($($(#[$doc:meta])* $name:ident = $code:literal, $text:literal;)*) => {
        /// Why a function stays where it is.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        #[repr(u32)]
        pub enum Reason { $($(#[$doc])* $name = $code,)* }

        impl Reason {
            /// Every reason, in the order of its codes.
            pub const ALL: &'static [Reason] = &[$(Reason::$name,)*];

            /// The reason of a code, if the code has one.
            #[must_use]
            pub fn from_code(code: u32) -> Option<Self> {
                match code { $($code => Some(Self::$name),)* _ => None }
            }

            /// What a person reads.
            #[must_use]
            pub fn text(self) -> &'static str {
                match self { $(Self::$name => $text,)* }
            }
        }
    };
}

// 11 was a reason once and means nothing else.
reasons! {
    /// Fewer bytes than the jump that would replace its entry.
    TooShort = 1, "shorter than the jump that would replace its entry";
    /// Two symbols describe overlapping ranges of different extent.
    Overlaps = 2, "overlaps another function";
    /// Some byte does not begin an instruction that can be decoded.
    Undecodable = 3, "has bytes that do not decode as instructions";
    /// A short branch leaves the function.
    ShortBranchOut = 4, "leaves by a branch of 8 bits, which cannot reach a moved target";
    /// The last instruction continues into whatever follows.
    FallsThrough = 5, "runs on past its end";
    /// A relocation does not coincide with a decoded field.
    RelocationMismatch = 6, "has a relocation that does not match its instructions";
    /// A relocation of a kind that is not understood.
    RelocationUnknown = 7, "has a relocation of a kind that szc does not know";
    /// Code or data outside refers to its middle in a way that cannot be retargeted.
    InteriorReferenced = 8, "its middle is referred to from outside";
    /// An address of its middle lies in data that cannot be retargeted.
    InteriorInData = 9, "an address of its middle lies in data that cannot be retargeted";
    /// It calls into its own middle to learn its own address.
    CallsItsMiddle = 10, "calls into its own middle";
    /// The image's entry point runs before the runtime.
    EntryPoint = 12, "runs before the runtime starts";
    /// It lies in a section that the C runtime start-up falls through.
    StartupSection = 13, "lies in a section that start-up code runs through";
    /// The runtime itself, or something it calls.
    Runtime = 14, "is part of szc's runtime or called by it";
    /// The C library runs parts of itself before the runtime starts, and holds locks of its own where it
    /// calls others.
    CLibrary = 15, "belongs to the C library, parts of which run before the runtime";
    /// Chosen by the dynamic loader before the runtime starts.
    IfuncResolver = 16, "is an ifunc resolver, which the loader calls";
    /// libc looks at the return address of its caller and would not know a copy.
    CallerMatters = 18, "asks the loader for the next symbol behind the caller";
    /// The loader and libc call the allocator before the runtime starts, and when threads begin and end.
    Allocator = 19, "is an allocator, which the C library calls before the runtime starts";
    /// It lies too far from the image's start for the table.
    OutOfRange = 17, "lies more than 1 GiB from the start of the image";
    /// `naked` in the source.
    Naked = 20, "is naked: its body is the author's assembly";
    /// Somebody else patches its entry.
    PatchedByOthers = 21, "has an entry that is prepared for patching by somebody else";
    /// The hardware enters it.
    Interrupt = 22, "is an interrupt handler";
    /// Its inline assembly reaches outside of it.
    Assembly = 23, "has inline assembly that defines symbols or writes to other sections";
}

impl From<Stay> for Reason {
    fn from(stay: Stay) -> Self {
        match stay {
            Stay::Naked => Self::Naked,
            Stay::Patched => Self::PatchedByOthers,
            Stay::Interrupt => Self::Interrupt,
            Stay::Assembly => Self::Assembly,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_survive_a_round_trip() {
        let header = Header { total_bytes: 9, base_high: 7, names_bytes: 3, ..Header::default() };
        assert_eq!(Header::read(&header.encode()), Ok(header));
        let movable = Movable { start: 1, size: 2, flags: 3, unit_next: 4, ..Movable::default() };
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
    }

    #[test]
    fn another_version_is_named() {
        let mut bytes = Header::default().encode();
        bytes[8] = 99;
        assert_eq!(Header::read(&bytes), Err(Malformed::Version(99)));
    }
}
