//! An object file in memory that tells a debugger what lies in one layout: a symbol for each
//! function, and the FDEs for unwinding it.
//!
//! Sources: System V gABI (ELF64); DWARF 4, 6.4 (`.debug_frame`).

#![forbid(unsafe_code)]

use super::headers::{self, HEADER_BYTES, Kind, SECTION_BYTES, Section};
use super::needs::Needs;
use super::sink::{Part, Sink};
use super::source::{Addresses, Out, Places, SYMBOL_BYTES, Source};

const SECTIONS: usize = 6;

/// Names of the sections, and where each begins in them.
const SECTION_NAMES: &[u8] = b"\0.text\0.debug_frame\0.symtab\0.strtab\0.shstrtab\0";
const SECTION_NAMES_AT: [u32; SECTIONS] = [0, 1, 7, 20, 28, 36];

/// Where the parts of an object lie.
struct Parts {
    symbols: Part,
    frames: Part,
    strings: Part,
    names: Part,
}

impl Parts {
    fn of(needs: &Needs) -> Self {
        let mut end = HEADER_BYTES + SECTIONS * SECTION_BYTES;
        let mut part = |bytes: usize| {
            let offset = end.next_multiple_of(8);
            end = offset + bytes;
            Part { offset, bytes }
        };
        Self {
            symbols: part(SYMBOL_BYTES + needs.symbols_bytes),
            frames: part(needs.cies_bytes + needs.frames_bytes),
            strings: part(needs.strings_bytes),
            names: part(SECTION_NAMES.len()),
        }
    }
}

/// Bytes of an object.
pub fn bytes(needs: &Needs) -> usize {
    let names = Parts::of(needs).names;
    names.offset + names.bytes
}

/// Writes the object of a layout of `bytes` bytes at `start` to zeroed memory with room for it.
pub fn write(
    out: &mut [u8],
    source: &Source<'_>,
    needs: &Needs,
    places: &impl Places,
    (start, bytes): (u64, u64),
) {
    let parts = Parts::of(needs);
    headers(&mut Sink::new(out.get_mut(..)), &parts, (start, bytes));
    sink(out, parts.names).bytes(SECTION_NAMES);
    let mut strings = sink(out, parts.strings);
    strings.bytes(&[0]);
    strings.bytes(source.table.names());
    source.cies(&mut sink(out, parts.frames));
    // FDEs lie behind symbols.
    let (front, behind) = out.split_at_mut(parts.frames.offset + needs.cies_bytes);
    let mut out = Out {
        symbols: Sink::new(front.get_mut(parts.symbols.offset + SYMBOL_BYTES..)),
        frames: Sink::new(behind.get_mut(..needs.frames_bytes)),
        index: Sink::new(None),
    };
    let frames = needs.cies_bytes as u64;
    let at = Addresses { cies: 0, frames, index: 0, symbols_from: start };
    source.layout(places, &needs.cies, at, &mut out);
}

fn sink(out: &mut [u8], part: Part) -> Sink<'_> {
    Sink::new(out.get_mut(part.offset..part.offset + part.bytes))
}

fn headers(sink: &mut Sink<'_>, parts: &Parts, (start, bytes): (u64, u64)) {
    headers::file(sink, Kind::Object, 0, SECTIONS);
    sink.zeros(SECTION_BYTES);
    let section = |index: usize, kind: u32, part: Part| Section {
        name_at: SECTION_NAMES_AT[index],
        kind,
        part,
        ..Section::default()
    };
    // Allocated and executable, without bytes here: they are in memory.
    let text = section(1, 8, Part { offset: 0, bytes: bytes as usize });
    let symbols = section(3, 2, parts.symbols);
    for section in [
        Section { flags: 6, address: start, ..text },
        section(2, 1, parts.frames),
        Section { link_and_info: [4, 1], entry_bytes: SYMBOL_BYTES, ..symbols },
        section(4, 3, parts.strings),
        section(5, 3, parts.names),
    ] {
        section.write(sink);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use szc_abi::unwind::EhFrame;
    use szc_abi::{Header, Movable, PATCHABLE_ENTRY_BYTES};
    use szc_layout::slot;

    const START: u64 = 0x7000;

    /// Bodies lie 0x100 apart.
    struct Apart;

    impl Places for Apart {
        fn function(&self, position: u32) -> u32 {
            position
        }
        fn body(&self, function: u32) -> u64 {
            START + 0x108 + u64::from(function) * 0x100
        }
        fn full_check(&self, _: u32) -> u64 {
            0
        }
        fn clone(&self, _: u32) -> u64 {
            0
        }
        fn stub(&self, function: u32) -> u64 {
            START + 0xff0 - 0x10 * u64::from(function)
        }
        fn pad(&self, _: u32) -> u32 {
            0
        }
    }

    /// A table of functions with these places, sizes and names.
    fn table_of(functions: [(u32, u32, &str); 2]) -> Vec<u8> {
        let (mut records, mut names) = (Vec::new(), Vec::new());
        for (start, size, name) in functions {
            let name_at = names.len() as u32;
            records.extend(Movable { start, size, name_at, ..Movable::default() }.encode());
            names.extend(name.bytes().chain([0]));
        }
        let names_offset = Header::BYTES as u32 + records.len() as u32;
        let header = Header {
            total_bytes: names_offset + names.len() as u32,
            movable_count: 2,
            movable_offset: Header::BYTES as u32,
            names_offset,
            names_bytes: names.len() as u32,
            ..Header::default()
        };
        [&header.encode()[..], &records, &names].concat()
    }

    #[test]
    fn an_object_names_its_functions_and_unwinds_them() {
        let file = std::fs::read("/proc/self/exe").unwrap();
        let original = an_object_names_its_functions_and_unwinds_them as *const () as usize;
        // A test is linked as if it were loaded at 0.
        let start = (original - szc_sys::arch::image_base()) as u32;
        let table = table_of([(start, 40, "first"), (1, 16, "second")]);
        let table = szc_abi::Table::parse(&table).unwrap();
        let (frames, unwind) = (slot::Frames::AsBuilt, EhFrame::parse(&file));
        let source = Source { table: &table, frames, unwind, for_debugger: true };
        let needs = Needs::of(&source);
        let mut object = vec![0; bytes(&needs)];
        write(&mut object, &source, &needs, &Apart, (START, 0x1000));

        let path = std::env::temp_dir().join(format!("szc-object-{}.o", std::process::id()));
        std::fs::write(&path, &object).unwrap();
        let text = |option: &str| {
            let output = std::process::Command::new("readelf")
                .args(["-W", option])
                .arg(&path)
                .output()
                .unwrap();
            assert!(output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
            String::from_utf8(output.stdout).unwrap()
        };
        let symbols = text("-s");
        assert!(symbols.contains("0000000000000108    40 FUNC") && symbols.contains("first"));
        assert!(symbols.contains("0000000000000208    16 FUNC") && symbols.contains("second"));
        let rules = text("--debug-dump=frames");
        let covers = "pc=0000000000007100..0000000000007130";
        assert_eq!(PATCHABLE_ENTRY_BYTES, 8);
        assert!(rules.contains(covers) && rules.contains("DW_CFA_advance_loc: 8"), "{rules}");
        assert!(rules.contains("pc=0000000000007fe0..0000000000007ff0"), "{rules}");
        std::fs::remove_file(&path).unwrap();
    }
}
