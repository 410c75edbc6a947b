//! What is wrong with a table that cannot be read, for every part of the format.

use crate::version::ABI_VERSION;

/// Why a table cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Malformed {
    /// The bytes do not begin with [`MAGIC`](crate::MAGIC).
    NotATable,
    /// The table has another version than [`ABI_VERSION`]; the version found is given.
    Version(u32),
    /// A length or an index points outside the table.
    OutOfBounds,
    /// A varint has more than [`MAX_VARINT_BYTES`](crate::MAX_VARINT_BYTES) bytes, or a tag has no
    /// meaning.
    BadEncoding,
    /// The links of functions that are copied together do not lead back to where they began.
    OpenUnit,
}

impl core::fmt::Display for Malformed {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::NotATable => f.write_str("the bytes are not a relocation table"),
            Self::Version(found) => {
                write!(f, "the table has version {found}; this szc reads version {ABI_VERSION}")
            }
            Self::OutOfBounds => f.write_str("the table points outside itself"),
            Self::BadEncoding => f.write_str("the table has a field that has no meaning"),
            Self::OpenUnit => f.write_str("the table has a unit of functions that does not close"),
        }
    }
}

impl core::error::Error for Malformed {}
