//! What the compiler pass, the link step and the runtime agree on about single functions and stack
//! pads.
//!
//! The pass leaves in each object one [`FunctionRecord`] a function, and in functions that it pads
//! code that reads two things: the pad table of its image and the pad state of its thread.
//!
//! ```text
//! if rsp - state.low < state.span {              (unsigned; else the frame gets no pad)
//!     rsp -= 16 * table[state.index]; state.index += 1
//! }
//! ```
//!
//! In programs whose code moves, most functions have no such code: their frames are *resizable*
//! ([`FunctionRecord::FLAG_RESIZABLE`]), and the runtime makes their pads part of each copy.
//!
//! A thread whose state was never set has `span` 0 and no `floor`, and so no pads: code on stacks
//! that the runtime did not make room on (signal stacks, contexts, threads of other libraries) runs
//! as without szc.

/// Section of function records. The linker gathers those of all objects and brackets them with
/// `__start_szc_functions` and `__stop_szc_functions`.
pub const FUNCTIONS_SECTION: &str = "szc_functions";

/// The distance of the thread's pad state from the thread pointer, a signed 8-byte number (hidden).
/// Code that may become part of a shared library reads it, because the state is at a fixed distance
/// in programs only; 0, which no distance is, stands for an image without pads.
pub const PAD_STATE_OFFSET_SYMBOL: &str = "szc_pad_state_offset";

/// Section of pad tables: [`PAD_TABLE_BYTES`] each, one of the image or one a function.
pub const PAD_TABLES_SECTION: &str = "szc_pad_tables";

/// The image's pad table in the shared scheme (hidden, the same in all objects).
pub const PAD_TABLE_SYMBOL: &str = "szc_pad_table";

/// The thread's [pad state](PadState) (hidden thread-local, the same in all objects).
pub const PAD_STATE_SYMBOL: &str = "szc_pad_state";

/// Entries of a pad table, one byte each: the pad in units of [`PAD_GRAIN_BYTES`].
pub const PAD_TABLE_BYTES: usize = 256;

/// Grain of pads: the alignment of the stack at calls.
pub const PAD_GRAIN_BYTES: u32 = 16;

/// Values that a pad can have.
pub const PADS: u32 = 256;

/// Pads that frames may take one below the other after one check for room: the checked one's, and
/// those of frames that are entered without a check
/// ([`FieldKind::Inner`](crate::FieldKind::Inner)).
pub const PADS_OF_A_CHECK: u32 = 16;

/// Bytes of the pads without a check.
pub const UNCHECKED_BYTES: u32 = (PADS_OF_A_CHECK - 1) * (PADS - 1) * PAD_GRAIN_BYTES;

/// File name of the plugin that pads with one table an image.
pub const PLUGIN: &str = "libszc_pass.so";

/// The same plugin under the name that makes it leave pads to copies where it can, and else pads
/// with one table an image.
pub const PLUGIN_PER_COPY: &str = "libszc_pass_per_copy.so";

/// The same plugin under the name that makes it pad with one table and index a function.
pub const PLUGIN_PER_FUNCTION: &str = "libszc_pass_per_function.so";

/// The same plugin under the name that makes it leave function records and no pads.
pub const PLUGIN_RECORDS: &str = "libszc_pass_records.so";

/// The same plugin under the name that makes it leave function records, no pads, and in each block
/// what tells the runtime of it.
pub const PLUGIN_PATHS: &str = "libszc_pass_paths.so";

/// A thread's pad state, as it lies in thread-local storage. A new thread's is
/// [`NO_PADS`](Self::NO_PADS).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct PadState {
    /// Lowest address at which a frame may still get a pad.
    pub low: u64,
    /// Bytes above `low` that belong to the stack; 0: no pads.
    pub span: u64,
    /// Which entry of the table comes next (one byte, wraps).
    pub index: u8,
    /// `low`, if all of the thread's stack above it and nothing else lies there, so that one
    /// comparison says whether a frame gets a pad; [`NO_FLOOR`](Self::NO_FLOOR) if `low` and `span`
    /// must be asked.
    pub floor: u64,
}

impl PadState {
    /// Offset of `low`.
    pub const LOW_AT: u64 = 0;
    /// Offset of `span`.
    pub const SPAN_AT: u64 = 8;
    /// Offset of `index`.
    pub const INDEX_AT: u64 = 16;
    /// Offset of `floor`.
    pub const FLOOR_AT: u64 = 24;
    /// Above every stack pointer.
    pub const NO_FLOOR: u64 = u64::MAX;

    /// That of a thread whose frames get no pads.
    pub const NO_PADS: Self = Self { low: 0, span: 0, index: 0, floor: Self::NO_FLOOR };
}

const _: () = assert!(
    size_of::<PadState>() == 32
        && core::mem::offset_of!(PadState, low) == 0
        && core::mem::offset_of!(PadState, span) == 8
        && core::mem::offset_of!(PadState, index) == 16
        && core::mem::offset_of!(PadState, floor) == 24
);

/// Bytes that the pass adds to a resizable frame, so that the constants that move the stack pointer
/// take 4 bytes and not one. Nothing uses them but prefetches, or stores of [`SLACK_MARK`], whose
/// operand says where they lie, so the link step takes both out again.
pub const RESIZABLE_BYTES: u32 = 144;

/// What is stored in the bytes added to a frame with a frame pointer, to say where they lie. (A
/// program that stores the same number in a variable on the stack has frames that keep their size.)
pub const SLACK_MARK: u32 = 0x7a63_9e37;

/// How much of the stack a frame may take, if it gets no pad, of what it takes without szc.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum Growth {
    /// At most half as much again.
    Half,
    /// At most twice as much: a dynamic frame needs a frame pointer, so that the smallest has 32
    /// bytes instead of 16.
    Twice,
    /// At most ten times as much: the room that the compiler pass has added to the smallest frame
    /// is still there.
    Tenfold,
}

// Of 16 bytes, the smallest frame that calls anything.
const _: () = assert!(16 + RESIZABLE_BYTES <= 10 * 16);

/// What the compiler says about one function.
///
/// The layout is that of LLVM's PC sections (`!pcsections`): code generation writes such an entry
/// beside each function that it emits, so that records never keep a function, die with it, and
/// change nothing else about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FunctionRecord {
    /// Distance of the function's entry from the record itself, in bytes.
    pub entry: i32,
    /// Size of the function, in bytes.
    pub size: u32,
    /// See the constants of this type.
    pub flags: u16,
    /// Code of a [`Stay`], 0 if the compiler knows of nothing against moving.
    pub stay: u8,
}

impl FunctionRecord {
    /// Size of the encoded record, in bytes; records follow each other without alignment.
    pub const BYTES: usize = 12;

    /// The function pads its frame itself, from a table.
    pub const FLAG_PADDED: u16 = 1;

    /// The function's frame may have another size in a copy, as far as the compiler knows: the
    /// stack pointer moves by constants of 4 bytes, and nothing above the frame is reached by an
    /// address that is computed.
    pub const FLAG_RESIZABLE: u16 = 2;

    /// Set by the link step: without a pad, the frame takes at most half as much again as it would
    /// without szc.
    pub const FLAG_TIGHT: u16 = 4;

    /// Set by the link step in records of resizable frames: it takes at most twice as much.
    pub const FLAG_TWICE: u16 = 8;

    /// Addresses of the function's variables may be kept and compared: a pad of its copies must lie
    /// below them, so that they are where they were in another layout.
    pub const FLAG_ADDRESSED: u16 = 16;

    /// The function compares where the stack is with addresses from elsewhere, as far as the
    /// compiler sees: a program that bounds its own recursion.
    pub const FLAG_BOUNDS_STACK: u16 = 0x100;

    /// Offset of the flags in the encoded record.
    pub const FLAGS_AT: u64 = 8;

    /// How much larger the frame can be than without szc, without a pad.
    #[must_use]
    pub fn growth(&self) -> Growth {
        let has = |flag: u16| self.flags & flag != 0;
        if has(Self::FLAG_TIGHT) || !has(Self::FLAG_PADDED | Self::FLAG_RESIZABLE) {
            Growth::Half
        } else if has(Self::FLAG_PADDED | Self::FLAG_TWICE) {
            Growth::Twice
        } else {
            Growth::Tenfold
        }
    }

    /// Encodes the record.
    #[must_use]
    pub fn encode(&self) -> [u8; Self::BYTES] {
        let mut out = [0; Self::BYTES];
        out[..4].copy_from_slice(&self.entry.to_le_bytes());
        out[4..8].copy_from_slice(&self.size.to_le_bytes());
        out[8..].copy_from_slice(&Self::word(self.flags, self.stay).to_le_bytes());
        out
    }

    /// What the pass itself writes of a record; code generation adds the rest.
    #[must_use]
    pub const fn word(flags: u16, stay: u8) -> u32 {
        flags as u32 | (stay as u32) << 16
    }

    /// Reads the record at the start of `bytes`.
    #[must_use]
    pub fn read(bytes: &[u8]) -> Option<Self> {
        let bytes: &[u8; Self::BYTES] = bytes.get(..Self::BYTES)?.try_into().ok()?;
        Some(Self {
            entry: i32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]),
            size: u32::from_le_bytes([bytes[4], bytes[5], bytes[6], bytes[7]]),
            flags: u16::from_le_bytes([bytes[8], bytes[9]]),
            stay: bytes[10],
        })
    }
}

/// Why the compiler knows that a function must not move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Stay {
    /// `naked`: its body is the author's assembly, down to the entry.
    Naked = 1,
    /// Its entry is prepared for patching by somebody else (`-fpatchable-function-entry`, XRay,
    /// `-pg` with `-mfentry` and records).
    Patched = 2,
    /// The hardware enters it (`interrupt`).
    Interrupt = 3,
    /// Its inline assembly puts something into other sections or defines symbols.
    Assembly = 4,
}

impl Stay {
    /// Every reason, in the order of its codes.
    pub const ALL: [Stay; 4] = [Stay::Naked, Stay::Patched, Stay::Interrupt, Stay::Assembly];

    /// The reason of a code, if the code has one.
    #[must_use]
    pub fn from_code(code: u8) -> Option<Self> {
        Self::ALL.into_iter().find(|&stay| stay as u8 == code)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_survives_a_round_trip() {
        let record = FunctionRecord {
            entry: -123_456,
            size: 70_001,
            flags: 0x8001,
            stay: Stay::Patched as u8,
        };
        assert_eq!(FunctionRecord::read(&record.encode()), Some(record));
        assert_eq!(FunctionRecord::read(&[0; 11]), None);
    }

    #[test]
    fn every_reason_to_stay_has_its_own_code() {
        for stay in Stay::ALL {
            assert_eq!(Stay::from_code(stay as u8), Some(stay));
        }
        assert_eq!(Stay::from_code(0), None);
    }
}
