//! Exit codes of gates through the public entry, and the words around them.

use super::*;
use crate::lab::EXIT_PROGRAM;
use crate::lab::run;

fn words_of(words: &[&str]) -> Vec<OsString> {
    words.iter().map(OsString::from).collect()
}

fn exit_code_of(words: &[&str]) -> ExitCode {
    command(&words_of(words))
}

/// A gate on wall time: budget 10 blocks, half a second at most.
fn gate(options: &[&str], baseline: &str, candidate: &str) -> (ExitCode, SamplesFile) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("gate.json");
    let mut words = vec!["-q", "--metric", "wall", "--seed", "3", "--json", path.to_str().unwrap()];
    words.extend(options);
    words.extend(["--", baseline, candidate]);
    let code = exit_code_of(&words);
    (code, json::read(&path).unwrap())
}

fn measured(folder: &Path, name: &str, command: &str) -> String {
    let path = folder.join(name).to_str().unwrap().to_owned();
    let words = ["-q", "--runs", "12", "--metric", "wall", "--json", &path, "--", command];
    assert_eq!(run::command(&words_of(&words)), ExitCode::from(EXIT_VERDICT));
    path
}

#[test]
fn the_option_table_is_consistent() {
    use clap::CommandFactory;
    Options::command().debug_assert();
}

#[test]
fn a_much_slower_candidate_fails_and_a_much_faster_one_passes() {
    let (code, file) = gate(&["--max-slowdown", "50%"], "sleep 0.01", "sleep 0.06");
    assert_eq!(code, ExitCode::from(EXIT_FAIL), "{:?}", file.results[0]);
    assert_eq!(file.results[0].verdict, Verdict::Fail);
    assert!(file.results[0].sentence.starts_with("FAIL: B is more than 50 % slower than A"));
    let (code, file) = gate(&["--max-slowdown", "50%"], "sleep 0.06", "sleep 0.01");
    assert_eq!(code, ExitCode::from(EXIT_VERDICT), "{:?}", file.results[0]);
    assert_eq!(file.command, Command::Gate);
}

#[test]
fn an_inconclusive_gate_is_three_or_what_the_policy_says() {
    // A tolerance below any noise cannot be decided in ten blocks.
    let options = ["--max-slowdown", "0.0001%", "--budget", "10"];
    for (policy, code) in [("report", 3), ("pass", 0), ("fail", 1)] {
        let options = [&options[..], &["--inconclusive", policy]].concat();
        let (found, file) = gate(&options, "sleep 0.005", "sleep 0.005");
        if file.results[0].verdict == Verdict::Inconclusive {
            assert_eq!(found, ExitCode::from(code), "{policy}");
            assert!(file.results[0].sentence.starts_with("INCONCLUSIVE"));
        }
    }
}

#[test]
fn a_candidate_that_fails_is_four_and_nonsense_is_two() {
    let (code, file) = gate(&[], "true", "false");
    assert_eq!(code, ExitCode::from(EXIT_PROGRAM));
    assert!(file.results.is_empty());
    for words in [
        &["--", "true"][..],
        &["--", "true", "true", "true"],
        &["--max-slowdown", "none", "--", "true", "true"],
        &["--inconclusive", "maybe", "--", "true", "true"],
        &["--baseline", "../x", "--", "true"],
        &["--baseline", "x", "--", "true", "true"],
    ] {
        assert_eq!(exit_code_of(words), ExitCode::from(EXIT_USAGE), "{words:?}");
    }
}

#[test]
fn two_saved_runs_are_compared_as_groups() {
    let folder = tempfile::tempdir().unwrap();
    let fast = measured(folder.path(), "fast.json", "sleep 0.005");
    let slow = measured(folder.path(), "slow.json", "sleep 0.08");
    let with = |one: &str, other: &str| {
        exit_code_of(&["-q", "--metric", "wall", "--max-slowdown", "100%", one, other])
    };
    assert_eq!(with(&fast, &slow), ExitCode::from(EXIT_FAIL));
    assert_eq!(with(&slow, &fast), ExitCode::from(EXIT_VERDICT));
}

#[test]
fn a_candidate_is_measured_against_a_saved_baseline() {
    let folder = tempfile::tempdir().unwrap();
    let baseline = measured(folder.path(), "base.json", "sleep 0.005");
    let path = folder.path().join("gate.json");
    let out = path.to_str().unwrap();
    let words = [
        "-q",
        "--metric",
        "wall",
        "--max-slowdown",
        "100%",
        "--json",
        out,
        &baseline,
        "sleep 0.08",
    ];
    assert_eq!(exit_code_of(&words), ExitCode::from(EXIT_FAIL));
    let file = json::read(&path).unwrap();
    assert_eq!((file.programs.len(), file.results[0].paired), (2, false));
    assert!(file.results[0].sentence.contains("unpaired"), "{:?}", file.results[0]);
    // Read again, it says the same.
    let again = ["-q", "--metric", "wall", "--max-slowdown", "100%", out];
    assert_eq!(exit_code_of(&again), ExitCode::from(EXIT_FAIL));
}

#[test]
fn samples_of_another_machine_are_refused_unless_the_user_insists() {
    let folder = tempfile::tempdir().unwrap();
    let one = measured(folder.path(), "one.json", "sleep 0.005");
    let other = measured(folder.path(), "other.json", "sleep 0.08");
    let mut file = json::read(Path::new(&other)).unwrap();
    file.machine.cpu = Some("a faster one".to_owned());
    json::write(Path::new(&other), &file).unwrap();
    let words = ["-q", "--metric", "wall", "--max-slowdown", "100%", &one, &other];
    assert_eq!(exit_code_of(&words), ExitCode::from(EXIT_USAGE));
    let insisting = [&words[..], &["--across-machines"]].concat();
    assert_eq!(exit_code_of(&insisting), ExitCode::from(EXIT_FAIL));
}
