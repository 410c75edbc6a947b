//! The relocation table: each reason to stay, provoked; and images that are damaged in any way,
//! which give an error or a table, but never a panic and never a loop without end.

mod unexplained;

use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use szc::inspect::Report;
use szc_abi::{Malformed, RUNTIME_CRATES, Reason, TABLE_SECTION, Table};
use szc_table::decide::decide;
use szc_table::decision::Decision;
use szc_table::frame::PreparedFrames;
use szc_table::pins::Policy;
use szc_table::read::Image;
use szc_table::references::References;
use szc_table::write;
use szc_tests::tools::{Place, szc};

/// How `table/reasons.s` is linked: one section far away, the others where programs lie.
const REASONS: &[&str] = &[
    "-nostdlib",
    "-no-pie",
    "-Wl,-Ttext=0x400000",
    "-Wl,--section-start=.init=0x600000",
    "-Wl,--section-start=.far=0x50000000",
];

fn program(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("programs").join(name)
}

fn args(sources: &[&str], args: &[&str]) -> Vec<String> {
    let sources = sources.iter().map(|name| program(name).display().to_string());
    sources.chain(args.iter().map(|word| (*word).to_owned())).collect()
}

/// Makes an image as the linker leaves it, with its relocations.
fn link_in(place: &Place, sources: &[&str], options: &[&str]) {
    let fixed = ["-fuse-ld=lld", "-Wl,--emit-relocs", "-o", "image"];
    place.run("clang-22", &args(sources, &[options, &fixed].concat()));
}

/// Such an image.
fn linked(sources: &[&str], options: &[&str]) -> Vec<u8> {
    let place = Place::new();
    link_in(&place, sources, options);
    place.read("image")
}

/// An image as szc finishes it.
fn finished(sources: &[&str], options: &[&str]) -> Vec<u8> {
    let place = Place::new();
    place.run(szc(), &args(sources, &[options, &["-o", "image"]].concat()));
    place.read("image")
}

/// What is decided without regard to frames.
fn decided(image: &Image<'_>, policy: &Policy) -> Decision {
    decide(image, &References::of(image), PreparedFrames::new(), policy)
}

/// What was decided for each name; none for a function that moves.
fn by_name(decision: &Decision) -> BTreeMap<String, Option<Reason>> {
    let text = |name: &[u8]| String::from_utf8_lossy(name).into_owned();
    let movable = decision.movable.iter().map(|function| (text(&function.name), None));
    let pinned =
        decision.pinned.iter().map(|function| (text(&function.name), Some(function.reason)));
    movable.chain(pinned).collect()
}

#[test]
fn a_function_stays_for_the_reason_that_it_gives_and_otherwise_moves() {
    for kind in ["-no-pie", "-pie"] {
        let mut options = [REASONS, &[kind]].concat();
        if kind == "-pie" {
            options.push("-Wl,-z,notext");
        }
        let data = linked(&["table/reasons.s"], &options);
        let image = Image::parse(&data).expect("an image");
        let found = by_name(&decided(&image, &Policy::default()));
        let mut provoked = Vec::new();
        for (name, found) in &found {
            let wanted = if name == "_start" {
                Some(Reason::EntryPoint)
            } else {
                let (prefix, _) = name.split_once("__").expect("every name has a prefix");
                Reason::ALL.iter().copied().find(|reason| format!("{reason:?}") == prefix)
            };
            assert_eq!(*found, wanted, "{kind}: {name}");
            provoked.extend(wanted);
        }
        for reason in Reason::ALL {
            // These need libraries; the next tests have them.
            let elsewhere =
                ["Runtime", "CLibrary", "CallerMatters", "Allocator", "TableUnexplained"]
                    .contains(&format!("{reason:?}").as_str());
            assert!(elsewhere || provoked.contains(reason), "{reason:?} was not provoked");
        }
        assert!(found.len() >= 30, "{found:?}");
    }
}

#[test]
fn the_runtime_and_the_c_library_stay() {
    let place = Place::new();
    place.run(szc(), &args(&["switches/dense.c"], &["-O2", "-static", "-o", "image"]));
    let report = Report::of_file(&place.path.join("image")).expect("a table");
    let pinned = |name: &str| {
        let function = report.functions.iter().find(|function| function.name == name);
        function.unwrap_or_else(|| panic!("no function is called {name}")).pinned
    };
    assert_eq!(pinned("szc_rt_resolve"), Some(Reason::Runtime.text()));
    let is_of_runtime = |name: &str| RUNTIME_CRATES.iter().any(|part| name.contains(part));
    let of_runtime = report.functions.iter().filter(|f| is_of_runtime(&f.name));
    assert_eq!(of_runtime.filter(|f| f.pinned.is_none()).count(), 0);
    assert_eq!(pinned("abort"), Some(Reason::CLibrary.text()));
    assert_eq!(pinned("dense"), None);
    assert_eq!(pinned("main"), None);
}

#[test]
fn an_allocator_stays_and_so_does_whoever_asks_for_the_next_symbol() {
    let data = linked(&["threads/own_allocator.c"], &["-O0", "-pthread"]);
    let image = Image::parse(&data).expect("an image");
    let found = by_name(&decided(&image, &Policy::default()));
    for name in ["malloc", "free", "calloc", "realloc"] {
        assert_eq!(found[name], Some(Reason::Allocator), "{name}");
    }
    assert_eq!(found["main"], None);
    let data = linked(&["symbols/next_symbol.c"], &["-O0", "-ldl"]);
    let image = Image::parse(&data).expect("an image");
    let found = by_name(&decided(&image, &Policy::default()));
    assert_eq!(found["atoi"], Some(Reason::CallerMatters));
    assert_eq!(found["own_name"], None);
}

#[test]
fn relocations_say_the_same_in_their_compact_form() {
    let table = |args: &[&str]| {
        let data = linked(&["switches/dense.c"], &[&["-O2"], args].concat());
        let image = Image::parse(&data).expect("an image");
        let compact = image.retained_sections.iter().any(|name| name.starts_with(".crel"));
        assert_eq!(compact, !args.is_empty());
        let decision = decided(&image, &Policy::default());
        write::encode(&decision, image.link_base).expect("a small table")
    };
    assert_eq!(table(&[]), table(&["-Wa,--crel,--allow-experimental-crel"]));
}

#[test]
fn a_policy_pins_by_any_name_of_a_function() {
    let data = linked(&["pointers/identity.c", "pointers/identity_other.c"], &["-O2"]);
    let image = Image::parse(&data).expect("an image");
    let free = by_name(&decided(&image, &Policy::default()));
    assert_eq!(free["shared_function"], None);
    let policy = Policy { c_library: [b"shared_function".to_vec()].into() };
    assert_eq!(by_name(&decided(&image, &policy))["shared_function"], Some(Reason::CLibrary));
}

#[test]
fn a_table_holds_what_was_decided() {
    let sources = ["builds/options.c", "builds/options_other.c"];
    let data = linked(&sources, &["-O2", "-lm"]);
    let image = Image::parse(&data).expect("an image");
    let decision = decided(&image, &Policy::default());
    let bytes = write::encode(&decision, image.link_base).expect("a small table");
    let table = Table::parse(&bytes).expect("sound");
    table.validate().expect("sound");
    assert_eq!(table.movable_count(), decision.movable.len());
    assert_eq!(table.pinned_count(), decision.pinned.len());
    assert_eq!(table.header().link_base(), image.link_base);
    for (index, function) in decision.movable.iter().enumerate() {
        let record = table.movable(index).expect("inside");
        assert_eq!(table.name(record.name_at), &function.name[..]);
        assert_eq!((record.start, record.size), (function.start, function.size));
        let mut reader = table.fields(&record);
        assert_eq!(reader.field_count().expect("sound") as usize, function.fields.len());
        for field in &function.fields {
            assert_eq!(reader.next_field(), Ok(*field));
        }
        assert_eq!(reader.table_count().expect("sound") as usize, function.tables.len());
    }
}

#[test]
fn a_table_whose_units_do_not_close_is_refused() {
    let data = linked(&["builds/options.c", "builds/options_other.c"], &["-O2", "-lm"]);
    let image = Image::parse(&data).expect("an image");
    let mut decision = decided(&image, &Policy::default());
    let validated = |decision: &Decision| {
        let bytes = write::encode(decision, image.link_base).expect("a small table");
        Table::parse(&bytes).expect("an outline").validate()
    };
    assert_eq!(validated(&decision), Ok(()));
    let links: Vec<u32> = decision.movable.iter().map(|function| function.unit_next).collect();
    let count = u32::try_from(links.len()).expect("a small program");
    for damaged in [1, count - 1, count] {
        decision.movable[0].unit_next = damaged;
        assert_eq!(validated(&decision), Err(Malformed::OpenUnit), "{damaged}");
    }
    decision.movable[0].unit_next = links[0];
    assert_eq!(validated(&decision), Ok(()));
}

/// Damage at a place that is chosen by a part of the file and a fraction of it.
#[derive(Clone, Debug)]
struct Damage {
    part: u8,
    at: u32,
    value: u64,
    bytes: usize,
}

#[derive(Clone, Debug)]
struct Mutation {
    damages: Vec<Damage>,
    /// Thousandths of the file that are kept.
    keep: u16,
}

fn mutation() -> impl Strategy<Value = Mutation> {
    let value = prop_oneof![
        Just(0),
        Just(u64::MAX),
        Just(1 << 63),
        Just(u64::from(u32::MAX)),
        0..70_000u64,
        any::<u64>()
    ];
    let bytes = prop_oneof![Just(1), Just(2), Just(4), Just(8)];
    let damage = (0..6u8, any::<u32>(), value, bytes).prop_map(|(part, at, value, bytes)| Damage {
        part,
        at,
        value,
        bytes,
    });
    let keep = prop_oneof![9 => Just(1000), 1 => 0..1000u16];
    (prop::collection::vec(damage, 1..12), keep)
        .prop_map(|(damages, keep)| Mutation { damages, keep })
}

/// The parts of a file that say most about the rest: headers, symbols, relocations, code, table.
fn parts(image: &[u8]) -> Vec<std::ops::Range<usize>> {
    use object::{Object, ObjectSection};
    let file = object::File::parse(image).expect("a sound image");
    let index = |offset: u64| usize::try_from(offset).expect("inside the file");
    let section = |wanted: &[&str]| {
        let found = file.sections().find(|s| s.name().is_ok_and(|name| wanted.contains(&name)));
        let (at, bytes) = found.and_then(|section| section.file_range()).unwrap_or((0, 64));
        index(at)..index(at + bytes)
    };
    let section_headers = u64::from_le_bytes(image[0x28..0x30].try_into().expect("8 bytes"));
    vec![
        0..64 + 13 * 56,
        index(section_headers)..image.len(),
        section(&[".symtab"]),
        section(&[".rela.text", TABLE_SECTION]),
        section(&[".text"]),
        0..image.len(),
    ]
}

fn apply(mutation: &Mutation, image: &[u8], parts: &[std::ops::Range<usize>]) -> Vec<u8> {
    let mut damaged = image.to_vec();
    for damage in &mutation.damages {
        let part = parts[damage.part as usize].clone();
        let at = part.start + damage.at as usize % part.len().max(1);
        let end = (at + damage.bytes).min(damaged.len());
        let start = at.min(end);
        damaged[start..end].copy_from_slice(&damage.value.to_le_bytes()[..end - start]);
    }
    damaged.truncate(image.len() * usize::from(mutation.keep) / 1000);
    damaged
}

/// Longer than a debug build on a loaded machine needs for any of these images.
const PATIENCE: Duration = Duration::from_secs(10);

/// Runs `read` on many damaged forms of an image; a failure is reduced before it is reported.
fn survives(image: &[u8], cases: u32, read: impl Fn(&[u8])) {
    let config = Config { cases, failure_persistence: None, ..Config::default() };
    let rng = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
    let parts = parts(image);
    let result = TestRunner::new_with_rng(config, rng).run(&mutation(), |mutation| {
        let damaged = apply(&mutation, image, &parts);
        let started = Instant::now();
        read(&damaged);
        prop_assert!(started.elapsed() < PATIENCE, "took {:?}", started.elapsed());
        Ok(())
    });
    result.unwrap_or_else(|failure| panic!("{failure}"));
}

fn build_table(data: &[u8]) {
    let Ok(image) = Image::parse(data) else { return };
    let decision = decided(&image, &Policy::default());
    let Ok(bytes) = write::encode(&decision, image.link_base) else { return };
    Table::parse(&bytes).expect("whatever is written can be read");
}

fn read_table(data: &[u8]) {
    let _ = Report::of_image(Path::new("damaged"), data);
}

#[test]
fn no_damage_to_a_linked_image_makes_the_table_builder_panic() {
    survives(
        &linked(&["builds/options.c", "builds/options_other.c"], &["-O2", "-lm"]),
        500,
        build_table,
    );
    survives(&linked(&["switches/dense.c"], &["-O0", "-no-pie"]), 500, build_table);
    survives(&linked(&["labels/computed.c"], &["-O2", "-no-pie"]), 500, build_table);
    survives(&linked(&["table/reasons.s"], REASONS), 500, build_table);
}

#[test]
fn no_damage_to_a_finished_image_makes_its_reader_panic() {
    survives(&finished(&["switches/dense.c"], &["-O2"]), 1500, read_table);
    survives(&finished(&["switches/dense.c"], &["-O2"]), 100, build_table);
}

#[test]
fn a_section_that_ends_behind_the_last_address_is_refused() {
    let mut image = finished(&["switches/dense.c"], &["-O2"]);
    assert!(Image::parse(&image).is_ok());
    // ELF-64 header: where section headers begin, and how many there are; of these: address.
    let word =
        |image: &[u8], at: usize| usize::from_le_bytes(*image[at..].first_chunk().expect("inside"));
    let headers = word(&image, 0x28);
    let count = word(&image, 0x3c) & 0xffff;
    let loaded = (0..count)
        .map(|index| headers + 64 * index)
        .find(|&at| word(&image, at + 8) & 2 != 0 && word(&image, at + 32) > 8)
        .expect("a loaded section");
    image[loaded + 16..loaded + 24].copy_from_slice(&(u64::MAX - 7).to_le_bytes());
    let error = format!("{:#}", Image::parse(&image).expect_err("it wraps around"));
    assert!(error.contains("behind the last address"), "{error}");
}

#[test]
fn no_damage_to_a_table_makes_its_reader_panic() {
    use object::{Object, ObjectSection};
    let image = finished(&["switches/dense.c"], &["-O2"]);
    let file = object::File::parse(&*image).expect("an image");
    let section = file.section_by_name(TABLE_SECTION).expect("a table");
    let table = section.data().expect("inside").to_vec();
    let config = Config { cases: 3000, failure_persistence: None, ..Config::default() };
    let rng = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
    let whole = [0..68, 0..68, 0..table.len(), 0..table.len(), 0..table.len(), 0..table.len()];
    let result = TestRunner::new_with_rng(config, rng).run(&mutation(), |mutation| {
        let damaged = apply(&mutation, &table, &whole);
        let Ok(read) = Table::parse(&damaged) else { return Ok(()) };
        for index in 0..read.pinned_count().min(10_000) {
            let _ = read.pinned(index).map(|function| read.name(function.name_at));
        }
        if read.validate().is_err() {
            return Ok(());
        }
        // What was found sound can be read to its end.
        for function in (0..read.movable_count()).filter_map(|index| read.movable(index)) {
            let mut reader = read.fields(&function);
            for _ in 0..reader.field_count().expect("sound") {
                let field = reader.next_field().expect("sound");
                prop_assert!(field.at < function.size);
            }
            for _ in 0..reader.table_count().expect("sound") {
                reader.next_table().expect("sound");
            }
        }
        Ok(())
    });
    result.unwrap_or_else(|failure| panic!("{failure}"));
}
