//! Exit codes of gates through the public entry, and the words around them.

use std::fs;
use std::process::ExitCode;

use super::*;
use crate::examples::rows_file;
use crate::lab::exit::{EXIT_PROGRAM, EXIT_USAGE};
use crate::lab::run;
use crate::lab::subcommand::exit_code;
use crate::samples::Metric;

/// A gate on wall time: budget 10 blocks, half a second at most.
fn gate(options: &[&str], baseline: &str, candidate: &str) -> (ExitCode, SamplesFile) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("gate.json");
    let mut args = vec!["-q", "--metric", "wall", "--seed", "3", "--json", path.to_str().unwrap()];
    args.extend(options);
    args.extend(["--", baseline, candidate]);
    let code = exit_code::<Options>(&args);
    (code, io::read(&path).unwrap())
}

fn measured(folder: &Path, name: &str, command: &str) -> String {
    let path = folder.join(name).to_str().unwrap().to_owned();
    let args = ["-q", "--runs", "12", "--metric", "wall", "--json", &path, "--", command];
    assert_eq!(exit_code::<run::Options>(&args), ExitCode::from(EXIT_VERDICT));
    path
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
    for args in [
        &["--", "true"][..],
        &["--", "true", "true", "true"],
        &["--max-slowdown", "none", "--", "true", "true"],
        &["--inconclusive", "maybe", "--", "true", "true"],
        &["--baseline", "../x", "--", "true"],
        &["--baseline", "x", "--", "true", "true"],
    ] {
        assert_eq!(exit_code::<Options>(args), ExitCode::from(EXIT_USAGE), "{args:?}");
    }
}

#[test]
fn two_saved_runs_are_compared_as_groups() {
    let folder = tempfile::tempdir().unwrap();
    let fast = measured(folder.path(), "fast.json", "sleep 0.005");
    let slow = measured(folder.path(), "slow.json", "sleep 0.08");
    let with = |one: &str, other: &str| {
        exit_code::<Options>(&["-q", "--metric", "wall", "--max-slowdown", "100%", one, other])
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
    let args = [
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
    assert_eq!(exit_code::<Options>(&args), ExitCode::from(EXIT_FAIL));
    let file = io::read(&path).unwrap();
    assert_eq!((file.programs.len(), file.results[0].paired), (2, false));
    assert!(file.results[0].sentence.contains("unpaired"), "{:?}", file.results[0]);
    // Read again, it says the same.
    let again = ["-q", "--metric", "wall", "--max-slowdown", "100%", out];
    assert_eq!(exit_code::<Options>(&again), ExitCode::from(EXIT_FAIL));
}

#[test]
fn samples_of_another_machine_are_refused_unless_the_user_insists() {
    let folder = tempfile::tempdir().unwrap();
    let one = measured(folder.path(), "one.json", "sleep 0.005");
    let other = measured(folder.path(), "other.json", "sleep 0.08");
    let mut file = io::read(Path::new(&other)).unwrap();
    file.machine.cpu = Some("a faster one".to_owned());
    io::write(Path::new(&other), &file).unwrap();
    let args = ["-q", "--metric", "wall", "--max-slowdown", "100%", &one, &other];
    assert_eq!(exit_code::<Options>(&args), ExitCode::from(EXIT_USAGE));
    let out = folder.path().join("gate.json");
    let insisting = ["--across-machines", "--json", out.to_str().unwrap()];
    assert_eq!(exit_code::<Options>(&[&args[..], &insisting].concat()), ExitCode::from(EXIT_FAIL));
    let joined = io::read(&out).unwrap();
    assert_eq!((joined.version, joined.machines.len()), (3, 2));
    assert_eq!(joined.machine_of(1).cpu.as_deref(), Some("a faster one"));
}

/// A candidate that prints `text` and sleeps.
fn printing(text: &str, seconds: &str) -> String {
    format!("sh -c 'sleep {seconds}; echo {text}'")
}

#[test]
fn a_candidate_that_prints_something_else_is_refused_whatever_it_takes() {
    let folder = tempfile::tempdir().unwrap();
    let baseline = measured(folder.path(), "base.json", &printing("one", "0.03"));
    let args = ["-q", "--metric", "wall", "--max-slowdown", "100%"];
    let against = |more: &[&str], candidate: &str| {
        exit_code::<Options>(&[&args[..], more, &[&baseline, candidate]].concat())
    };
    let other = printing("other", "0.005");
    assert_eq!(against(&[], &other), ExitCode::from(EXIT_PROGRAM));
    assert_eq!(against(&["--no-check-output"], &other), ExitCode::from(EXIT_VERDICT));
    assert_eq!(against(&[], &printing("one", "0.005")), ExitCode::from(EXIT_VERDICT));
    let saved = measured(folder.path(), "other.json", &other);
    assert_eq!(against(&[], &saved), ExitCode::from(EXIT_USAGE));
    assert_eq!(against(&["--no-check-output"], &saved), ExitCode::from(EXIT_VERDICT));
}

#[test]
fn a_refused_measurement_passes_no_gate() {
    let folder = tempfile::tempdir().unwrap();
    let slow = measured(folder.path(), "slow.json", "sleep 0.03");
    let fast = measured(folder.path(), "fast.json", "sleep 0.005");
    let mut file = io::read(Path::new(&fast)).unwrap();
    file.ended = EndedRecord::Refused { reason: "A failed".to_owned() };
    io::write(Path::new(&fast), &file).unwrap();
    for pair in [[&slow, &fast], [&fast, &slow]] {
        let args = ["-q", "--max-slowdown", "100%", pair[0], pair[1]];
        assert_eq!(exit_code::<Options>(&args), ExitCode::from(EXIT_USAGE));
    }
    assert_eq!(exit_code::<run::Options>(&["-q", &fast]), ExitCode::from(EXIT_PROGRAM));
}

#[test]
fn files_of_different_metrics_are_compared_only_by_what_both_have_alike() {
    let folder = tempfile::tempdir().unwrap();
    let one = measured(folder.path(), "one.json", "sleep 0.005");
    let other = measured(folder.path(), "other.json", "sleep 0.005");
    let of_metric = |metric: Metric, option: Option<&str>| {
        let mut file = io::read(Path::new(&other)).unwrap();
        file.design.metric = metric;
        file.design.metric_option = option.map(str::to_owned);
        io::write(Path::new(&other), &file).unwrap();
    };
    let args = ["-q", "--max-slowdown", "100%", &one, &other];
    let by_wall = [&args[..], &["--metric", "wall"]].concat();
    of_metric(Metric::Rss, None);
    assert_eq!(exit_code::<Options>(&args), ExitCode::from(EXIT_USAGE));
    assert_ne!(exit_code::<Options>(&by_wall), ExitCode::from(EXIT_USAGE));
    // Under valgrind everything takes longer.
    of_metric(Metric::Figure("instructions".to_owned()), None);
    assert_eq!(exit_code::<Options>(&by_wall), ExitCode::from(EXIT_USAGE));
}

/// The first program of a file takes a fixed figure, printed by itself.
fn counting(folder: &Path, name: &str, count: &str) -> String {
    let path = folder.join(name).to_str().unwrap().to_owned();
    let metric = "user:count ([0-9]+)";
    let command = format!("echo count {count} of {count}0");
    let args = ["-q", "--runs", "6", "--metric", metric, "--json", &path, "--", &command];
    assert_eq!(exit_code::<run::Options>(&args), ExitCode::from(EXIT_VERDICT));
    path
}

#[test]
fn figures_that_never_vary_are_certain_also_between_groups() {
    let folder = tempfile::tempdir().unwrap();
    let less = counting(folder.path(), "less.json", "100");
    let more = counting(folder.path(), "more.json", "150");
    for (pair, code) in [
        ([&less, &more], EXIT_FAIL),
        ([&more, &less], EXIT_VERDICT),
        ([&less, &less], EXIT_VERDICT),
    ] {
        assert_eq!(
            exit_code::<Options>(&["-q", pair[0], pair[1]]),
            ExitCode::from(code),
            "{pair:?}"
        );
    }
    let sentence = "n = 8 layouts, unpaired, where the program's own figure never varies";
    let (path, other) = (folder.path().join("gate.json"), &more);
    exit_code::<Options>(&["-q", "--json", path.to_str().unwrap(), &less, other]);
    let result = &io::read(&path).unwrap().results[0];
    assert!(result.sentence.contains(sentence), "{}", result.sentence);
    // What the program prints elsewhere was not measured.
    let args = ["-q", "--metric", "user:of ([0-9]+)", &less, &more];
    assert_eq!(exit_code::<Options>(&args), ExitCode::from(EXIT_USAGE));
}

#[test]
fn a_saved_gate_answers_by_its_verdict_and_its_own_tolerance() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("gate.json");
    let (_, mut file) = gate(&["--max-slowdown", "100%"], "sleep 0.02", "sleep 0.03");
    assert_eq!(file.results[0].verdict, Verdict::Pass, "{:?}", file.results[0]);
    for ended in [EndedRecord::Interrupted { signal: 2 }, EndedRecord::Unfinished] {
        file.ended = ended;
        io::write(&path, &file).unwrap();
        let path = path.to_str().unwrap();
        assert_eq!(exit_code::<Options>(&["-q", path]), ExitCode::from(EXIT_VERDICT));
        let strict = ["-q", "--max-slowdown", "1%", path];
        assert_eq!(exit_code::<Options>(&strict), ExitCode::from(EXIT_FAIL));
        for option in [["--max-slowdown", "50%"], ["--warmup", "3"], ["--env-size", "fixed"]] {
            let args = [&["-q", "--resume", path][..], &option].concat();
            assert_eq!(exit_code::<Options>(&args), ExitCode::from(EXIT_USAGE), "{option:?}");
        }
    }
}

#[test]
fn each_row_of_a_harness_is_held_to_its_own_tolerance() {
    let folder = tempfile::tempdir().unwrap();
    let [path, out] = ["rows.json", "gate.json"].map(|name| folder.path().join(name));
    let [path, out_text] = [&path, &out].map(|path| path.to_str().unwrap());
    // 21 runs of each program are in as many layouts as 5 % ask for, and 200 in as many as 1 %.
    let rows = [("io/read", 1.04), ("io/write", 1.04), ("parse/big", 1.0), ("parse/small", 1.02)];
    let mut file = rows_file(&rows, 100);
    file.design.tolerance = None;
    io::write(Path::new(path), &file).unwrap();
    let verdicts = |args: &[&str]| {
        let code = exit_code::<Options>(&[&["-q", "--json", out_text], args, &[path]].concat());
        let found = io::read(&out).unwrap();
        let all = found.deciding_results();
        let all: Vec<_> = all.map(|one| (one.tolerance.unwrap(), one.verdict)).collect();
        (code, all)
    };
    let (fail, pass) = (Verdict::Fail, Verdict::Pass);
    let (code, found) = verdicts(&[]);
    assert_eq!(code, ExitCode::from(EXIT_FAIL));
    assert_eq!(found, [(0.01, fail), (0.01, fail), (0.01, pass), (0.01, fail)]);
    let (code, found) = verdicts(&["--row-tolerance=io/*=5%", "--row-tolerance=*/w*=0.5%"]);
    assert_eq!(code, ExitCode::from(EXIT_FAIL));
    assert_eq!(found, [(0.05, pass), (0.05, pass), (0.01, pass), (0.01, fail)]);
    // The first pattern counts; --max-slowdown is for what none fits; and rows may be left out.
    let args = ["--row-tolerance=io/w*=6%", "--row-tolerance=io/*=5%", "--max-slowdown=3%"];
    let (code, found) = verdicts(&args);
    assert_eq!(code, ExitCode::from(EXIT_VERDICT));
    assert_eq!(found, [(0.05, pass), (0.06, pass), (0.03, pass), (0.03, pass)]);
    let (code, found) = verdicts(&["--rows=^parse/ && !small"]);
    assert_eq!((code, found), (ExitCode::from(EXIT_VERDICT), vec![(0.01, pass)]));
    // What was asked is in the file, and answers the same when it is read again.
    let kept = io::read(&out).unwrap();
    assert_eq!(kept.command, Command::Gate);
    verdicts(&args);
    fs::rename(&out, path).unwrap();
    let (code, found) = verdicts(&[]);
    assert_eq!(code, ExitCode::from(EXIT_VERDICT));
    assert_eq!(found, [(0.05, pass), (0.06, pass), (0.03, pass), (0.03, pass)]);
    assert_eq!(verdicts(&["--rows=x"]).0, ExitCode::from(EXIT_USAGE));
}

#[test]
fn a_budget_of_blocks_bounds_a_candidate_measured_alone() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("base.json");
    let path = path.to_str().unwrap();
    let args = ["-q", "--runs", "30", "--metric", "wall", "--json", path, "--", "sleep 0.002"];
    assert_eq!(exit_code::<run::Options>(&args), ExitCode::from(EXIT_VERDICT));
    let out = folder.path().join("gate.json");
    let args = ["-q", "--metric", "wall", "--budget", "10", "--json", out.to_str().unwrap(), path];
    exit_code::<Options>(&[&args[..], &["sleep 0.002"]].concat());
    let file = io::read(&out).unwrap();
    let blocks = |program| {
        file.runs.iter().filter(|run| run.program == program).map(|run| run.block).max().unwrap()
            + 1
    };
    assert_eq!((blocks(0), blocks(1)), (20, 10));
}
