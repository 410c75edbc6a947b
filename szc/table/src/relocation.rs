//! What each kind of x86-64 relocation says about the bytes it stands at.
//!
//! Source: System V ABI, AMD64 supplement, table 4.9 "Relocation types".

use object::elf::{self, RelocationType};

/// What a relocation means for the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// Nothing that depends on where code lies.
    Constant,
    /// The distance of an address from the global offset table: it stays, and so must the address.
    FromGot,
    /// A 32-bit PC-relative field stands here.
    PcRelative,
    /// A 32-bit PC-relative field stood here; the linker may have relaxed the instruction.
    Relaxable,
    /// An absolute address of this many bytes stands here.
    Absolute(u8),
    /// Not understood.
    Unknown,
}

/// Classifies a relocation type.
#[must_use]
pub fn classify(r_type: RelocationType) -> Class {
    match r_type {
        elf::R_X86_64_NONE
        | elf::R_X86_64_GOT32
        | elf::R_X86_64_DTPOFF64
        | elf::R_X86_64_TPOFF64
        | elf::R_X86_64_DTPOFF32
        | elf::R_X86_64_TPOFF32
        | elf::R_X86_64_PLTOFF64
        | elf::R_X86_64_SIZE32
        | elf::R_X86_64_SIZE64
        | elf::R_X86_64_TLSDESC_CALL => Class::Constant,
        elf::R_X86_64_PC32
        | elf::R_X86_64_PLT32
        | elf::R_X86_64_GOTPCREL
        | elf::R_X86_64_GOTPC32 => Class::PcRelative,
        elf::R_X86_64_TLSGD
        | elf::R_X86_64_TLSLD
        | elf::R_X86_64_GOTTPOFF
        | elf::R_X86_64_GOTPC32_TLSDESC
        | elf::R_X86_64_GOTPCRELX
        | elf::R_X86_64_REX_GOTPCRELX
        | elf::R_X86_64_CODE_4_GOTPCRELX
        | elf::R_X86_64_CODE_4_GOTTPOFF
        | elf::R_X86_64_CODE_4_GOTPC32_TLSDESC => Class::Relaxable,
        elf::R_X86_64_GOTOFF64 => Class::FromGot,
        elf::R_X86_64_64 => Class::Absolute(8),
        elf::R_X86_64_32 | elf::R_X86_64_32S => Class::Absolute(4),
        _ => Class::Unknown,
    }
}

/// Whether the symbol's address, without the addend, lies in the global offset table: the addend
/// belongs to the field.
#[must_use]
pub fn is_through_got(r_type: RelocationType) -> bool {
    matches!(
        r_type,
        elf::R_X86_64_GOT32
            | elf::R_X86_64_GOT64
            | elf::R_X86_64_GOTPCREL
            | elf::R_X86_64_GOTPCREL64
            | elf::R_X86_64_GOTPLT64
            | elf::R_X86_64_GOTPCRELX
            | elf::R_X86_64_REX_GOTPCRELX
            | elf::R_X86_64_CODE_4_GOTPCRELX
            | elf::R_X86_64_CODE_5_GOTPCRELX
            | elf::R_X86_64_CODE_6_GOTPCRELX
    )
}

/// Whether the relocation begins a thread-local sequence that the linker may rewrite as a whole,
/// including the relocation of the call to `__tls_get_addr` behind it.
#[must_use]
pub fn starts_tls_sequence(r_type: RelocationType) -> bool {
    matches!(r_type, elf::R_X86_64_TLSGD | elf::R_X86_64_TLSLD)
}

/// Longest distance from a TLSGD or TLSLD field to the field of its call (ABI, section 7.2).
pub const TLS_SEQUENCE_BYTES: u64 = 16;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_entry_of_the_offset_table_holds_the_address_of_a_symbol() {
        assert!(is_through_got(elf::R_X86_64_GOTPCREL));
        assert!(is_through_got(elf::R_X86_64_REX_GOTPCRELX));
        // These have the table's address, or a thread's.
        for r_type in [elf::R_X86_64_GOTPC32, elf::R_X86_64_GOTTPOFF, elf::R_X86_64_PC32] {
            assert!(!is_through_got(r_type));
        }
    }

    #[test]
    fn an_unknown_kind_is_never_taken_for_a_known_one() {
        for r_type in
            [elf::R_X86_64_PC64, elf::R_X86_64_PC8, elf::R_X86_64_16, RelocationType(1000)]
        {
            assert_eq!(classify(r_type), Class::Unknown);
        }
    }
}
