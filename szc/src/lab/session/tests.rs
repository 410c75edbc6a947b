//! Sessions over real commands; a shell script stands in for a program built by szc.

use std::path::Path;
use std::time::{Duration, Instant};

use super::*;
use crate::samples::Metric;

/// Writes the log that the runtime would write.
const RANDOMIZED: &str = r#"log='{"pid":%d,"seed":%s,"randomize":{"code":true},"epochs":2,'
log=$log'"relocations":9}\n'; printf "$log" $$ $SZC_SEED > "$(dirname "$SZC_LOG")/$$.json"; "#;

#[derive(Default)]
struct Notes {
    runs: usize,
    blocks: u32,
    enough: Option<u32>,
    warnings: Vec<String>,
}

impl Observer for Notes {
    fn run_done(&mut self) {
        self.runs += 1;
    }
    fn block_done(&mut self, blocks: u32, _samples: &[Sample]) -> Next {
        self.blocks = blocks;
        if self.enough == Some(blocks) { Next::Stop } else { Next::Block }
    }
    fn warning(&mut self, text: &str) {
        self.warnings.push(text.to_owned());
    }
}

fn session_with(
    command_a: &str,
    command_b: &str,
    conditions: &Conditions,
    stop: &Stop,
) -> (Findings, Notes) {
    let programs = [
        Program::new(0, None, command_a).unwrap(),
        Program::new(1, Some("new".to_owned()), command_b).unwrap(),
    ];
    let mut notes = Notes::default();
    let findings = carry_out(&programs, conditions, Findings::none(2), stop, &mut notes);
    (findings, notes)
}

fn carry_out(
    programs: &[Program],
    conditions: &Conditions,
    earlier: Findings,
    stop: &Stop,
    notes: &mut Notes,
) -> Findings {
    let design = Design::mirrored(programs.len(), 6, 1);
    let task = Task { programs, design: &design, conditions, instruments: &[], warm_rounds: 0 };
    measure(task, earlier, stop, notes).unwrap()
}

fn session(command_a: &str, command_b: &str) -> (Findings, Notes) {
    session_with(command_a, command_b, &wall(), &Stop::new())
}

fn wall() -> Conditions {
    Conditions::new(Metric::Wall)
}

fn refusal(findings: &Findings) -> &str {
    match &findings.ending {
        Ending::Refused(text) => text,
        other => panic!("not refused but {other:?}"),
    }
}

#[test]
fn every_planned_run_becomes_a_sample() {
    let (findings, notes) = session("true", "true");
    assert_eq!(findings.ending, Ending::Complete);
    assert_eq!((findings.complete_blocks, notes.blocks), (6, 6));
    assert_eq!(findings.samples.len(), 24);
    assert_eq!(notes.runs, 26);
    let of_b = |sample: &&Sample| sample.program == 1;
    assert_eq!(findings.samples.iter().filter(of_b).count(), 12);
}

#[test]
fn programs_without_a_log_are_warned_about_once_each() {
    let (findings, notes) = session("true", "true");
    assert_eq!(notes.warnings.len(), 2, "{:?}", notes.warnings);
    assert!(notes.warnings[1].starts_with("B (new) is not randomized"));
    assert!(notes.warnings[0].contains("CC=szc"));
    assert!(findings.states.iter().all(|state| state.not_randomized.is_some()));
    assert_eq!(findings.samples[0].relocations, None);
}

#[test]
fn a_program_that_logs_its_randomization_is_not_warned_about() {
    let (findings, notes) = session(RANDOMIZED, RANDOMIZED);
    assert_eq!(findings.ending, Ending::Complete);
    assert!(notes.warnings.is_empty(), "{:?}", notes.warnings);
    assert_eq!(findings.samples[3].relocations, Some(9));
    assert_eq!(findings.samples[3].epochs, Some(2));
    let last = findings.samples.iter().rfind(|sample| sample.program == 1).unwrap();
    assert_eq!(findings.states[1].last_log.as_ref().unwrap().seed, last.seed);
}

#[test]
fn a_failing_program_is_refused_with_its_seed_and_stderr() {
    let (findings, _) = session("true", "echo sorry >&2; exit 3");
    let text = refusal(&findings);
    assert!(text.starts_with("B (new) ended with exit status 3 in warm-up"), "{text}");
    assert!(text.contains("SZC_SEED="), "{text}");
    assert!(text.contains("    sorry"), "{text}");
    assert!(findings.samples.is_empty());
}

#[test]
fn samples_before_a_later_failure_are_kept() {
    let folder = tempfile::tempdir().unwrap();
    let counter = folder.path().join("runs");
    let script =
        format!("echo x >> {0}; test $(wc -l < {0}) -le 5 || kill -SEGV $$", counter.display());
    let (findings, _) = session("true", &script);
    let text = refusal(&findings);
    assert!(text.contains("was killed by SIGSEGV in block 3"), "{text}");
    assert_eq!(findings.complete_blocks, 2);
    assert!(findings.samples.len() >= 8);
}

#[test]
fn a_program_that_cannot_be_started_is_refused() {
    let (findings, _) = session("./no-such-program", "true");
    let text = refusal(&findings);
    assert!(text.contains("A cannot be run: ./no-such-program"), "{text}");
}

#[test]
fn a_program_that_outstays_the_timeout_is_refused() {
    let checks = Conditions { timeout: Some(Duration::from_millis(100)), ..wall() };
    let (findings, _) = session_with("sleep 20", "true", &checks, &Stop::new());
    assert!(refusal(&findings).contains("still running after 0.1 s"));
}

#[test]
fn programs_whose_output_differs_are_refused_unless_that_is_allowed() {
    let (findings, _) = session("echo a", "echo b");
    let text = refusal(&findings);
    assert!(text.starts_with("stdout of A and B (new) differs"), "{text}");
    assert!(text.contains("--no-check-output"));
    let checks = Conditions { check_output: false, ..wall() };
    let (findings, _) = session_with("echo a", "echo b", &checks, &Stop::new());
    assert_eq!(findings.ending, Ending::Complete);
}

#[test]
fn a_program_that_does_not_repeat_its_own_output_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let marker = folder.path().join("ran");
    let forgetful = format!("test -e {0} && echo again; : > {0}", marker.display());
    let (findings, _) = session("true", &forgetful);
    let text = refusal(&findings);
    assert!(text.starts_with("stdout of B (new) differs between two runs"), "{text}");
}

#[test]
fn a_stop_request_ends_the_session_without_blaming_the_program() {
    let stop = Stop::new();
    stop.request(2);
    let (findings, _) = session_with("true", "true", &wall(), &stop);
    assert_eq!(findings.ending, Ending::Interrupted(2));
    let (findings, _) = session_with("false", "false", &wall(), &stop);
    assert_eq!(findings.ending, Ending::Interrupted(2));
}

#[test]
fn an_observer_that_has_seen_enough_ends_the_session() {
    let programs = ["true", "true", "true"].map(|command| Program::new(0, None, command).unwrap());
    let mut notes = Notes { enough: Some(2), ..Notes::default() };
    let findings = carry_out(&programs, &wall(), Findings::none(3), &Stop::new(), &mut notes);
    assert_eq!((findings.ending, findings.complete_blocks), (Ending::Complete, 2));
    assert_eq!(findings.samples.len(), 12);
}

#[test]
fn a_resumed_session_makes_the_runs_that_were_missing() {
    let programs = ["true", "true"].map(|command| Program::new(0, None, command).unwrap());
    let go = |earlier, enough| {
        let mut notes = Notes { enough, ..Notes::default() };
        carry_out(&programs, &wall(), earlier, &Stop::new(), &mut notes)
    };
    let whole = go(Findings::none(2), None);
    let mut first = go(Findings::none(2), Some(3));
    // A run of a block that was not completed is made again.
    first.samples.push(Sample { block: 3, ..first.samples[0].clone() });
    let resumed = go(first, None);
    let plan = |findings: &Findings| -> Vec<(u32, u32, usize, u64)> {
        let runs = findings.samples.iter();
        runs.map(|run| (run.block, run.position, run.program, run.seed)).collect()
    };
    assert_eq!(plan(&resumed), plan(&whole));
    assert_eq!(resumed.complete_blocks, 6);
}

#[test]
fn a_resumed_session_refuses_output_other_than_before() {
    let programs = ["echo a", "echo a"].map(|command| Program::new(0, None, command).unwrap());
    let mut notes = Notes { enough: Some(1), ..Notes::default() };
    let mut first = carry_out(&programs, &wall(), Findings::none(2), &Stop::new(), &mut notes);
    for sample in &mut first.samples {
        sample.stdout_sha256 = "0".repeat(64);
    }
    let mut notes = Notes::default();
    let resumed = carry_out(&programs, &wall(), first, &Stop::new(), &mut notes);
    assert!(refusal(&resumed).contains("differs between two runs"), "{resumed:?}");
}

/// A session of two programs by turns on the last CPU.
fn by_turns(command_a: &str, command_b: &str) -> Findings {
    let programs = [command_a, command_b].map(|command| Program::new(0, None, command).unwrap());
    let design = Design { by_turns: true, ..Design::mirrored(2, 3, 1) };
    let conditions = Conditions {
        cpu: child::usable_cpus().unwrap().last().copied(),
        turn: Some(Duration::from_millis(3)),
        ..wall()
    };
    let task = Task {
        programs: &programs,
        design: &design,
        conditions: &conditions,
        instruments: &[],
        warm_rounds: 1,
    };
    measure(task, Findings::none(2), &Stop::new(), &mut Notes::default()).unwrap()
}

#[test]
fn programs_by_turns_are_under_way_at_once_each_with_its_own_log() {
    let folder = tempfile::tempdir().unwrap();
    let [a, b] = ["a", "b"].map(|name| folder.path().join(name));
    // Each goes on when it sees the other one, so neither could be alone.
    let meet = |own: &Path, other: &Path| {
        let (own, other) = (own.display(), other.display());
        format!("mkdir {own}; until test -d {other}; do :; done; sleep 0.05; rmdir {own}; ")
    };
    let findings = by_turns(&(meet(&a, &b) + RANDOMIZED), &(meet(&b, &a) + RANDOMIZED));
    assert_eq!(findings.ending, Ending::Complete);
    let places: Vec<(u32, u32)> =
        findings.samples.iter().map(|run| (run.block, run.position)).collect();
    assert_eq!(places, [(0, 0), (0, 1), (1, 0), (1, 1), (2, 0), (2, 1)]);
    assert!(findings.samples.iter().all(|run| run.relocations == Some(9)));
    assert!(findings.states.iter().all(|state| state.not_randomized.is_none()));
}

#[test]
fn when_a_program_fails_the_others_of_its_round_are_ended_and_not_blamed() {
    let begun = Instant::now();
    let findings = by_turns("sleep 30", "true; exit 3");
    assert!(refusal(&findings).contains("ended with exit status 3"), "{findings:?}");
    assert!(begun.elapsed() < Duration::from_secs(10));
}

#[test]
fn errands_are_run_around_every_run_and_not_measured() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("log");
    let line = |word: &str| Some(format!("echo {word} >> {}; sleep 0.02", log.display()));
    let conditions = Conditions { prepare: line("before"), cleanup: line("behind"), ..wall() };
    let script = format!("echo run >> {}", log.display());
    let (findings, _) = session_with(&script, &script, &conditions, &Stop::new());
    assert_eq!(findings.ending, Ending::Complete);
    let text = std::fs::read_to_string(&log).unwrap();
    assert_eq!(text, "before\nrun\nbehind\n".repeat(26));
    let mut times: Vec<u64> = findings.samples.iter().map(|run| run.wall_ns).collect();
    times.sort_unstable();
    assert!(times[0] < 20_000_000, "{times:?}");
}

#[test]
fn an_errand_that_fails_ends_the_session_with_its_stderr() {
    let conditions = Conditions { prepare: Some("echo no disk >&2; exit 7".to_owned()), ..wall() };
    let (findings, _) = session_with("true", "true", &conditions, &Stop::new());
    let text = refusal(&findings);
    assert!(text.starts_with("the command of --prepare ended with exit status 7"), "{text}");
    assert!(text.contains("    no disk"), "{text}");
}

#[test]
fn programs_see_an_environment_of_random_length_that_follows_from_the_seed() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("log");
    let script = format!("echo \"$SZC_SEED ${{#SZC_PADDING}}\" >> {}", log.display());
    session(&script, &script);
    let planned: Vec<String> = {
        let design = Design::mirrored(2, 6, 1);
        let measured = (0..6).flat_map(|block| design.block_runs(block));
        let runs = design.warm_up_runs().chain(measured);
        runs.map(|run| format!("{} {}", run.seed, run.padding_bytes.unwrap())).collect()
    };
    let text = std::fs::read_to_string(&log).unwrap();
    assert_eq!(text.lines().collect::<Vec<_>>(), planned);
}

/// Reads the length of stdout, and runs the program twice as the script says.
struct Length;

impl Instrument for Length {
    fn another(&self) -> Box<dyn Instrument> {
        Box::new(Self)
    }

    fn command(&self, argv: Vec<String>, scratch: &Path) -> Vec<String> {
        let note = format!("echo from >> {}/notes; exec \"$0\" \"$@\"", scratch.display());
        ["/bin/sh".to_owned(), "-c".to_owned(), note].into_iter().chain(argv).collect()
    }

    fn figures(
        &mut self,
        scratch: &Path,
        outcome: &child::Outcome,
    ) -> Result<std::collections::BTreeMap<String, f64>, String> {
        let notes = std::fs::read_to_string(scratch.join("notes")).map_err(|e| e.to_string())?;
        let lines = notes.lines().count() as f64;
        let length = outcome.stdout_tail.len() as f64;
        if length > 5.0 {
            return Err("too long".to_owned());
        }
        Ok([("length".to_owned(), length), ("lines".to_owned(), lines)].into())
    }
}

#[test]
fn instruments_add_figures_and_may_refuse() {
    let programs = ["echo ab", "echo abcdefgh"];
    for (command, expected) in programs.iter().zip([Some(3.0), None]) {
        let programs = [Program::new(0, None, command).unwrap()];
        let design = Design::mirrored(1, 2, 1);
        let conditions = Conditions::new("length".parse().unwrap());
        let instruments: [Box<dyn Instrument>; 1] = [Box::new(Length)];
        let task = Task {
            programs: &programs,
            design: &design,
            conditions: &conditions,
            instruments: &instruments,
            warm_rounds: 0,
        };
        let stop = Stop::new();
        let mut notes = Notes::default();
        let findings = measure(task, Findings::none(1), &stop, &mut notes).unwrap();
        match expected {
            Some(length) => assert!(
                findings
                    .samples
                    .iter()
                    .all(|run| { run.figures["length"] == length && run.figures["lines"] == 1.0 })
            ),
            None => assert!(refusal(&findings).contains("too long")),
        }
    }
}
