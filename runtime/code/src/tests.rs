//! An image of two functions, made for these tests, from its first layout to its end.

use crate::alias::Form;
use crate::arena::Unavailable;
use crate::budget::{Budget, Reclaim};
use crate::code::Code;
use crate::entry_jumps::take_over;
use crate::image_file::FileRoom;
use crate::loaded_image::LoadedImage;
use crate::refused::Refused;
use crate::resolver::Caller;
use crate::setup::{Audience, Request, prepare};
use crate::side_memory::SideMemory;
use crate::table;
use std::ffi::CString;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use szc_abi::{FieldKind, Header, MAX_VARINT_BYTES, Movable, TABLE_SECTION, digest, encode_varint};
use szc_layout::rng::Seeds;
use szc_layout::slot::{CopyShape, Frames, Order, Patching};
use szc_sys::os::{File, Mapping, OPEN_READ, PAGE_BYTES};

/// `lea 1(%rdi), %eax; ret`
const ADD_ONE: [u8; 16] = {
    let mut code = [0xcc; 16];
    (code[0], code[1], code[2], code[3]) = (0x8d, 0x47, 0x01, 0xc3);
    code
};

/// `sub $8, %rsp; call ADD_ONE; add $5, %eax; add $8, %rsp; ret`; the call's field is at 5.
const ADD_SIX: [u8; 32] = {
    let mut code = [0xcc; 32];
    let bytes = [
        0x48, 0x83, 0xec, 8, 0xe8, 0xe7, 0xff, 0xff, 0xff, 0x83, 0xc0, 5, 0x48, 0x83, 0xc4, 8, 0xc3,
    ];
    let mut at = 0;
    while at < bytes.len() {
        code[at] = bytes[at];
        at += 1;
    }
    code
};

/// Where the code is in the image, and the table in the file.
const CODE_AT: usize = PAGE_BYTES;
const TABLE_AT: usize = 2 * PAGE_BYTES;

fn table_bytes() -> Vec<u8> {
    let (tag, operands) = FieldKind::Function { function: 0, offset: 0 }.encode();
    // No field and no table; one field, at 5, and no table.
    let mut fields = Vec::new();
    for number in [0, 0, 1, 5 << 3 | tag, operands[0].unwrap(), 0] {
        let mut bytes = [0; MAX_VARINT_BYTES];
        let count = encode_varint(number, &mut bytes);
        fields.extend(&bytes[..count]);
    }
    let names = b"add_one\0add_six\0";
    let start = CODE_AT as u32;
    let function = |index: u32, start: u32, size: u32| Movable {
        start,
        size,
        fields_at: 2 * index,
        name_at: 8 * index,
        unit_next: index,
        ..Movable::default()
    };
    let movable = [function(0, start, 16), function(1, start + 16, 32)];
    let fields_offset = (Header::BYTES + 2 * Movable::BYTES) as u32;
    let names_offset = fields_offset + fields.len() as u32;
    let header = Header {
        total_bytes: names_offset + names.len() as u32,
        movable_count: 2,
        movable_offset: Header::BYTES as u32,
        fields_offset,
        fields_bytes: fields.len() as u32,
        names_offset,
        names_bytes: names.len() as u32,
        field_count: 1,
        ..Header::default()
    };
    let records = movable.map(|function| function.encode()).concat();
    let mut table = [&header.encode()[..], &records, &fields, names].concat();
    table.extend(digest(&table).to_le_bytes());
    table
}

/// The bytes of the image's file: a header, a segment of two pages, and a section with the table.
fn file_bytes() -> Vec<u8> {
    let (table, mut file) = (table_bytes(), vec![0; TABLE_AT]);
    let put = |file: &mut Vec<u8>, at: usize, bytes: &[u8]| {
        file[at..at + bytes.len()].copy_from_slice(bytes);
    };
    put(&mut file, CODE_AT, &ADD_ONE);
    put(&mut file, CODE_AT + 16, &ADD_SIX);
    file.extend(&table);
    let names_at = file.len();
    file.push(0);
    file.extend(TABLE_SECTION.as_bytes());
    file.push(0);
    let sections_at = file.len();
    // None, the table, and the names: kind 1 and 3.
    let section = |name: u32, kind: u32, offset: usize, bytes: usize| {
        let mut header = [0; 64];
        header[..4].copy_from_slice(&name.to_le_bytes());
        header[4..8].copy_from_slice(&kind.to_le_bytes());
        header[24..32].copy_from_slice(&(offset as u64).to_le_bytes());
        header[32..40].copy_from_slice(&(bytes as u64).to_le_bytes());
        header
    };
    file.extend([0; 64]);
    file.extend(section(1, 1, TABLE_AT, table.len()));
    file.extend(section(0, 3, names_at, sections_at - names_at));
    put(&mut file, 0, b"\x7fELF\x02\x01\x01");
    put(&mut file, 0x20, &64u64.to_le_bytes());
    put(&mut file, 0x28, &(sections_at as u64).to_le_bytes());
    for (at, half) in [(0x36, 56u16), (0x38, 1), (0x3a, 64), (0x3c, 3), (0x3e, 2)] {
        put(&mut file, at, &half.to_le_bytes());
    }
    // Loaded, readable and executable, from the file's start on.
    put(&mut file, 64, &[1u32.to_le_bytes(), 5u32.to_le_bytes()].concat());
    for at in [96, 104] {
        put(&mut file, at, &(TABLE_AT as u64).to_le_bytes());
    }
    file
}

/// An image in memory and in its file, which go with it.
struct TestImage {
    path: PathBuf,
    file: CString,
    mapping: Mapping,
}

impl TestImage {
    fn new() -> Self {
        static NUMBER: AtomicUsize = AtomicUsize::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let name = format!("szc-code-{}-{number}", std::process::id());
        let path = std::env::temp_dir().join(name);
        std::fs::write(&path, file_bytes()).unwrap();
        let file = CString::new(path.as_os_str().as_bytes()).unwrap();
        let opened = File::open(&file, OPEN_READ).unwrap();
        // SAFETY: nothing existing is touched, and what is new is the owner's.
        let mapping = unsafe {
            let start = szc_sys::os::map(0, TABLE_AT, 5, 2, opened.descriptor(), 0).unwrap();
            Mapping::from_raw(start, TABLE_AT)
        };
        Self { path, file, mapping }
    }

    fn begin(
        &self,
        patching: Patching,
        budget: impl FnMut(Option<Unavailable>) -> Option<Budget>,
    ) -> Result<Code, Refused> {
        // SAFETY: an image with its headers.
        let loaded = unsafe { LoadedImage::at(self.mapping.start() as usize) }.unwrap();
        let audience =
            Audience { form: Form::Plain, file_room: FileRoom::default(), is_exported: false };
        let request = Request {
            loaded,
            file: &self.file,
            table: table::map_library(&self.file, digest(&table_bytes())).unwrap(),
            seeds: Seeds { code: 7, stack: 7 },
            shape: CopyShape {
                order: Order::Random,
                frames: Frames::AsBuilt,
                patching,
                held: [None; 2],
                held_frame: None,
                notes_calls: false,
                injected: None,
            },
            audience,
            side_memory: SideMemory::Alike { count: 2, bytes: 24 },
            resolver: 0,
            stub_pattern: 0,
        };
        // SAFETY: only this test knows of the image.
        unsafe { prepare(request, budget) }
    }

    /// What the original of the second function returns, with all entries resolved.
    fn call(&self, code: &mut Code, argument: i32) -> i32 {
        for function in 0..2 {
            let stub = code.current().stub(function);
            let entry = code.current().entry(function);
            assert_eq!(code.resolve(stub, &NoStack), Some(entry));
        }
        let original = self.mapping.start() as usize + CODE_AT + 16;
        // SAFETY: a function of that type, whose entries need no resolver now.
        unsafe {
            let function: extern "C" fn(i32) -> i32 = std::mem::transmute(original);
            function(argument)
        }
    }
}

impl Drop for TestImage {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.path);
    }
}

/// A caller of whose stack nothing is known.
struct NoStack;

impl Caller for NoStack {
    fn has_pad_reserve(&self) -> bool {
        false
    }
    fn return_address(&self) -> Option<usize> {
        None
    }
    fn frame(&self) -> usize {
        0
    }
}

fn of(bytes: usize) -> impl FnMut(Option<Unavailable>) -> Option<Budget> {
    move |refused| refused.is_none().then_some(Budget::of(bytes, Reclaim::Stress))
}

#[test]
fn calls_go_through_copies_in_one_epoch_after_another() {
    let image = TestImage::new();
    let mut code = image.begin(Patching::NoOps, of(1 << 20)).ok().unwrap();
    // SAFETY: only this test knows of the image.
    unsafe { take_over(code.image()) }.unwrap();
    let (mut places, mut bodies) = (Vec::new(), Vec::new());
    for epoch in 0..6 {
        assert_eq!(image.call(&mut code, epoch), epoch + 6);
        places.push(code.current().drawn.place());
        bodies.push(code.current().body(1));
        let plan = code.plan().unwrap();
        // SAFETY: the only plan.
        let prepared = unsafe { plan.prepare() }.unwrap();
        code.publish(&prepared);
        // Nobody is inside an older layout.
        assert!(code.begin_cycle(false).is_some());
        code.end_cycle();
        while let Some(unreachable) = code.unreachable() {
            unreachable.poison();
            code.free(&unreachable);
        }
    }
    assert_eq!((code.counts().epochs, code.counts().freed), (6, 6));
    assert!(places.iter().max() < Some(&3), "{places:?}");
    bodies.dedup();
    assert_eq!(bodies.len(), 6);
}

#[test]
fn an_old_layout_forwards_to_the_current_one_until_that_changes() {
    let image = TestImage::new();
    let mut code = image.begin(Patching::NoOps, of(1 << 20)).ok().unwrap();
    let old = code.space().clone();
    let first = code.current().drawn.place();
    let next = |code: &mut Code| {
        let plan = code.plan().unwrap();
        // SAFETY: the only plan.
        let prepared = unsafe { plan.prepare() }.unwrap();
        code.publish(&prepared);
    };
    for _ in 0..3 {
        next(&mut code);
        let old = old.layout(first);
        assert_eq!(code.resolve(old.stub(0), &NoStack), Some(code.current().entry(0)));
        let jump = old.arena.load(old.entry(0));
        // jmp rel32 from the no-op to the current entry.
        assert_eq!(jump & 0xff, 0xe9);
        let distance = (jump >> 8) as u32;
        let target = (old.entry(0) + 5).wrapping_add_signed(distance.cast_signed() as isize);
        assert_eq!(target, code.current().entry(0));
    }
}

#[test]
fn what_ends_or_is_refused_leaves_its_addresses_to_others() {
    let image = TestImage::new();
    // Two arenas of this size have no room within reach of an image.
    for _ in 0..5 {
        let code = image.begin(Patching::Bodies, of(1 << 30)).ok().unwrap();
        assert!(code.arena_bytes() > 1023 << 20);
        drop(code);
    }
    let refused = image.begin(Patching::Bodies, of(4096)).err();
    assert_eq!(refused, Some(Refused::Arena(Unavailable::Budget)));
    // A second budget, because the first one was too small.
    let mut asked = Vec::new();
    let code = image.begin(Patching::Bodies, |refused| {
        asked.push(refused);
        Some(Budget::of(if refused.is_none() { 4096 } else { 1 << 20 }, Reclaim::Off))
    });
    assert!(code.is_ok());
    assert_eq!(asked, [None, Some(Unavailable::Budget)]);
}
