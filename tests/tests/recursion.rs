//! Any recursion that fits without szc fits with it: in builds with every option that makes frames
//! look differently, at the depth where the plain program has used 7.5 of its 8 MiB, on the main
//! thread and on others. And all pads of a stack together take little, for programs that end a
//! recursion by themselves.

use std::fmt::Write as _;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use szc_abi::stack::{PADS_OF_A_CHECK, UNCHECKED_BYTES};
use szc_tests::build::{moving, plain};
use szc_tests::directives::Ending;
use szc_tests::run::{Outcome, run};
use szc_tests::tools::is_long;

/// What the plain program uses, of [`STACK_BYTES`].
const USED_BYTES: f64 = 7.5 * MIB;
const STACK_BYTES: &str = "8388608";
const MIB: f64 = 1_048_576.0;

/// Bytes that the plain program may use before its first frame of the recursion, and what a
/// thread's bookkeeping takes.
const FRAMES_ABOVE_BYTES: f64 = 16_384.0;

const OPTIMIZATIONS: [&str; 6] = ["-O0", "-O1", "-O2", "-O3", "-Os", "-Oz"];

const FRAMES: [&[&str]; 7] = [
    &[],
    &["-fstack-protector"],
    &["-fstack-protector-strong"],
    &["-fstack-protector-all"],
    &["-fno-omit-frame-pointer"],
    &["-fno-omit-frame-pointer", "-fstack-protector-strong"],
    &["-fomit-frame-pointer", "-fstack-protector-all"],
];

/// The program built twice.
struct Builds {
    _place: tempfile::TempDir,
    plain: PathBuf,
    moving: PathBuf,
}

fn builds(args: &[&str], randomizations: &[&str]) -> Builds {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("programs/stack/depths.c");
    let place = tempfile::tempdir().expect("a temporary directory");
    let args = [&["-pthread"], args].concat();
    let plain = plain(&source, &args, place.path());
    let moving = moving(&source, &[&args[..], randomizations].concat(), place.path());
    Builds { _place: place, plain, moving }
}

/// What each call takes of the stack, by shape.
fn bytes_of_calls(image: &Path, settings: &[(&str, &str)]) -> Vec<(String, f64)> {
    let outcome = run(image, settings, &["bytes"]);
    assert_eq!(outcome.ending, Ending::Code(0), "{}{}", outcome.text(), outcome.stderr);
    let text = outcome.text();
    let pairs = text.lines().map(|line| line.split_once(' ').expect("a pair"));
    pairs.map(|(shape, bytes)| (shape.to_owned(), bytes.parse().expect("a number"))).collect()
}

/// Words that send the program down until the plain one has used so many bytes.
fn as_deep_as(used_bytes: f64, calls: &[(String, f64)], stack: &str) -> Vec<String> {
    let mut args = vec![stack.to_owned()];
    for (shape, bytes) in calls {
        assert!(*bytes >= 16.0, "{shape} takes {bytes} bytes: it is no recursion");
        args.push(shape.clone());
        args.push(format!("{:.0}", ((used_bytes - FRAMES_ABOVE_BYTES) / bytes).floor()));
    }
    args
}

/// Runs the program after commands of the shell.
fn after(commands: &str, image: &Path, settings: &[(&str, &str)], args: &[String]) -> Outcome {
    let script = format!("{commands}; exec \"$0\" \"$@\"");
    let image = image.display().to_string();
    let mut all = vec!["-c", &script, &image];
    all.extend(args.iter().map(String::as_str));
    run(Path::new("/bin/sh"), settings, &all)
}

/// What is wrong with the depths that a build reaches, as a text.
fn failures(title: &str, builds: &Builds, seeds: RangeInclusive<u32>) -> String {
    let calls = bytes_of_calls(&builds.plain, &[]);
    let mut text = String::new();
    let small = 0.5 * MIB;
    for (stack, used) in
        [("main", USED_BYTES), (STACK_BYTES, USED_BYTES), ("524288", small / 8.0 * 7.5)]
    {
        let args = as_deep_as(used, &calls, stack);
        let limit = "ulimit -Ss 8192";
        let expected = after(limit, &builds.plain, &[], &args);
        assert_eq!(expected.ending, Ending::Code(0), "{title}: plain {stack}\n{}", expected.text());
        for seed in seeds.clone() {
            let interval = ["500", "1", "20"][seed as usize % 3];
            let seed = seed.to_string();
            // The default room, and the largest.
            let room = if seed.ends_with(['2', '5']) { "65536" } else { "256" };
            let settings = [
                ("SZC_SEED", seed.as_str()),
                ("SZC_INTERVAL_MS", interval),
                ("SZC_STACK_ROOM_KIB", room),
            ];
            let found = after(limit, &builds.moving, &settings, &args);
            if found.ending != expected.ending || found.stdout != expected.stdout {
                let last = found.text().lines().last().unwrap_or_default().to_owned();
                let _ = writeln!(text, "{title}, {stack}, seed {seed}: {:?}, {last}", found.ending);
            }
        }
    }
    text
}

/// Every level of optimization with every kind of frame in the long form; else each level with one
/// kind, and each kind with one level.
fn builds_of_frames() -> Vec<Vec<&'static str>> {
    let mut builds = Vec::new();
    for (level, optimization) in OPTIMIZATIONS.iter().enumerate() {
        for (kind, frames) in FRAMES.iter().enumerate() {
            let wanted = kind == level || (kind, *optimization) == (OPTIMIZATIONS.len(), "-O2");
            if wanted || is_long() {
                builds.push([&[*optimization], *frames].concat());
            }
        }
    }
    builds
}

#[test]
fn a_recursion_that_fits_without_szc_fits_with_it_at_every_level_and_with_every_kind_of_frame() {
    let mut text = String::new();
    for (index, args) in (0..).zip(builds_of_frames()) {
        let seeds = if is_long() { 1..=2 } else { index % 5 + 1..=index % 5 + 1 };
        let builds = builds(&args, &[]);
        text += &failures(&args.join(" "), &builds, seeds);
        text += &larger_frames(&args.join(" "), &builds);
    }
    assert!(text.is_empty(), "{text}");
}

/// Which frames of the originals are larger than those of the plain build, as a text.
fn larger_frames(title: &str, builds: &Builds) -> String {
    // The first five get their pads from tables, which takes a frame pointer; the others have an
    // array above the room. Of the rest, those whose variables are known by address have a frame
    // pointer, and a stack is aligned to 16.
    const FRAME_POINTER_BYTES: f64 = 16.0;
    let others = [
        "taking_eight",
        "any_number",
        "sized_here",
        "aligned",
        "returning",
        "jumping",
        "bytes_300",
    ];
    let mut text = String::new();
    let plain = bytes_of_calls(&builds.plain, &[]);
    let found = bytes_of_calls(&builds.moving, &STILL);
    for ((shape, plain), (_, found)) in plain.iter().zip(&found) {
        if !others.contains(&shape.as_str()) && *found > plain + FRAME_POINTER_BYTES {
            let _ = writeln!(text, "{title}, {shape}: {plain} bytes, with szc {found}");
        }
    }
    text
}

#[test]
fn a_recursion_fits_in_other_kinds_of_images_and_by_other_randomizations() {
    let mut text = String::new();
    for (index, args) in (0..).zip([
        &["-O2", "-Rstack"][..],
        &["-O0", "-Rstack"],
        &["-O2", "-fstack-protector-all", "-Rstack"],
        &["-O2", "-Rall", "-Rstack=per-call"],
        &["-O2", "-Rall", "-Rstack=per-function"],
        &["-O1", "-Rcode"],
        &["-O2", "-flto"],
        &["-O2", "-fno-pie", "-no-pie"],
        &["-O2", "-g", "-gdwarf-5"],
        &["-O0", "-g", "-fstack-protector-strong"],
        &["-O2", "-fno-asynchronous-unwind-tables", "-fno-unwind-tables"],
        &["-O2", "-ffunction-sections", "-fuse-ld=lld", "-Wl,--gc-sections,--icf=all"],
    ]) {
        let (of_szc, of_both): (Vec<&str>, Vec<&str>) =
            args.iter().partition(|word| word.starts_with("-R"));
        let seeds = if is_long() { 1..=3 } else { index % 3 + 1..=index % 3 + 1 };
        text += &failures(&args.join(" "), &builds(&of_both, &of_szc), seeds);
    }
    assert!(text.is_empty(), "{text}");
}

fn frames(args: &[&str]) -> (tempfile::TempDir, PathBuf) {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("programs/stack/frames.c");
    let place = tempfile::tempdir().expect("a temporary directory");
    let image = moving(&source, args, place.path());
    (place, image)
}

fn lines(outcome: &Outcome) -> Vec<Vec<u64>> {
    assert_eq!(outcome.ending, Ending::Code(0), "{}\n{}", outcome.text(), outcome.stderr);
    let number = |word: &str| word.parse().expect("a number");
    outcome.text().lines().map(|line| line.split_whitespace().map(number).collect()).collect()
}

/// How far down a recursion of so many calls goes, on the main thread and on another.
fn spans(image: &Path, settings: &[(&str, &str)]) -> [u64; 2] {
    let spans = lines(&run(image, settings, &["span", "400"])).concat();
    spans.try_into().expect("two numbers")
}

/// Without pads and copies.
const STILL: [(&str, &str); 2] = [("SZC_STACK", "0"), ("SZC_CODE", "0")];

#[test]
fn all_pads_of_a_stack_together_take_little_more_than_the_room() {
    for args in [&["-O2", "-pthread", "-Rall", "-Rstack=per-call"][..], &["-O2", "-pthread"]] {
        let (_place, image) = frames(args);
        let plain = spans(&image, &STILL);
        for (room_kib, seeds) in [("64", 12), ("16", 4), ("0", 1)] {
            let bytes = room_kib.parse::<u64>().expect("a number") << 10;
            let most = if bytes == 0 { 0 } else { bytes + u64::from(PADS_OF_A_CHECK) * 4080 };
            let mut largest = 0;
            for seed in 1..=seeds {
                let seed = format!("{seed}");
                let room = ("SZC_STACK_ROOM_KIB", room_kib);
                let found = spans(&image, &[("SZC_SEED", &seed), ("SZC_INTERVAL_MS", "1"), room]);
                for (found, plain) in found.iter().zip(plain) {
                    let more = found.checked_sub(plain).expect("no less than without pads");
                    assert!(more <= most, "room {room_kib}, seed {seed}: {more} bytes of pads");
                    largest = largest.max(more);
                }
            }
            assert!(largest >= bytes / 2, "room {room_kib}: at most {largest} bytes of pads");
        }
    }
}

#[test]
fn frames_below_a_large_array_in_main_have_pads() {
    let large = ["-pthread", "-DLARGE=1048576"];
    for args in [&["-O2", "-Rstack"][..], &["-O2"], &["-O0"]] {
        let (_place, image) = frames(&[&large, args].concat());
        let of_seed = |seed| [("SZC_SEED", seed), ("SZC_INTERVAL_MS", "0")];
        let pads = |seed| lines(&run(&image, &of_seed(seed), &["layouts", "1"])).concat();
        let (one, other) = (pads("3"), pads("4"));
        assert!(one[0] != other[0] && one[1] != other[1], "{args:?}: {one:?} {other:?}");
        let (still, found) = (spans(&image, &STILL), spans(&image, &of_seed("3")));
        assert!(found[0] > still[0] && found[0] < still[0] + (320 << 10), "{still:?} {found:?}");
    }
}

#[test]
fn a_program_that_bounds_its_stack_by_addresses_has_less_room_unless_told_otherwise() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("programs/stack/bounded_depth.c");
    let place = tempfile::tempdir().expect("a temporary directory");
    let image = moving(&source, &["-O2", "-pthread"], place.path());
    // What follows a check, and main's frame and arguments.
    let more = u64::from(UNCHECKED_BYTES) + 8192;
    for (room, kib) in [(None, 16), (Some("64"), 64), (Some("1"), 1)] {
        let room = room.map(|kib| ("SZC_STACK_ROOM_KIB", kib));
        let outcome = run(&image, room.as_slice(), &[]);
        let log = outcome.log_of_success().stack.as_ref().expect("pads");
        assert!((kib << 10..=(kib << 10) + more).contains(&log.room_bytes), "{room:?}: {log:?}");
    }
}
