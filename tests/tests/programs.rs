//! Every program below `programs/`, built as its directives say by szc and by a plain compiler: the
//! build whose layout changes must behave as the other one does, however often and whatever
//! changes.
//!
//! Builds without optimization are for the long form, unless a program has no others: people
//! measure optimized ones.
//!
//! `SZC_TEST_PROGRAM=text` runs only the programs whose name contains the text; `SZC_TEST_SEEDS=n`
//! runs each build at 1 ms with n seeds and compares it with a plain build by the same arguments;
//! `SZC_TEST_MATRIX=n` runs the first build of each with n seeds for each randomization alone and
//! all together, at each of four intervals, and builds for each randomization alone likewise
//! (`tests/campaign/matrix.sh`); `SZC_TEST_JOBS=n` runs n programs at a time. What misbehaves is
//! told at once, and again at the end; with `SZC_TEST_LONG` all variants are built, and some
//! programs do more; how long each build and its runs took is in `target/tmp/programs.tsv`.

use std::fmt::Write as _;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock};
use std::time::Instant;
use szc_tests::build::{build_moving, build_plain};
use szc_tests::directives::{Compiler, Program, Variant};
use szc_tests::run::{Outcome, run};
use szc_tests::tools::is_long;

/// Runs in which the program may find enough epochs.
const ATTEMPTS: u32 = 4;

/// Runs that behaved as they should.
static RUNS: AtomicUsize = AtomicUsize::new(0);

type Settings = [(&'static str, String)];

#[test]
fn every_program_behaves_as_ever_while_its_layout_changes() {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("programs");
    let wanted = std::env::var("SZC_TEST_PROGRAM").unwrap_or_default();
    let mut programs: Vec<Program> = Program::all_below(&directory)
        .unwrap_or_else(|error| panic!("{error}"))
        .into_iter()
        .filter(|program| program.name().contains(&wanted))
        .collect();
    if is_long() {
        let variants = programs.iter_mut().flat_map(|program| &mut program.variants);
        variants.for_each(|variant| variant.args.push("-DLONG".to_owned()));
    }
    assert!(!programs.is_empty(), "no program is called {wanted}");
    let whole_matrix = number_in("SZC_TEST_MATRIX").is_some();
    let plain: Vec<OnceLock<_>> = programs.iter().map(|_| OnceLock::new()).collect();
    let cases: Vec<Case> = programs
        .iter()
        .zip(&plain)
        .flat_map(|(program, plain)| {
            let builds = if whole_matrix { 1 } else { program.variants.len() };
            let builds = (0..builds).filter(move |&build| whole_matrix || is_built(program, build));
            let case = move |variant_index| Case { program, plain, variant_index, alone: None };
            let alone = if whole_matrix { &BUILT_ALONE[..] } else { &[] };
            let alone = alone.iter().map(move |alone| Case { alone: Some(alone), ..case(0) });
            builds.map(case).chain(alone)
        })
        .collect();
    let next = AtomicUsize::new(0);
    let failures = Mutex::new(Vec::new());
    let times = Mutex::new(Vec::new());
    let processors = || std::thread::available_parallelism().map_or(2, std::num::NonZero::get);
    let asked = number_in("SZC_TEST_JOBS").and_then(|jobs| usize::try_from(jobs).ok());
    let workers = asked.filter(|&jobs| jobs > 0).unwrap_or_else(processors);
    std::thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(|| {
                while let Some(case) = cases.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let started = Instant::now();
                    if let Err(failure) = check(case) {
                        eprintln!("{failure}");
                        failures.lock().expect("no worker panicked").push(failure);
                    }
                    let seconds = started.elapsed().as_secs_f64();
                    times.lock().expect("no worker panicked").push((seconds, case.title()));
                }
            });
        }
    });
    let failures = failures.into_inner().expect("no worker panicked");
    println!("{} runs of {} builds as expected", RUNS.load(Ordering::Relaxed), cases.len());
    keep(times.into_inner().expect("no worker panicked"));
    assert!(
        failures.is_empty(),
        "{} of {} builds misbehave:\n\n{}",
        failures.len(),
        cases.len(),
        failures.join("\n")
    );
}

/// Whether this form of the test builds a variant.
fn is_built(program: &Program, variant_index: usize) -> bool {
    let variants = &program.variants;
    is_long()
        || variants[variant_index].is_optimized()
        || !variants.iter().any(Variant::is_optimized)
}

/// Leaves what took how long, the longest first.
fn keep(mut times: Vec<(f64, String)>) {
    times.sort_by(|(a, _), (b, _)| b.total_cmp(a));
    let lines: String =
        times.iter().map(|(seconds, title)| format!("{seconds:.2}\t{title}\n")).collect();
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join("programs.tsv");
    std::fs::write(&file, lines).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
}

/// One build of a program.
struct Case<'a> {
    program: &'a Program,
    /// What its first variant does as the plain compiler builds it.
    plain: &'a OnceLock<Result<Outcome, String>>,
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

    fn title(&self) -> String {
        let alone = self.args().iter().map(|arg| format!("{arg} ")).collect::<String>();
        format!("{} [{alone}{}]", self.program.name(), self.variant().text)
    }

    /// Arguments that only szc gets.
    fn args(&self) -> Vec<&'static str> {
        self.alone.iter().map(|alone| alone.word).collect()
    }

    /// Whether the program is built for what a variable switches off.
    fn has(&self, variable: &str) -> bool {
        self.alone.is_none_or(|alone| !alone.others.contains(&variable))
    }
}

fn check(case: &Case<'_>) -> Result<(), String> {
    check_build(case).map_err(|error| format!("{}: {error}", case.title()))
}

fn check_build(case: &Case<'_>) -> Result<(), String> {
    let place = tempfile::tempdir().expect("a temporary directory");
    let first = || case.plain.get_or_init(|| plain(case.program, 0)).clone();
    let own_plain = number_in("SZC_TEST_SEEDS").is_some() && case.variant_index > 0;
    let mut expected = if own_plain { plain(case.program, case.variant_index)? } else { first()? };
    let mut is_of_first = case.variant_index > 0 && !own_plain;
    let moving = build_moving(case.program, case.variant(), &case.args(), place.path())?;
    for settings in all_settings(case) {
        let mut result = check_run(case, &moving, &expected, &settings, ATTEMPTS);
        if result.is_err() && is_of_first {
            // What it does may depend on how it is built.
            is_of_first = false;
            expected = plain(case.program, case.variant_index)?;
            result = check_run(case, &moving, &expected, &settings, ATTEMPTS);
        }
        result.map_err(|difference| format!("{difference}\n{}", reproduction(case, &settings)))?;
    }
    Ok(())
}

/// What a program does as the plain compiler builds it.
fn plain(program: &Program, variant_index: usize) -> Result<Outcome, String> {
    let place = tempfile::tempdir().expect("a temporary directory");
    let variant = &program.variants[variant_index];
    let outcome = run(&build_plain(program, variant, place.path())?, &[], &[]);
    if outcome.ending == program.ending {
        return Ok(outcome);
    }
    Err(format!(
        "the plain build ends with {:?}, its directives say {:?}\n{}{}",
        outcome.ending,
        program.ending,
        outcome.text(),
        outcome.stderr
    ))
}

/// The number in an environment variable.
fn number_in(variable: &str) -> Option<u64> {
    let text = std::env::var(variable).ok()?;
    Some(text.parse().unwrap_or_else(|_| panic!("{variable} is no number: {text}")))
}

/// What is switched off so that one randomization is left, or none is.
const ALONE: [&[&str]; 4] =
    [&["SZC_STACK", "SZC_HEAP"], &["SZC_CODE", "SZC_HEAP"], &["SZC_CODE", "SZC_STACK"], &[]];

/// Milliseconds between layouts; with 0 there is one.
const INTERVALS_MS: [&str; 4] = ["1", "20", "500", "0"];

/// Every randomization that is built, every interval, with so many seeds.
fn matrix(case: &Case<'_>, seeds: u64) -> Vec<Vec<(&'static str, String)>> {
    let mut all = Vec::new();
    // What is built alone needs nothing switched off.
    let offs = if case.alone.is_some() { &ALONE[3..] } else { &ALONE[..] };
    for &off in offs {
        for interval in INTERVALS_MS {
            all.extend((1..=seeds).map(|seed| {
                let mut settings = setting(seed, interval);
                settings.extend(off.iter().map(|name| (*name, "0".to_owned())));
                settings
            }));
        }
    }
    all
}

fn setting(seed: u64, interval_ms: &str) -> Vec<(&'static str, String)> {
    vec![("SZC_SEED", seed.to_string()), ("SZC_INTERVAL_MS", interval_ms.to_owned())]
}

/// All randomizations at fast epochs; with several seeds, at the slower ways, and each
/// randomization alone, for a program's first variant only.
fn all_settings(case: &Case<'_>) -> Vec<Vec<(&'static str, String)>> {
    if let Some(seeds) = number_in("SZC_TEST_MATRIX") {
        return matrix(case, seeds);
    }
    let fast = |seed| {
        let mut fast = setting(seed, "1");
        // Copies that a thread could still reach are overwritten as soon as they can be.
        fast.push(("SZC_CODE_RECLAIM", "stress".to_owned()));
        fast
    };
    let seeds = number_in("SZC_TEST_SEEDS");
    if case.variant_index > 0 {
        let own = case.variant_index as u64 + 2;
        let Some(seeds) = seeds else { return vec![fast(own)] };
        return (1..=seeds).map(fast).chain([setting(101, "0")]).collect();
    }
    let mut all: Vec<_> = (1..=seeds.unwrap_or(2)).map(fast).collect();
    all.extend([setting(101, "0"), setting(102, "20")]);
    for (seed, off) in (104..).zip(&ALONE[..3]) {
        let mut alone = setting(seed, "1");
        alone.extend(off.iter().map(|name| (*name, "0".to_owned())));
        all.push(alone);
    }
    all
}

fn check_run(
    case: &Case<'_>,
    moving: &Path,
    expected: &Outcome,
    settings: &Settings,
    attempts: u32,
) -> Result<(), String> {
    let program = case.program;
    let borrowed: Vec<(&str, &str)> =
        settings.iter().map(|(name, value)| (*name, value.as_str())).collect();
    let found = run(moving, &borrowed, &[]);
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
    if (on("SZC_CODE") || on("SZC_STACK")) && log.libraries.attached < program.attached {
        return Err(format!("fewer libraries than there are were attached: {log:?}"));
    }
    if log.libraries.refused.is_some()
        || (on("SZC_CODE") && log.libraries.moving < program.attached.min(1))
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
            check_run(case, moving, expected, settings, attempts - 1)
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
    let args = variant.args.join(" ");
    let driver = [&[driver], &case.args()[..]].concat().join(" ");
    let sources: Vec<String> = std::iter::once(&program.source)
        .chain(&program.with)
        .map(|path| path.display().to_string())
        .collect();
    let sources = sources.join(" ");
    let mut text = String::from("    ");
    match variant.compiler {
        Compiler::Szc => {
            let _ = write!(text, "{driver} {sources} {args} -o moving");
        }
        Compiler::Gcc => {
            let gcc = if program.is_cxx() { "g++" } else { "gcc" };
            let _ = write!(text, "{gcc} -c {sources} {args} && {driver} *.o {args} -o moving");
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
