//! Tables as the versions of Go's linker write them, whole and damaged.

use super::*;
use crate::read::{GO_TABLE, Relocation, Symbol};
use object::elf;

const CODE: u64 = 0x1000;
const CODE_BYTES: u64 = 0x1000;
const DATA: u64 = 0x4000;
/// Where the table begins, behind something else.
const TABLE_AT: u64 = DATA + 32;
/// First addresses of functions, and the end of the last one.
const FUNCTIONS: &[u64] = &[CODE + 0x100, CODE + 0x140, CODE + 0x1c0, CODE + 0x200];
const COVERED: (u64, u64) = (CODE + 0x100, CODE + 0x200);

fn section<'data>(
    name: &'static str,
    address: u64,
    data: &'data [u8],
    executable: bool,
) -> Section<'data> {
    let size = if executable { CODE_BYTES } else { data.len() as u64 };
    Section { name, address, size, data, executable, writable: false }
}

fn image<'data>(name: &'static str, data: &'data [u8]) -> Image<'data> {
    Image {
        dynamic: true,
        sections: vec![section(".text", CODE, &[], true), section(name, DATA, data, false)],
        ..Image::default()
    }
}

fn mark(name: &'static [u8], address: u64) -> Symbol<'static> {
    Symbol { name, address, size: 0, file: None, ifunc: false }
}

fn pointer(place: u64, target: u64) -> Relocation {
    Relocation { place, r_type: elf::R_X86_64_64, symbol: target, target }
}

/// A table of a version, behind 32 other bytes.
fn table(magic: u32) -> Vec<u8> {
    let mut bytes = vec![0x55; 32];
    let mut words = |words: &[u64]| bytes.extend(words.iter().flat_map(|word| word.to_le_bytes()));
    words(&[u64::from(magic) | 1 << 48 | 8 << 56, FUNCTIONS.len() as u64 - 1]);
    match magic {
        0xffff_fffb => {}
        0xffff_fffa => words(&[1, 64, 64, 64, 64, 64]),
        _ => words(&[1, FUNCTIONS[0], 72, 72, 72, 72, 72]),
    }
    for &function in FUNCTIONS {
        if magic == 0xffff_fffb || magic == 0xffff_fffa {
            bytes.extend(function.to_le_bytes());
            bytes.extend(0x77_u64.to_le_bytes());
        } else {
            bytes.extend(u32::try_from(function - FUNCTIONS[0]).expect("near").to_le_bytes());
            bytes.extend(0x77_u32.to_le_bytes());
        }
    }
    bytes
}

const MAGICS: &[u32] = &[0xffff_fffb, 0xffff_fffa, 0xffff_fff0, 0xffff_fff1];

#[test]
fn the_table_of_every_version_is_found_in_any_section() {
    for &magic in MAGICS {
        let data = table(magic);
        for name in [".gopclntab", ".data.rel.ro.gopclntab", ".data.rel.ro", ".rodata"] {
            let ranges = Covered::Ranges(vec![COVERED]);
            assert_eq!(covered(&image(name, &data)), Some(ranges), "{magic:x} in {name}");
        }
    }
}

#[test]
fn addresses_that_the_loader_fills_in_are_taken_from_the_relocations() {
    for &magic in MAGICS {
        let mut data = table(magic);
        let places: &[u64] = match magic {
            0xffff_fffb => &[16, 16 + 3 * 16],
            0xffff_fffa => &[64, 64 + 3 * 16],
            _ => &[24],
        };
        let targets = [FUNCTIONS[0], FUNCTIONS[3]];
        for &place in places {
            let at = usize::try_from(32 + place).expect("small");
            data[at..at + 8].fill(0);
        }
        let mut image = image(".data.rel.ro", &data);
        image.go_symbols.push(mark(GO_TABLE, TABLE_AT));
        assert_eq!(covered(&image), Some(Covered::Unknown), "{magic:x}");
        let filled = places.iter().zip(targets);
        image.relocations = filled.map(|(place, to)| pointer(TABLE_AT + place, to)).collect();
        assert_eq!(covered(&image), Some(Covered::Ranges(vec![COVERED])), "{magic:x}");
    }
}

#[test]
fn symbols_of_the_code_count_beside_the_table_and_without_it() {
    let data = table(0xffff_fff1);
    let mut whole = image(".gopclntab", &data);
    let go_symbols = [mark(GO_TEXT, CODE + 0x80), mark(GO_TEXT_END, CODE + 0x300)];
    whole.go_symbols = go_symbols.to_vec();
    let by_marks = (CODE + 0x80, CODE + 0x300);
    assert_eq!(covered(&whole), Some(Covered::Ranges(vec![COVERED, by_marks])));
    let mut later_version = image(".gopclntab", &[0x11; 64]);
    later_version.go_symbols = go_symbols.to_vec();
    assert_eq!(covered(&later_version), Some(Covered::Ranges(vec![by_marks])));
}

#[test]
fn signs_of_go_without_a_table_that_can_be_read_covers_the_unknown() {
    for name in SECTIONS {
        assert_eq!(covered(&image(name, &[0x11; 64])), Some(Covered::Unknown), "{name}");
    }
    let mut marked = image(".rodata", &[]);
    marked.go_symbols = vec![mark(GO_TEXT, CODE)];
    assert_eq!(covered(&marked), Some(Covered::Unknown));
    assert_eq!(covered(&image(".rodata", &[0x11; 64])), None);
}

#[test]
fn a_damaged_table_is_none() {
    for &magic in MAGICS {
        let data = table(magic);
        for length in 0..data.len() {
            let found = covered(&image(".gopclntab", &data[..length]));
            let whole = found == Some(Covered::Ranges(vec![COVERED]));
            assert!(found == Some(Covered::Unknown) || whole && length + 8 >= data.len());
        }
        for at in 32..data.len() {
            for byte in [0, 0x7f, 0xff] {
                let mut data = data.clone();
                data[at] = byte;
                // An error, not a panic; and no range outside the code.
                if let Some(Covered::Ranges(ranges)) = covered(&image(".gopclntab", &data)) {
                    for (from, to) in ranges {
                        assert!(CODE <= from && from < to && to <= CODE + CODE_BYTES);
                    }
                }
            }
        }
    }
}
