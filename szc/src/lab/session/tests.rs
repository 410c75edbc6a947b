//! Sessions over real commands; a shell script stands in for a program built by szc.

use super::*;
use crate::measure::sample::Side;

/// Writes the log that the runtime would write.
const RANDOMIZED: &str = r#"printf '{"pid":%d,"seed":%s,"randomize":{"code":true},"epochs":2,"relocations":9}\n' $$ $SZC_SEED > "$(dirname "$SZC_LOG")/$$.json"; "#;

#[derive(Default)]
struct Notes {
    runs: usize,
    blocks: u32,
    warnings: Vec<String>,
}

impl Observer for Notes {
    fn run_done(&mut self) {
        self.runs += 1;
    }
    fn block_done(&mut self, blocks: u32, _samples: &[Sample]) {
        self.blocks = blocks;
    }
    fn warning(&mut self, text: &str) {
        self.warnings.push(text.to_owned());
    }
}

fn session_with(
    command_a: &str,
    command_b: &str,
    checks: Checks,
    stop: &Stop,
) -> (Findings, Notes) {
    let programs = [
        Program::new(Side::A, None, command_a).unwrap(),
        Program::new(Side::B, Some("new".to_owned()), command_b).unwrap(),
    ];
    let design = Design { blocks: 6, runs_per_position: 1, warmup: 1, seed: 1 };
    let mut notes = Notes::default();
    let findings = measure(&programs, &design, checks, stop, &mut notes).unwrap();
    (findings, notes)
}

fn session(command_a: &str, command_b: &str) -> (Findings, Notes) {
    session_with(command_a, command_b, CHECKS, &Stop::new())
}

const CHECKS: Checks = Checks { output: true, metric: Metric::Wall, timeout: None };

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
    let of_b = |sample: &&Sample| sample.program == Side::B;
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
    let last = findings.samples.iter().rfind(|sample| sample.program == Side::B).unwrap();
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
    let checks = Checks { timeout: Some(Duration::from_millis(100)), ..CHECKS };
    let (findings, _) = session_with("sleep 20", "true", checks, &Stop::new());
    assert!(refusal(&findings).contains("still running after 0.1 s"));
}

#[test]
fn programs_whose_output_differs_are_refused_unless_that_is_allowed() {
    let (findings, _) = session("echo a", "echo b");
    let text = refusal(&findings);
    assert!(text.starts_with("stdout of A and B (new) differs"), "{text}");
    assert!(text.contains("--no-check-output"));
    let checks = Checks { output: false, ..CHECKS };
    let (findings, _) = session_with("echo a", "echo b", checks, &Stop::new());
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
    let (findings, _) = session_with("true", "true", CHECKS, &stop);
    assert_eq!(findings.ending, Ending::Interrupted(2));
    let (findings, _) = session_with("false", "false", CHECKS, &stop);
    assert_eq!(findings.ending, Ending::Interrupted(2));
}
