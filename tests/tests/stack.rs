//! Where frames lie: uniformly, anew in each epoch, as the seed says, and within the room that
//! there is. That a program does not notice is tested by the programs below `programs/stack`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use szc_abi::stack::UNCHECKED_BYTES;
use szc_tests::build::moving;
use szc_tests::directives::Ending;
use szc_tests::run::{Outcome, run};
use szc_tests::statistics::{chi_square, correlation};

/// The 0.999 quantile of chi-square with 255 degrees of freedom; in R: qchisq(0.999, 255).
const CHI_SQUARE_255: f64 = 330.52;

/// The 0.9995 quantile of the normal distribution, for two sides; in R: qnorm(0.9995).
const NORMAL_TWO_SIDED: f64 = 3.29;

/// The room in which a check gives pads, by default and at most.
const ROOM_BYTES: u64 = 256 << 10;
const MAX_ROOM: (&str, &str) = ("SZC_STACK_ROOM_KIB", "65536");
const MAX_ROOM_BYTES: u64 = 64 << 20;

fn built(name: &str, args: &[&str]) -> (tempfile::TempDir, PathBuf) {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("programs/stack").join(name);
    let place = tempfile::tempdir().expect("a temporary directory");
    let image = moving(&source, args, place.path());
    (place, image)
}

/// The program that tells of its frames, with another pad for each call; built once for all tests.
fn frames() -> &'static Path {
    static IMAGE: OnceLock<(tempfile::TempDir, PathBuf)> = OnceLock::new();
    let args = ["-O2", "-pthread", "-Rall", "-Rstack=per-call"];
    &IMAGE.get_or_init(|| built("frames.c", &args)).1
}

/// The same program with pads that its copies bring along.
fn frames_of_copies() -> &'static Path {
    static IMAGE: OnceLock<(tempfile::TempDir, PathBuf)> = OnceLock::new();
    &IMAGE.get_or_init(|| built("frames.c", &["-O2", "-pthread"])).1
}

fn frames_of(settings: &[(&str, &str)], args: &[&str]) -> Outcome {
    let outcome = run(frames(), settings, args);
    assert_eq!(outcome.ending, Ending::Code(0), "{}\n{}", outcome.text(), outcome.stderr);
    outcome
}

type Turn = Vec<u64>;

fn numbers(line: &str) -> Vec<u64> {
    line.split_whitespace().map(|word| word.parse().expect("a number")).collect()
}

/// The distances of each turn less the smallest of all.
fn turns(outcome: &Outcome) -> Vec<Turn> {
    let text = outcome.text();
    let mut turns: Vec<Turn> = text.lines().map(numbers).collect();
    let smallest = *turns.iter().flatten().min().expect("at least one turn");
    for distance in turns.iter_mut().flatten() {
        *distance -= smallest;
    }
    turns
}

/// Whether a turn met every pad once: no refill came in between.
fn is_whole(turn: &Turn) -> bool {
    let mut sorted = turn.clone();
    sorted.sort_unstable();
    sorted.iter().copied().eq((0..256).map(|pad| pad * 16))
}

fn whole_turns(outcome: &Outcome) -> Vec<Turn> {
    turns(outcome).into_iter().filter(is_whole).collect()
}

#[test]
fn frames_of_a_loop_take_all_256_offsets_equally_often() {
    let settings = [("SZC_SEED", "20130316"), ("SZC_INTERVAL_MS", "1")];
    let outcome = frames_of(&settings, &["counts", "60000000"]);
    let text = outcome.text();
    let counts: BTreeMap<u64, u64> = text
        .split_whitespace()
        .map(|pair| pair.split_once(':').expect("a pair"))
        .map(|(distance, count)| (distance.parse().unwrap(), count.parse().unwrap()))
        .collect();
    let first = *counts.keys().next().expect("at least one distance");
    assert!(counts.keys().copied().eq((0..256).map(|pad| first + pad * 16)), "{counts:?}");
    let chi = chi_square(&counts.values().copied().collect::<Vec<_>>());
    assert!(chi < CHI_SQUARE_255, "chi-square {chi}");
    let log = outcome.log_of_success().stack.as_ref().expect("pads");
    assert!(log.refills > 1 && log.functions >= 2, "{log:?}");
    assert_eq!(log.mean_pad_bytes, 2040);
}

#[test]
fn a_pad_says_nothing_about_the_next_one() {
    let outcome =
        frames_of(&[("SZC_SEED", "7"), ("SZC_INTERVAL_MS", "2")], &["turns", "400", "100"]);
    let turns = whole_turns(&outcome);
    assert!(turns.len() > 50, "{} turns", turns.len());
    let pairs: Vec<_> = turns
        .iter()
        .flat_map(|turn| turn.windows(2).map(|pair| (pair[0] as f64, pair[1] as f64)))
        .collect();
    // Drawn without replacement, neighbours have a correlation of -1/255 rather than 0.
    let found = correlation(&pairs) + 1.0 / 255.0;
    let bound = NORMAL_TWO_SIDED / (pairs.len() as f64).sqrt();
    assert!(found.abs() < bound, "{found} of {} pairs", pairs.len());
}

#[test]
fn each_refill_draws_all_pads_anew_and_the_seed_repeats_them() {
    let sequence = |seed| {
        let outcome =
            frames_of(&[("SZC_SEED", seed), ("SZC_INTERVAL_MS", "20")], &["turns", "200", "10"]);
        let refills = outcome.log_of_success().stack.as_ref().expect("pads").refills;
        let turns = whole_turns(&outcome);
        assert!(turns.len() >= 4 && turns.len() as u64 <= refills + 1, "{} turns", turns.len());
        turns
    };
    let (first, second, other) = (sequence("3"), sequence("3"), sequence("4"));
    for pair in first.windows(2) {
        let same = pair[0].iter().zip(&pair[1]).filter(|(a, b)| a == b).count();
        // The number of fixed points of a random permutation is nearly Poisson with mean 1.
        assert!(same < 10, "{same} pads stayed");
    }
    // A turn that a refill falls into is missing in one of the runs.
    let repeated = first.iter().filter(|turn| second.contains(turn)).count();
    assert!(repeated + 2 >= first.len().min(second.len()), "{repeated} of {}", first.len());
    assert_eq!(first[0], second[0]);
    assert!(first.iter().all(|turn| !other.contains(turn)));
}

#[test]
fn with_one_layout_the_pads_stay() {
    let settings = [("SZC_INTERVAL_MS", "0"), ("SZC_SEED", "5")];
    let outcome = frames_of(&settings, &["turns", "60"]);
    let turns = turns(&outcome);
    assert!(turns.len() == 1 && is_whole(&turns[0]), "{turns:?}");
    assert_eq!(outcome.log_of_success().stack.as_ref().expect("pads").refills, 0);
}

#[test]
fn without_stack_randomization_frames_stay_where_they_are() {
    let (_place, built_without) = built("frames.c", &["-O2", "-pthread", "-Rcode"]);
    for outcome in [
        frames_of(&[("SZC_STACK", "0"), ("SZC_INTERVAL_MS", "1")], &["turns", "30"]),
        run(&built_without, &[("SZC_INTERVAL_MS", "1")], &["turns", "30"]),
    ] {
        assert!(turns(&outcome).iter().flatten().all(|&distance| distance == 0));
        let log = outcome.log_of_success();
        assert!(!log.randomize.stack && log.stack.is_none() && log.randomize.code, "{log:?}");
    }
}

#[test]
fn pads_are_refilled_where_code_stays_and_after_its_budget_is_spent() {
    let off = [("SZC_CODE", "0"), ("SZC_INTERVAL_MS", "2")];
    let spent = [("SZC_CODE_BUDGET_MIB", "1"), ("SZC_INTERVAL_MS", "1"), ("SZC_CODE_RECLAIM", "0")];
    for settings in [&off[..], &spent] {
        let outcome = frames_of(settings, &["turns", "300", "100"]);
        let log = outcome.log_of_success();
        let refills = log.stack.as_ref().expect("pads").refills;
        assert!(refills > 20 && refills > log.epochs, "{log:?}");
        assert!(log.exhausted == log.randomize.code, "{log:?}");
        assert!(whole_turns(&outcome).len() > 20);
    }
}

#[test]
fn threads_begin_at_places_of_their_own() {
    let settings = [("SZC_SEED", "11"), ("SZC_INTERVAL_MS", "0")];
    let outcome = frames_of(&settings, &["threads", "2560"]);
    let text = outcome.text();
    let pairs: Vec<Vec<u64>> = text.lines().map(numbers).collect();
    let smallest = *pairs.iter().flatten().min().expect("pairs");
    let mut counts = vec![0u64; 256];
    let mut differences = vec![0u64; 256];
    let mut points = Vec::new();
    let pad = |distance: u64| usize::try_from((distance - smallest) / 16).expect("small");
    for pair in &pairs {
        let pads = [pad(pair[0]), pad(pair[1])];
        counts[pads[0]] += 1;
        counts[pads[1]] += 1;
        differences[(pads[0] + 256 - pads[1]) % 256] += 1;
        points.push((pads[0] as f64, pads[1] as f64));
    }
    assert!(chi_square(&counts) < CHI_SQUARE_255, "{counts:?}");
    assert!(chi_square(&differences) < CHI_SQUARE_255, "{differences:?}");
    let found = correlation(&points);
    assert!(found.abs() < NORMAL_TWO_SIDED / (points.len() as f64).sqrt(), "{found}");
    assert_eq!(text, frames_of(&settings, &["threads", "2560"]).text());
}

#[test]
fn a_forked_child_goes_on_with_pads_and_counts_anew() {
    for code in ["0", "1"] {
        let settings = [("SZC_CODE", code), ("SZC_INTERVAL_MS", "4")];
        let outcome = frames_of(&settings, &["fork", "400", "10"]);
        let [child, parent] = &outcome.logs[..] else { panic!("{:?}", outcome.logs) };
        let refills = |log: &szc_tests::records::Log| log.stack.as_ref().expect("pads").refills;
        assert!(refills(child) > 2 && refills(child) < refills(parent), "{:?}", outcome.logs);
    }
}

#[test]
fn a_table_for_each_function_gives_all_offsets_too() {
    let (_place, image) = built("frames.c", &["-O2", "-pthread", "-Rstack=per-function"]);
    let outcome = run(&image, &[("SZC_INTERVAL_MS", "2")], &["turns", "100", "10"]);
    assert!(whole_turns(&outcome).len() > 3);
    assert_eq!(outcome.log_of_success().stack.as_ref().expect("pads").mean_pad_bytes, 2040);
}

/// Runs the program after commands of the shell.
fn after(commands: &str, settings: &[(&str, &str)], args: &str) -> Outcome {
    let script = format!("{commands}; exec \"$0\" {args}");
    let image = frames().display().to_string();
    let settings = [&[("SZC_INTERVAL_MS", "0")], settings].concat();
    run(Path::new("/bin/sh"), &settings, &["-c", &script, &image])
}

#[test]
fn room_for_pads_depends_on_the_limits_of_the_process() {
    let (default, large): (&[_], &[_]) = (&[], &[MAX_ROOM]);
    // What follows a check, and the arguments.
    let more = u64::from(UNCHECKED_BYTES) + 8192;
    for (limits, settings, least, most) in [
        ("ulimit -Ss 8192", default, ROOM_BYTES, ROOM_BYTES + more),
        ("ulimit -Ss 8192", large, MAX_ROOM_BYTES, MAX_ROOM_BYTES + more),
        ("ulimit -Ss 256", default, ROOM_BYTES, ROOM_BYTES + more),
        ("ulimit -s 8192", default, ROOM_BYTES, ROOM_BYTES + more),
        ("ulimit -s 8192", large, MAX_ROOM_BYTES, MAX_ROOM_BYTES + more),
        ("ulimit -s 256", default, ROOM_BYTES, ROOM_BYTES + more),
        ("ulimit -Ss 2000000", default, ROOM_BYTES, ROOM_BYTES + more),
        ("ulimit -Ss 8192; ulimit -v 800000", default, ROOM_BYTES, ROOM_BYTES + more),
        ("ulimit -Ss 8192; ulimit -v 800000", large, 1 << 20, 33 << 20),
        ("ulimit -Ss 8192; ulimit -v 300000", default, 0, 0),
    ] {
        let outcome = after(limits, settings, "turns 1");
        let log = outcome.log_of_success().stack.as_ref().expect("pads");
        assert!((least..=most).contains(&log.room_bytes), "{limits}: {log:?}");
        let turn = &turns(&outcome)[0];
        let padded = if most > 0 { is_whole(turn) } else { turn.iter().all(|&pad| pad == 0) };
        assert!(padded, "{limits}: {turn:?}");
    }
}

#[test]
fn a_recursion_uses_at_most_the_room_beyond_what_it_used() {
    let cases = [("ulimit -Ss 8192", 7), ("ulimit -s 8192", 7), ("ulimit -Ss 65536", 60)];
    for ((limits, mib), is_large) in cases.into_iter().flat_map(|it| [(it, false), (it, true)]) {
        let settings = if is_large { &[MAX_ROOM][..] } else { &[] };
        let room_kib = if is_large { MAX_ROOM_BYTES } else { ROOM_BYTES } >> 10;
        let outcome = after(limits, settings, &format!("deep {mib}"));
        assert_eq!(outcome.ending, Ending::Code(0), "{limits}\n{}", outcome.stderr);
        let peak_kib: u64 = outcome.text().trim().parse().expect("a number");
        let own_kib = mib * 1024;
        // Frames without pads grow by a frame pointer; code, data and libraries take some
        // megabytes.
        let most_kib = own_kib * 3 / 2 + room_kib + 16 * 1024;
        assert!(peak_kib > room_kib, "{limits}: {peak_kib} KiB");
        assert!(peak_kib < most_kib, "{limits}: {peak_kib} KiB");
    }
}

/// The distances of two functions in each layout, from the least of each, in units of 16 bytes.
fn layouts(settings: &[(&str, &str)], ms: &str) -> (Vec<(u64, u64)>, Outcome) {
    let outcome = run(frames_of_copies(), settings, &["layouts", ms]);
    assert_eq!(outcome.ending, Ending::Code(0), "{}\n{}", outcome.text(), outcome.stderr);
    let pairs: Vec<Vec<u64>> = outcome.text().lines().map(numbers).collect();
    let least = |which: usize| pairs.iter().map(|pair| pair[which]).min().expect("a layout");
    let (one, other) = (least(0), least(1));
    let pads = pairs.iter().map(|pair| {
        assert!((pair[0] - one).is_multiple_of(16) && (pair[1] - other).is_multiple_of(16));
        ((pair[0] - one) / 16, (pair[1] - other) / 16)
    });
    (pads.collect(), outcome)
}

/// The pads of one function. A new layout may be seen by the other one first: then a line repeats
/// this one's.
fn series(pads: &[(u64, u64)], which: fn(&(u64, u64)) -> u64) -> Vec<u64> {
    let mut series: Vec<u64> = pads.iter().map(which).collect();
    series.dedup();
    series
}

#[test]
fn pads_of_copies_are_uniform_and_independent_and_new_in_each_layout() {
    let (pads, outcome) = layouts(&[("SZC_SEED", "5"), ("SZC_INTERVAL_MS", "1")], "12000");
    assert!(pads.len() > 2500, "{} layouts", pads.len());
    for which in [(|pair| pair.0) as fn(&(u64, u64)) -> u64, |pair| pair.1] {
        let series = series(&pads, which);
        let mut counts = vec![0u64; 256];
        for &pad in &series {
            counts[usize::try_from(pad).expect("small")] += 1;
        }
        assert!(chi_square(&counts) < CHI_SQUARE_255, "{counts:?}");
        let next: Vec<_> = series.windows(2).map(|pair| (pair[0] as f64, pair[1] as f64)).collect();
        let found = correlation(&next);
        assert!(found.abs() < NORMAL_TWO_SIDED / (next.len() as f64).sqrt(), "{found}");
    }
    let both: Vec<_> = pads
        .windows(2)
        .filter(|pair| pair[0].0 != pair[1].0 && pair[0].1 != pair[1].1)
        .map(|pair| (pair[1].0 as f64, pair[1].1 as f64))
        .collect();
    let found = correlation(&both);
    assert!(found.abs() < NORMAL_TWO_SIDED / (both.len() as f64).sqrt(), "{found}");
    let log = outcome.log_of_success().stack.as_ref().expect("pads");
    assert!(log.functions >= 4 && log.mean_pad_bytes <= 4080, "{log:?}");
}

/// How many pads come in both series in the same order, at most, if both are measured from the same
/// one: from the least of a run, which may not be the least of another.
fn common_pads(one: &[u64], other: &[u64]) -> usize {
    let of_base = |base: i64| {
        let mut longest = vec![0; other.len() + 1];
        for pad in one {
            let mut diagonal = 0;
            for (index, value) in other.iter().enumerate() {
                let above = longest[index + 1];
                let is_same = pad.cast_signed() == value.cast_signed() + base;
                longest[index + 1] = if is_same { diagonal + 1 } else { above.max(longest[index]) };
                diagonal = above;
            }
        }
        longest[other.len()]
    };
    (-255..=255).map(of_base).max().unwrap_or(0)
}

#[test]
fn the_seed_repeats_pads_of_copies_also_where_code_keeps_its_order() {
    for code in ["0", "1"] {
        let of = |seed| {
            let settings = [("SZC_SEED", seed), ("SZC_INTERVAL_MS", "20"), ("SZC_CODE", code)];
            layouts(&settings, "400")
        };
        let ((first, outcome), (second, _), (other, _)) = (of("3"), of("3"), of("4"));
        let log = outcome.log_of_success();
        assert!(log.randomize.stack && log.randomize.code == (code == "1"), "{log:?}");
        let [first, second, other] =
            [first, second, other].map(|pads| series(&pads, |pair| pair.0));
        let seen = first.len().min(second.len());
        // Where the program waits for a processor, a layout is seen in one of the runs only.
        let [common, by_chance] = [&second, &other].map(|pads| common_pads(&first, pads));
        assert!(seen > 6 && common * 4 >= seen * 3, "{common} common: {first:?} {second:?}");
        assert!(by_chance * 2 < seen, "{by_chance} common: {first:?} {other:?}");
    }
}

#[test]
fn pads_of_copies_end_with_stack_randomization_and_with_the_room() {
    for settings in [
        &[("SZC_STACK", "0"), ("SZC_INTERVAL_MS", "1")][..],
        &[("SZC_STACK", "0"), ("SZC_CODE", "0"), ("SZC_INTERVAL_MS", "1")],
    ] {
        let (pads, outcome) = layouts(settings, "100");
        assert_eq!(pads, [(0, 0)]);
        assert!(!outcome.log_of_success().randomize.stack);
    }
    let image = frames_of_copies().display().to_string();
    let script = "ulimit -Ss 8192; exec \"$0\" deep 7";
    let outcome = run(Path::new("/bin/sh"), &[("SZC_INTERVAL_MS", "1")], &["-c", script, &image]);
    assert_eq!(outcome.ending, Ending::Code(0), "{}", outcome.stderr);
}

#[test]
fn a_body_without_a_pad_is_written_when_the_room_first_ends() {
    let image = frames_of_copies().display().to_string();
    let bytes_of = |seed: &str, mib: &str| {
        let script = format!("ulimit -Ss 8192; exec \"$0\" deep {mib}");
        let settings = [("SZC_INTERVAL_MS", "0"), ("SZC_SEED", seed), MAX_ROOM];
        let outcome = run(Path::new("/bin/sh"), &settings, &["-c", &script, &image]);
        let log = outcome.log_of_success();
        (log.relocations, log.code_bytes_live)
    };
    // The recursion has one pad in a layout: below a third of the largest, the room does not end.
    let ended = (1..=12).filter(|seed: &u32| {
        let seed = seed.to_string();
        let (shallow, deep) = (bytes_of(&seed, "1"), bytes_of(&seed, "7"));
        assert_eq!(shallow.0, deep.0, "the same functions are called (seed {seed})");
        assert!(deep.1 >= shallow.1, "seed {seed}: {shallow:?} {deep:?}");
        deep.1 > shallow.1
    });
    let ended = ended.count();
    assert!((2..12).contains(&ended), "the room ended with {ended} seeds of 12");
}
