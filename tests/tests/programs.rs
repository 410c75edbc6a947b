//! Every program below `programs/`, built as its directives say by szc and by a plain compiler: the
//! build whose layout changes must behave as the other one does, however often and whatever
//! changes.
//!
//! `SZC_TEST_PROGRAM=text` runs only the programs whose name contains the text; `SZC_TEST_SEEDS=n`
//! runs each at 1 ms with n seeds instead of 2; `SZC_TEST_MATRIX=n` runs the first build of each
//! with n seeds for each randomization alone and all together, at each of four intervals, and
//! builds for each randomization alone likewise (`tests/campaign/matrix.sh`); `SZC_TEST_JOBS=n`
//! runs n programs at a time. What misbehaves is told at once, and again at the end.

use std::fmt::Write as _;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use szc_tests::build::{Builds, build};
use szc_tests::directives::{Compiler, Program, Variant};
use szc_tests::run::{Outcome, run};

/// Runs in which the program may find enough epochs.
const ATTEMPTS: u32 = 4;

/// Runs that behaved as they should.
static RUNS: AtomicUsize = AtomicUsize::new(0);

type Settings = [(&'static str, String)];

#[test]
fn every_program_behaves_as_ever_while_its_layout_changes() {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("programs");
    let wanted = std::env::var("SZC_TEST_PROGRAM").unwrap_or_default();
    let programs: Vec<Program> = Program::all_below(&directory)
        .unwrap_or_else(|error| panic!("{error}"))
        .into_iter()
        .filter(|program| program.name().contains(&wanted))
        .collect();
    assert!(!programs.is_empty(), "no program is called {wanted}");
    let whole_matrix = number_in("SZC_TEST_MATRIX").is_some();
    let cases: Vec<Case> = programs
        .iter()
        .flat_map(|program| {
            let builds = if whole_matrix { 1 } else { program.variants.len() };
            let case = move |variant_index| Case { program, variant_index, alone: None };
            let alone = if whole_matrix { &BUILT_ALONE[..] } else { &[] };
            let alone = alone.iter().map(move |alone| Case { alone: Some(alone), ..case(0) });
            (0..builds).map(case).chain(alone)
        })
        .collect();
    let next = AtomicUsize::new(0);
    let failures = Mutex::new(Vec::new());
    let processors = || std::thread::available_parallelism().map_or(2, std::num::NonZero::get);
    let asked = number_in("SZC_TEST_JOBS").and_then(|jobs| usize::try_from(jobs).ok());
    let workers = asked.filter(|&jobs| jobs > 0).unwrap_or_else(processors);
    std::thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(|| {
                while let Some(case) = cases.get(next.fetch_add(1, Ordering::Relaxed)) {
                    if let Err(failure) = check(case) {
                        eprintln!("{failure}");
                        failures.lock().expect("no worker panicked").push(failure);
                    }
                }
            });
        }
    });
    let failures = failures.into_inner().expect("no worker panicked");
    println!("{} runs of {} builds as expected", RUNS.load(Ordering::Relaxed), cases.len());
    assert!(
        failures.is_empty(),
        "{} of {} builds misbehave:\n\n{}",
        failures.len(),
        cases.len(),
        failures.join("\n")
    );
}

/// One build of a program.
struct Case<'a> {
    program: &'a Program,
    variant_index: usize,
    /// It is built with this randomization only.
    alone: Option<&'static Alone>,
}

/// A randomization that a program can be built for alone.
struct Alone {
    /// The driver's word for it.
    word: &'static str,
    /// What would switch the others off.
    others: &'static [&'static str],
}

const BUILT_ALONE: [Alone; 3] = [
    Alone { word: "-Rcode", others: ALONE[0] },
    // Pads by tables: no copies take them.
    Alone { word: "-Rstack", others: ALONE[1] },
    Alone { word: "-Rheap", others: ALONE[2] },
];

impl Case<'_> {
    fn variant(&self) -> &Variant {
        &self.program.variants[self.variant_index]
    }

    /// Words that only szc gets.
    fn words(&self) -> Vec<&'static str> {
        self.alone.iter().map(|alone| alone.word).collect()
    }

    /// Whether the program is built for what a variable switches off.
    fn has(&self, variable: &str) -> bool {
        self.alone.is_none_or(|alone| !alone.others.contains(&variable))
    }
}

fn check(case: &Case<'_>) -> Result<(), String> {
    let (program, variant) = (case.program, case.variant());
    let words = case.words();
    let alone = words.iter().map(|word| format!("{word} ")).collect::<String>();
    let title = format!("{} [{alone}{}]", program.name(), variant.text);
    let place = tempfile::tempdir().expect("a temporary directory");
    let builds = build(program, variant, &words, place.path())
        .map_err(|error| format!("{title}: {error}"))?;
    let expected = run(&builds.plain, &[], &[]);
    if expected.ending != program.ending {
        return Err(format!(
            "{title}: the plain build ends with {:?}, its directives say {:?}\n{}{}",
            expected.ending,
            program.ending,
            expected.text(),
            expected.stderr
        ));
    }
    for settings in all_settings(case) {
        check_run(case, &builds, &expected, &settings, ATTEMPTS).map_err(|difference| {
            format!("{title}: {difference}\n{}", reproduction(case, &settings))
        })?;
    }
    Ok(())
}

/// The number in an environment variable.
fn number_in(variable: &str) -> Option<u64> {
    let text = std::env::var(variable).ok()?;
    Some(text.parse().unwrap_or_else(|_| panic!("{variable} is no number: {text}")))
}

/// What is switched off so that one randomization is left, or none is.
const ALONE: [&[&str]; 4] =
    [&["SZC_STACK", "SZC_HEAP"], &["SZC_CODE", "SZC_HEAP"], &["SZC_CODE", "SZC_STACK"], &[]];

/// Ways to set when layouts change.
const INTERVALS: [(&str, &str); 4] = [
    ("SZC_INTERVAL_MS", "1"),
    ("SZC_INTERVAL_MS", "20"),
    ("SZC_INTERVAL_MS", "500"),
    ("SZC_INTERVAL_MS", "0"),
];

/// Every randomization that is built, every interval, with so many seeds.
fn matrix(case: &Case<'_>, seeds: u64) -> Vec<Vec<(&'static str, String)>> {
    let mut all = Vec::new();
    // What is built alone needs nothing switched off.
    let offs = if case.alone.is_some() { &ALONE[3..] } else { &ALONE[..] };
    for &off in offs {
        for (name, value) in INTERVALS {
            all.extend((1..=seeds).map(|seed| {
                let mut settings = vec![("SZC_SEED", seed.to_string()), (name, value.to_owned())];
                settings.extend(off.iter().map(|name| (*name, "0".to_owned())));
                settings
            }));
        }
    }
    all
}

/// All randomizations at fast epochs with several seeds; the slower ways, and each randomization
/// alone, for a program's first variant only.
fn all_settings(case: &Case<'_>) -> Vec<Vec<(&'static str, String)>> {
    if let Some(seeds) = number_in("SZC_TEST_MATRIX") {
        return matrix(case, seeds);
    }
    let seeds = number_in("SZC_TEST_SEEDS").unwrap_or(2);
    let setting = |seed: u64, name, value: &str| {
        vec![("SZC_SEED", seed.to_string()), (name, value.to_owned())]
    };
    let mut all: Vec<_> = (1..=seeds)
        .map(|seed| {
            let mut fast = setting(seed, "SZC_INTERVAL_MS", "1");
            // Copies that a thread could still reach are overwritten as soon as they can be.
            fast.push(("SZC_CODE_RECLAIM", "stress".to_owned()));
            fast
        })
        .collect();
    all.push(setting(101, "SZC_INTERVAL_MS", "0"));
    if case.variant_index == 0 {
        all.push(setting(102, "SZC_INTERVAL_MS", "20"));
        for (seed, off) in (104..).zip(&ALONE[..3]) {
            let mut alone = setting(seed, "SZC_INTERVAL_MS", "1");
            alone.extend(off.iter().map(|name| (*name, "0".to_owned())));
            all.push(alone);
        }
    }
    all
}

fn check_run(
    case: &Case<'_>,
    builds: &Builds,
    expected: &Outcome,
    settings: &Settings,
    attempts: u32,
) -> Result<(), String> {
    let program = case.program;
    let borrowed: Vec<(&str, &str)> =
        settings.iter().map(|(name, value)| (*name, value.as_str())).collect();
    let found = run(&builds.moving, &borrowed, &[]);
    if found.ending != expected.ending {
        return Err(format!(
            "ends with {:?} instead of {:?}\n{}{}",
            found.ending,
            expected.ending,
            found.text(),
            found.stderr
        ));
    }
    if found.stdout != expected.stdout {
        return Err(difference(&expected.text(), &found.text()));
    }
    if program.log_lost {
        RUNS.fetch_add(1, Ordering::Relaxed);
        return Ok(());
    }
    let log = found.log.ok_or("it wrote no log")?;
    let on = |name| case.has(name) && !borrowed.contains(&(name, "0"));
    let moved =
        log.randomize.code && log.relocations > 0 && log.functions.movable >= program.movable;
    if on("SZC_CODE") != moved {
        return Err(format!("more or less moved than should: {log:?}"));
    }
    if log.stack.is_some() != log.randomize.stack || (log.randomize.stack && !on("SZC_STACK")) {
        return Err(format!("the stack is not as it should be: {log:?}"));
    }
    if (on("SZC_CODE") || on("SZC_STACK")) && log.libraries.adopted < program.adopted {
        return Err(format!("fewer libraries than there are were adopted: {log:?}"));
    }
    if log.libraries.refused.is_some()
        || (on("SZC_CODE") && log.libraries.moving < program.adopted.min(1))
    {
        return Err(format!("the code of a library does not move: {log:?}"));
    }
    let heap = on("SZC_HEAP") && log.heap_refused.is_none();
    if log.heap.is_some() != heap || log.randomize.heap != heap {
        return Err(format!("the heap is not as it should be: {log:?}"));
    }
    let fast = borrowed.contains(&("SZC_INTERVAL_MS", "1")) && on("SZC_CODE");
    if fast && log.epochs < program.epochs {
        // Other work on the machine can keep the maintenance task from running.
        return if attempts > 1 {
            check_run(case, builds, expected, settings, attempts - 1)
        } else {
            Err(format!("too few epochs: {log:?}"))
        };
    }
    RUNS.fetch_add(1, Ordering::Relaxed);
    Ok(())
}

/// The first line that differs.
fn difference(expected: &str, found: &str) -> String {
    let (mut expected_lines, mut found_lines) = (expected.lines(), found.lines());
    let mut number = 1;
    loop {
        let (a, b) = (expected_lines.next(), found_lines.next());
        if a != b || a.is_none() {
            return format!("line {number} of its output is {b:?} instead of {a:?}");
        }
        number += 1;
    }
}

fn reproduction(case: &Case<'_>, settings: &Settings) -> String {
    let (program, variant) = (case.program, case.variant());
    let driver = if program.is_cxx() { "szc++" } else { "szc" };
    let words = variant.words.join(" ");
    let driver = [&[driver], &case.words()[..]].concat().join(" ");
    let sources: Vec<String> = std::iter::once(&program.source)
        .chain(&program.with)
        .map(|path| path.display().to_string())
        .collect();
    let sources = sources.join(" ");
    let mut text = String::from("    ");
    match variant.compiler {
        Compiler::Szc => {
            let _ = write!(text, "{driver} {sources} {words} -o moving");
        }
        Compiler::Gcc => {
            let gcc = if program.is_cxx() { "g++" } else { "gcc" };
            let _ = write!(text, "{gcc} -c {sources} {words} && {driver} *.o {words} -o moving");
        }
    }
    if variant.strip {
        text.push_str(" && strip -s moving");
    }
    text.push_str(" &&");
    for (name, value) in settings {
        let _ = write!(text, " {name}={value}");
    }
    text.push_str(" ./moving\n");
    text
}
