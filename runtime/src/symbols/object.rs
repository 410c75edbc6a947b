//! An object file in memory that tells a debugger what lies in one layout: a symbol for each
//! function, and the rules for unwinding it.
//!
//! A template is made once for an image; for each layout it is copied and the addresses are filled
//! in. Sources: System V gABI (ELF64); DWARF 4, 6.4 (`.debug_frame`).

#![forbid(unsafe_code)]

use super::sink::{Part, Sink};
use szc_abi::SLOT_HEAD_BYTES;
use szc_abi::unwind::{Common, Frame, Frames};

/// What the object needs to know of a function.
#[derive(Clone, Copy)]
pub struct Function<'a> {
    /// Its name in the image's symbol table.
    pub name: &'a [u8],
    /// Link address of the original.
    pub start: u64,
    /// Bytes of its body.
    pub bytes: u64,
}

/// Where the parts of an object lie: offsets and sizes in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Outline {
    symbols: Part,
    frames: Part,
    strings: Part,
    names: Part,
    /// Bytes of the object.
    pub bytes: usize,
}

const HEADER_BYTES: usize = 64;
const SECTION_BYTES: usize = 64;
const SECTIONS: usize = 6;
const SYMBOL_BYTES: usize = 24;
/// The section that stands for the layout is the first behind the null section.
const TEXT: u16 = 1;
const TEXT_HEADER: usize = HEADER_BYTES + SECTION_BYTES;

/// Names of the sections, and where each begins in them.
const SECTION_NAMES: &[u8] = b"\0.text\0.debug_frame\0.symtab\0.strtab\0.shstrtab\0";
const SECTION_NAMES_AT: [u32; SECTIONS] = [0, 1, 7, 20, 28, 36];

/// `id` of a CIE in `.debug_frame`.
const COMMON_ID: u32 = u32::MAX;

/// `DW_CFA_advance_loc` over the head, which is one instruction that leaves the stack alone.
const OVER_HEAD: u8 = 0x40 | SLOT_HEAD_BYTES as u8;

/// Bytes and outline of the template for `count` functions, which `function` describes.
///
/// Without `out` only the outline is made; an `out` must have room for all of it, and `outline` be
/// that of the first call.
pub fn template<'a>(
    out: Option<&mut [u8]>,
    outline: &Outline,
    count: u32,
    function: impl Fn(u32) -> Function<'a>,
    frames: Option<&Frames<'_>>,
) -> Outline {
    let mut sink = Sink::new(out);
    header(&mut sink, outline);
    let mut made = Outline { symbols: sink.begin(), ..Outline::default() };
    sink.zeros(SYMBOL_BYTES);
    let mut name_at = 1;
    for index in 0..count {
        let function = function(index);
        sink.u32(name_at);
        sink.bytes(&[1 << 4 | 2, 0]); // a global function
        sink.u16(TEXT);
        sink.u64(u64::from(index)); // its address in a layout takes this place
        sink.u64(function.bytes);
        name_at += function.name.len() as u32 + 1;
    }
    sink.end(&mut made.symbols);
    made.frames = sink.begin();
    if let Some(frames) = frames {
        all_frames(&mut sink, made.frames.offset, count, &function, frames);
    }
    sink.end(&mut made.frames);
    made.strings = sink.begin();
    sink.bytes(&[0]);
    for index in 0..count {
        sink.bytes(function(index).name);
        sink.bytes(&[0]);
    }
    sink.end(&mut made.strings);
    made.names = sink.begin();
    sink.bytes(SECTION_NAMES);
    sink.end(&mut made.names);
    made.bytes = sink.at;
    made
}

/// Fills in the addresses of a layout at `start`, of `bytes` bytes; `body` gives the address of a
/// function's body.
pub fn fill_in(
    object: &mut [u8],
    outline: &Outline,
    start: u64,
    bytes: u64,
    body: impl Fn(u32) -> u64,
) {
    put(object, TEXT_HEADER + 16, start);
    put(object, TEXT_HEADER + 32, bytes);
    let mut at = outline.symbols.offset + SYMBOL_BYTES;
    while at < outline.symbols.offset + outline.symbols.bytes {
        let Some(index) = word(object, at + 8) else { return };
        put(object, at + 8, body(index as u32) - start);
        at += SYMBOL_BYTES;
    }
    let mut at = outline.frames.offset;
    while at < outline.frames.offset + outline.frames.bytes {
        let Some(first) = word(object, at) else { return };
        let (length, id) = (first as u32, (first >> 32) as u32);
        if id != COMMON_ID {
            let Some(place) = word(object, at + 8) else { return };
            let (index, inside) = (place as u32, place >> 32);
            let head = if inside == 0 { u64::from(SLOT_HEAD_BYTES) } else { 0 };
            put(object, at + 8, body(index) + inside - head);
        }
        at += 4 + length as usize;
    }
}

fn header(sink: &mut Sink<'_>, outline: &Outline) {
    sink.bytes(b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0"); // 64 bits, little-endian
    sink.u16(1); // an object file
    sink.u16(62); // x86-64
    sink.u32(1);
    sink.u64(0);
    sink.u64(0);
    sink.u64(HEADER_BYTES as u64);
    sink.u32(0);
    for half in [HEADER_BYTES, 0, 0, SECTION_BYTES, SECTIONS, SECTIONS - 1] {
        sink.u16(half as u16);
    }
    sink.zeros(SECTION_BYTES);
    // Allocated and executable, without bytes here: they are in memory.
    section(sink, TEXT as usize, 8, 6, Part::default(), [0, 0], 16, 0);
    section(sink, 2, 1, 0, outline.frames, [0, 0], 8, 0);
    section(sink, 3, 2, 0, outline.symbols, [4, 1], 8, SYMBOL_BYTES);
    section(sink, 4, 3, 0, outline.strings, [0, 0], 1, 0);
    section(sink, 5, 3, 0, outline.names, [0, 0], 1, 0);
}

#[allow(clippy::too_many_arguments, reason = "the fields of a section header, in their order")]
fn section(
    sink: &mut Sink<'_>,
    index: usize,
    kind: u32,
    flags: u64,
    part: Part,
    link_and_info: [u32; 2],
    alignment: u64,
    entry_bytes: usize,
) {
    sink.u32(SECTION_NAMES_AT[index]);
    sink.u32(kind);
    sink.u64(flags);
    sink.u64(0); // address
    sink.u64(part.offset as u64);
    sink.u64(part.bytes as u64);
    sink.u32(link_and_info[0]);
    sink.u32(link_and_info[1]);
    sink.u64(alignment);
    sink.u64(entry_bytes as u64);
}

fn all_frames<'a>(
    sink: &mut Sink<'_>,
    section: usize,
    count: u32,
    function: &impl Fn(u32) -> Function<'a>,
    frames: &Frames<'_>,
) {
    let mut last: Option<(u64, usize)> = None;
    for index in 0..count {
        let Function { start, bytes, .. } = function(index);
        frames.for_each(start, start + bytes, |frame| {
            let common_at = match last {
                Some((address, at)) if address == frame.common.address => at,
                _ => {
                    let at = sink.at - section;
                    common(sink, &frame.common);
                    last = Some((frame.common.address, at));
                    at
                }
            };
            let inside = frame.start - start;
            let covered = frame.bytes.min(bytes - inside);
            one_frame(sink, common_at as u32, index, inside as u32, covered, frame);
        });
    }
}

fn common(sink: &mut Sink<'_>, common: &Common<'_>) {
    sink.entry(|sink| {
        sink.u32(COMMON_ID);
        sink.bytes(&[1, 0]); // version; nothing added
        sink.bytes(&[1]); // code alignment
        sink.signed(common.data_alignment);
        sink.bytes(&[common.return_column]);
        sink.bytes(common.instructions);
    });
}

fn one_frame(
    sink: &mut Sink<'_>,
    common_at: u32,
    function: u32,
    inside: u32,
    bytes: u64,
    frame: &Frame<'_>,
) {
    sink.entry(|sink| {
        sink.u32(common_at);
        // The address in a layout takes the place of these two.
        sink.u32(function);
        sink.u32(inside);
        if inside == 0 {
            sink.u64(bytes + u64::from(SLOT_HEAD_BYTES));
            sink.bytes(&[OVER_HEAD]);
        } else {
            sink.u64(bytes);
        }
        sink.bytes(frame.instructions);
    });
}

fn word(object: &[u8], at: usize) -> Option<u64> {
    object.get(at..)?.first_chunk().map(|bytes| u64::from_le_bytes(*bytes))
}

fn put(object: &mut [u8], at: usize, value: u64) {
    if let Some(bytes) = object.get_mut(at..at + 8) {
        bytes.copy_from_slice(&value.to_le_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_object_names_its_functions_and_unwinds_them() {
        let file = std::fs::read("/proc/self/exe").unwrap();
        let frames = Frames::parse(&file).unwrap();
        let original = an_object_names_its_functions_and_unwinds_them as *const () as u64;
        // A test is linked as if it were loaded at 0.
        let base = crate::arch::image_base() as u64;
        let start = original - base;
        let function = |index: u32| match index {
            0 => Function { name: b"first", start, bytes: 40 },
            _ => Function { name: b"second", start: 1, bytes: 16 },
        };
        let outline = template(None, &Outline::default(), 2, function, Some(&frames));
        let mut bytes = vec![0xaa; outline.bytes];
        let again = template(Some(&mut bytes), &outline, 2, function, Some(&frames));
        assert_eq!(outline, again);
        fill_in(&mut bytes, &outline, 0x7000, 0x1000, |index| 0x7108 + u64::from(index) * 0x100);

        let path = std::env::temp_dir().join(format!("szc-object-{}.o", std::process::id()));
        std::fs::write(&path, &bytes).unwrap();
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
        assert!(rules.contains(covers) && rules.contains("DW_CFA_advance_loc: 8"), "{rules}");
        std::fs::remove_file(&path).unwrap();
    }
}
