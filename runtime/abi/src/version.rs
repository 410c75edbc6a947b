//! What every table begins with, by which a reader knows whether it can read it.

/// First bytes of every table.
pub const MAGIC: [u8; 8] = *b"SZCTABLE";

/// Version of the table's format. A reader refuses every other one.
pub const ABI_VERSION: u32 = 7;
