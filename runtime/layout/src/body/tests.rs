//! Bodies and FDEs, compared byte by byte with what they are to be.

use super::*;
use szc_abi::{Header, MAX_VARINT_BYTES, encode_varint};

/// Takes words, each of which may come once.
#[derive(Default)]
struct Once {
    words: Vec<u64>,
}

impl Out for &mut Once {
    fn put(&mut self, at: usize, word: u64) {
        assert_eq!(at, self.words.len() * WORD_BYTES, "words ascend, and none comes twice");
        self.words.push(word);
    }
}

impl Once {
    fn bytes(&self) -> Vec<u8> {
        self.words.iter().flat_map(|word| word.to_le_bytes()).collect()
    }
}

/// A function lies at 0x1000 times its index, its inner entry 0x10 behind that.
struct Far;

impl Targets for Far {
    fn function(&self, function: u32, offset: u32) -> usize {
        0x70_0000 + 0x1000 * function as usize + offset as usize
    }
    fn inner(&self, function: u32) -> usize {
        self.function(function, 0x10)
    }
    fn image(&self, offset: u32) -> usize {
        0x40_0000 + offset as usize
    }
}

const ORIGINAL: usize = 0x40_2000;
const START: usize = 0x71_0040;

/// A table of one function with this stream.
fn table_of(function: &Movable, stream: &[u32], fde: &[u8]) -> Vec<u8> {
    let mut fields = Vec::new();
    for &number in stream {
        let mut bytes = [0; MAX_VARINT_BYTES];
        let count = encode_varint(number, &mut bytes);
        fields.extend(&bytes[..count]);
    }
    fields.extend(fde);
    let movable_offset = Header::BYTES as u32;
    let fields_offset = movable_offset + Movable::BYTES as u32;
    let header = Header {
        total_bytes: fields_offset + fields.len() as u32,
        movable_count: 1,
        movable_offset,
        fields_offset,
        fields_bytes: fields.len() as u32,
        ..Header::default()
    };
    [&header.encode()[..], &function.encode(), &fields].concat()
}

/// The numbers that stand for fields.
fn stream_of(fields: &[(u32, FieldKind)]) -> Vec<u32> {
    let (mut numbers, mut last) = (vec![fields.len() as u32], 0);
    for &(at, kind) in fields {
        let (tag, operands) = kind.encode();
        numbers.push((at - last) << 3 | tag);
        numbers.extend(operands.into_iter().flatten());
        last = at;
    }
    numbers
}

fn code(bytes: usize) -> Vec<u8> {
    (0..bytes).map(|byte| byte as u8 ^ 0x5a).collect()
}

/// The bytes of a copy of `function`, whose original has these.
fn written(function: &Movable, table: &[u8], original: &[u8], pad: Option<u32>) -> Vec<u8> {
    let first = u64::from_le_bytes(*original.first_chunk().unwrap_or(&[0x77; 8]));
    let mut overwritten = original.to_vec();
    overwritten[..8.min(original.len())].fill(0xee);
    let table = Table::parse(table).unwrap();
    let sites = |pad| (pad, frame_of(&table, function).unwrap().sites);
    let body = Body {
        function,
        index: 7,
        source: Source::beginning_with(first, &overwritten),
        original: ORIGINAL,
        start: START,
        pad: pad.map(sites),
        entry: (0, 0),
    };
    let mut out = Once::default();
    write_body(&table, &body, &Far, &mut out).unwrap();
    out.bytes()
}

fn put(bytes: &mut [u8], at: usize, value: u32) {
    bytes[at..at + 4].copy_from_slice(&value.to_le_bytes());
}

/// The displacement of a field at an offset of the copy.
fn to(at: usize, target: usize) -> u32 {
    target.wrapping_sub(START + at + 4) as u32
}

#[test]
fn every_kind_of_field_leads_where_it_is_to_lead() {
    // Each lies otherwise across the ends of words.
    let fields = [
        (1, FieldKind::Fixed),
        (6, FieldKind::Function { function: 3, offset: 0 }),
        (13, FieldKind::Function { function: 3, offset: 0x20 }),
        (17, FieldKind::Function { function: 7, offset: 5 }),
        (23, FieldKind::Inner(2)),
        (28, FieldKind::TableRelative32(1)),
        (35, FieldKind::TableAbsolute32(0)),
        (39, FieldKind::TableAbsolute64(1)),
        (47, FieldKind::TableRelative32(0)),
        (51, FieldKind::Fixed),
    ];
    let mut stream = stream_of(&fields);
    // Three distances, and two addresses.
    let targets = [TableTarget::Image(9), TableTarget::Function { function: 7, offset: 4 }];
    let numbers = targets.map(TableTarget::encode);
    stream.extend([2, 3 << 1, numbers[0].0, numbers[1].0, numbers[1].1.unwrap(), numbers[0].0]);
    stream.extend([2 << 1 | 1, numbers[0].0, numbers[1].0, numbers[1].1.unwrap()]);
    for size in [55, 56, 57, 63, 64] {
        let function = Movable { size, tables_bytes: 32, ..Movable::default() };
        let table = table_of(&function, &stream, &[]);
        Table::parse(&table).unwrap().validate().unwrap_err(); // there are no functions 2 and 3
        let original = code(size as usize);
        let tables_at = (size as usize).next_multiple_of(8);
        let mut expected = original.clone();
        let moved = (START - ORIGINAL) as u32;
        for at in [1, 51] {
            let old = u32::from_le_bytes(*original[at..].first_chunk().unwrap());
            put(&mut expected, at, old.wrapping_sub(moved));
        }
        put(&mut expected, 6, to(6, 0x70_3000));
        put(&mut expected, 13, to(13, 0x70_3020));
        put(&mut expected, 17, to(17, START + 5));
        put(&mut expected, 23, to(23, 0x70_2000));
        put(&mut expected, 28, to(28, START + tables_at + 16));
        put(&mut expected, 35, (START + tables_at) as u32);
        put(&mut expected, 39, (START + tables_at + 16) as u32);
        put(&mut expected, 43, 0);
        put(&mut expected, 47, to(47, START + tables_at));
        expected.resize(tables_at, 0xcc);
        let first = (START + tables_at) as u32;
        let distances = [0x40_0009, (START + 4) as u32, 0x40_0009];
        expected.extend(distances.iter().flat_map(|at| at.wrapping_sub(first).to_le_bytes()));
        expected.extend([0xcc; 4]);
        expected.extend([0x40_0009, START as u64 + 4].iter().flat_map(|at| at.to_le_bytes()));
        assert_eq!(written(&function, &table, &original, None), expected, "{size}");
    }
}

#[test]
fn a_frame_grows_wherever_it_is_taken_and_given_back() {
    let sites = [2u32, 14, 29, 36];
    let fields = [(8, FieldKind::Fixed), (20, FieldKind::Inner(4))];
    let mut stream = stream_of(&fields);
    stream.extend([0, sites.len() as u32, sites[0]]);
    stream.extend(sites.windows(2).map(|sites| sites[1] - sites[0]));
    let function = Movable { size: 40, flags: Movable::FLAG_FRAME, ..Movable::default() };
    let table = table_of(&function, &stream, &[]);
    let original = code(40);
    let old = |at: usize| u32::from_le_bytes(*original[at..].first_chunk().unwrap());
    let mut expected = original.clone();
    put(&mut expected, 8, old(8).wrapping_sub((START - ORIGINAL) as u32));
    put(&mut expected, 20, to(20, 0x70_4000));
    assert_eq!(written(&function, &table, &original, None), expected);
    for site in sites {
        put(&mut expected, site as usize, old(site as usize).wrapping_add(208));
    }
    // The other function's frame needs no check then.
    put(&mut expected, 20, to(20, 0x70_4010));
    assert_eq!(written(&function, &table, &original, Some(208)), expected);
}

#[test]
fn short_bodies_end_in_traps_and_begin_as_their_entry_is() {
    for size in [6, 7, 8, 9, 15, 16, 17] {
        let function = Movable { size, ..Movable::default() };
        let table = table_of(&function, &[0, 0], &[]);
        let original = code(size as usize);
        let mut first = [0x77; 8];
        let saved = original.len().min(8);
        first[..saved].copy_from_slice(&original[..saved]);
        let (unresolved, mask) = (0x00_11_22_33_44, 0xff_ff_00);
        let body = Body {
            function: &function,
            index: 0,
            source: Source::beginning_with(u64::from_le_bytes(first), &original),
            original: ORIGINAL,
            start: START,
            pad: None,
            entry: (unresolved, mask),
        };
        let mut out = Once::default();
        write_body(&Table::parse(&table).unwrap(), &body, &Far, &mut out).unwrap();
        let mut expected = original.clone();
        expected[1..3].copy_from_slice(&[0x33, 0x22]);
        expected.resize((size as usize).next_multiple_of(8), 0xcc);
        assert_eq!(out.bytes(), expected, "{size}");
    }
}

#[test]
fn an_fde_has_the_place_and_the_frame_of_its_body() {
    let mut bytes = code(40);
    let offsets = [21u32, 29, 34];
    for (at, offset) in offsets.into_iter().zip([16, 300, 8]) {
        bytes[at as usize..at as usize + 3].copy_from_slice(&put_offset(offset));
    }
    // No fields, no tables, no sites; CIE at 0x80, LSDA at 17 means 0x900, offsets.
    let mut stream = vec![0, 0, 0, 0x80, 17, 0x900, 3, offsets[0]];
    stream.extend(offsets.windows(2).map(|offsets| offsets[1] - offsets[0]));
    let flags = Movable::FLAG_FRAME;
    let function = Movable { size: 40, fde_bytes: 40, flags, ..Movable::default() };
    let table = table_of(&function, &stream, &bytes);
    let frame = frame_of(&Table::parse(&table).unwrap(), &function).unwrap();
    let (at, mut out) = (0x70_8008, Once::default());
    write_fde(&frame.fde.unwrap(), (at, START), 512, |offset| Far.image(offset), &mut out);
    let mut expected = bytes.clone();
    put(&mut expected, 4, (at + 4 - 0x40_0080) as u32);
    put(&mut expected, 8, (START - (at + 8)) as u32);
    put(&mut expected, 17, 0x40_0900u32.wrapping_sub((at + 17) as u32));
    for (at, offset) in offsets.into_iter().zip([528, 812, 520]) {
        expected[at as usize..at as usize + 3].copy_from_slice(&put_offset(offset));
    }
    assert_eq!(out.bytes(), expected);
}
