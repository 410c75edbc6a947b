//! The relocation table: the one format that the link step writes and the runtime reads.
//!
//! A table is a sequence of little-endian bytes in the non-alloc section [`TABLE_SECTION`] of an
//! image. It says which functions may move, where their bytes refer to something that does not
//! move with them, and why the other functions stay.
//!
//! ```text
//! Header | Movable × n, by address | Pinned × m, by address | field stream | names | digest
//! ```
//!
//! All positions in the image are offsets in bytes from the image's lowest loaded address (its ELF
//! header), so that a table is the same wherever the image is loaded.
#![cfg_attr(not(test), no_std)]
#![forbid(unsafe_code)]

pub mod causal;
pub mod copies;
pub mod cursor;
pub mod elf;
mod field;
mod frame;
pub mod library;
mod malformed;
mod reason;
mod record;
mod runtime_names;
pub mod stack;
mod table_offsets;
pub mod text;
mod units;
pub mod unwind;
mod varint;
mod version;

pub use field::{Field, FieldKind, FieldReader, JumpTable, TableTarget, TargetReader};
pub use frame::{CopyFde, FrameReader, MAX_OFFSET, NumberReader, OFFSET_BYTES, put_offset};
pub use library::digest;
pub use malformed::Malformed;
pub use reason::{FixedFrame, Reason};
pub use record::{Header, Movable, Pinned};
pub use runtime_names::{
    CONTROL_SYMBOLS, FRAMES_EXPORT_PREFIX, HEAP_EXPORT_PREFIX, KEEPS_CODE_SYMBOL, ORIGINAL_SYMBOL,
    PATH_BLOCK_SYMBOL, PATH_CHECK_SYMBOL, PATH_COUNTDOWN_SYMBOL, RUNTIME_CRATES,
    RUNTIME_ENTRY_SYMBOLS, RUNTIME_START_SYMBOL, SHARED_FRAMES_EXPORT_PREFIX,
    SHARED_OBJECTS_EXPORT_PREFIX, SHARED_STACK_EXPORT_PREFIX, SHARED_WALKS_EXPORT_PREFIX,
    STACK_EXPORT_PREFIX,
};
pub use table_offsets::TableOffsets;
pub use varint::{MAX_VARINT_BYTES, encode_varint, read_varint};
pub use version::{ABI_VERSION, MAGIC};

/// Name of the section that holds the table.
///
/// Strippers take out what is not loaded, but all keep what a linker shows as a warning
/// (`.gnu.warning.SYMBOL`) to whoever uses a symbol: llvm-strip and eu-strip, too, which drop other
/// sections. Nothing can use a symbol of this name.
pub const TABLE_SECTION: &str = ".gnu.warning.szc.table";

/// Bytes overwritten at the original entry of a movable function: `jmp *disp32(%rip)`.
pub const ENTRY_JUMP_BYTES: usize = 6;

/// Bytes of the word in front of a copy, which changes while threads run. Either the copy is
/// entered there, by one instruction: a `jmp rel32`, or what the copy begins with (a `nop`, if
/// nothing else); or its undo trampoline lies there ([`Movable::hot_patch_point`]).
pub const PATCHABLE_ENTRY_BYTES: u32 = 8;

/// Grain of placement of a copy's body, in bytes.
pub const PLACEMENT_GRAIN_BYTES: u32 = 16;

/// A table whose outline was checked: every record and the start of every field stream is inside.
#[derive(Clone, Copy, Debug)]
pub struct Table<'a> {
    bytes: &'a [u8],
    header: Header,
}

impl<'a> Table<'a> {
    /// Checks the outline of `bytes` and wraps it.
    ///
    /// # Errors
    /// [`Malformed`] when the magic, the version or a length is wrong.
    pub fn parse(bytes: &'a [u8]) -> Result<Self, Malformed> {
        let header = Header::read(bytes)?;
        let inside = |offset: u32, count: u32, each: usize| -> bool {
            (count as usize)
                .checked_mul(each)
                .and_then(|length| length.checked_add(offset as usize))
                .is_some_and(|end| end <= bytes.len())
        };
        let fits = header.total_bytes as usize <= bytes.len()
            && inside(header.movable_offset, header.movable_count, Movable::BYTES)
            && inside(header.pinned_offset, header.pinned_count, Pinned::BYTES)
            && inside(header.fields_offset, header.fields_bytes, 1)
            && inside(header.names_offset, header.names_bytes, 1);
        if !fits {
            return Err(Malformed::OutOfBounds);
        }
        Ok(Self { bytes, header })
    }

    /// Whether the digest behind the table is that of its bytes: sound records may be wrong ones.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        let Some((table, behind)) = self.bytes.split_at_checked(self.header.total_bytes as usize)
        else {
            return false;
        };
        behind.first_chunk() == Some(&digest(table).to_le_bytes())
    }

    /// The table's header.
    #[must_use]
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// Number of movable functions.
    #[must_use]
    pub fn movable_count(&self) -> usize {
        self.header.movable_count as usize
    }

    /// Number of pinned functions.
    #[must_use]
    pub fn pinned_count(&self) -> usize {
        self.header.pinned_count as usize
    }

    /// The movable function of this index; they are ordered by address.
    #[must_use]
    pub fn movable(&self, index: usize) -> Option<Movable> {
        if index >= self.movable_count() {
            return None;
        }
        let at = self.header.movable_offset as usize + index * Movable::BYTES;
        Movable::read(self.bytes.get(at..)?)
    }

    /// The pinned function of this index; they are ordered by address.
    #[must_use]
    pub fn pinned(&self, index: usize) -> Option<Pinned> {
        if index >= self.pinned_count() {
            return None;
        }
        let at = self.header.pinned_offset as usize + index * Pinned::BYTES;
        Pinned::read(self.bytes.get(at..)?)
    }

    /// The fields and jump tables of a movable function.
    #[must_use]
    pub fn fields(&self, function: &Movable) -> FieldReader<'a> {
        let start = self.header.fields_offset as usize;
        let stream = &self.bytes[start..start + self.header.fields_bytes as usize];
        FieldReader::new(stream.get(function.fields_at as usize..).unwrap_or(&[]))
    }

    /// The name blob: all names, each followed by a NUL.
    #[must_use]
    pub fn names(&self) -> &'a [u8] {
        let start = self.header.names_offset as usize;
        &self.bytes[start..start + self.header.names_bytes as usize]
    }

    /// The name at a position of the name blob: bytes up to a NUL, not always UTF-8.
    #[must_use]
    pub fn name(&self, name_at: u32) -> &'a [u8] {
        let rest = self.names().get(name_at as usize..).unwrap_or(&[]);
        rest.split(|&byte| byte == 0).next().unwrap_or(&[])
    }

    /// Walks every record and every field, so that a reader may afterwards rely on them: functions
    /// ascend and do not overlap, fields lie inside their function, indices name functions, and
    /// [`Movable::unit_next`] closes rings.
    ///
    /// # Errors
    /// [`Malformed`] names the first thing that is wrong.
    pub fn validate(&self) -> Result<(), Malformed> {
        let mut end_of_previous = 0u32;
        for index in 0..self.movable_count() {
            let function = self.movable(index).ok_or(Malformed::OutOfBounds)?;
            let end = function.start.checked_add(function.size).ok_or(Malformed::OutOfBounds)?;
            if function.start < end_of_previous || (function.size as usize) < ENTRY_JUMP_BYTES {
                return Err(Malformed::OutOfBounds);
            }
            end_of_previous = end;
            if function.hot_patch_point_end() > function.size {
                return Err(Malformed::OutOfBounds);
            }
            if function.hot_patch_point().is_some_and(|pushes| pushes > Movable::MAX_UNDONE_PUSHES)
            {
                return Err(Malformed::BadEncoding);
            }
            self.validate_fields(&function)?;
        }
        let next = |index: u32| Some(self.movable(index as usize)?.unit_next);
        let closed = units::form_rings(self.header.movable_count, next);
        if closed { Ok(()) } else { Err(Malformed::OpenUnit) }
    }

    fn validate_fields(&self, function: &Movable) -> Result<(), Malformed> {
        let mut reader = self.fields(function);
        let mut table_refs = 0u32;
        let count = reader.field_count()?;
        for _ in 0..count {
            let field = reader.next_field()?;
            let width = if matches!(field.kind, FieldKind::TableAbsolute64(_)) { 8 } else { 4 };
            if field.at.checked_add(width).is_none_or(|end| end > function.size) {
                return Err(Malformed::OutOfBounds);
            }
            if field.at < function.hot_patch_point_end() {
                return Err(Malformed::BadEncoding);
            }
            match field.kind {
                FieldKind::Fixed => {}
                FieldKind::Function { function, offset } => self.check_target(function, offset)?,
                FieldKind::Inner(callee) => {
                    self.check_index(callee)?;
                    let callee = self.movable(callee as usize).ok_or(Malformed::OutOfBounds)?;
                    if !function.has_frame() || !callee.has_inner_entry() {
                        return Err(Malformed::BadEncoding);
                    }
                }
                FieldKind::TableRelative32(table)
                | FieldKind::TableAbsolute32(table)
                | FieldKind::TableAbsolute64(table) => table_refs = table_refs.max(table + 1),
            }
        }
        let tables = reader.table_count()?;
        if table_refs > tables {
            return Err(Malformed::OutOfBounds);
        }
        let mut bytes = 0u32;
        for _ in 0..tables {
            let table = reader.next_table()?;
            bytes = bytes
                .checked_add(table.slot_bytes().ok_or(Malformed::OutOfBounds)?)
                .ok_or(Malformed::OutOfBounds)?;
            let mut targets = table.targets();
            for _ in 0..table.count {
                if let TableTarget::Function { function, offset } = targets.next_target()? {
                    self.check_target(function, offset)?;
                }
            }
        }
        if bytes != function.tables_bytes {
            return Err(Malformed::OutOfBounds);
        }
        if function.has_frame() {
            reader.frame(function.fde_bytes)?.validate(function)
        } else {
            Ok(())
        }
    }

    /// A target in the middle of a function must not lie in front of the end of its hot-patch
    /// point.
    fn check_target(&self, function: u32, offset: u32) -> Result<(), Malformed> {
        self.check_index(function)?;
        // Nearly all are entries, for which no record has to be read.
        if offset == 0 {
            return Ok(());
        }
        let target = self.movable(function as usize).ok_or(Malformed::OutOfBounds)?;
        if offset < target.hot_patch_point_end() { Err(Malformed::BadEncoding) } else { Ok(()) }
    }

    fn check_index(&self, function: u32) -> Result<(), Malformed> {
        if (function as usize) < self.movable_count() {
            Ok(())
        } else {
            Err(Malformed::OutOfBounds)
        }
    }
}
