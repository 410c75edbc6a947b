//! The command line of `szc run`, and measurements through the public entry.

use std::process::ExitCode;

use super::*;
use crate::lab::exit::{EXIT_USAGE, EXIT_VERDICT};
use crate::lab::subcommand::exit_code;
use crate::samples::{EndedRecord, Metric, SamplesFile};

const WORK: &str = "i=0; while [ $i -lt 3000 ]; do i=$((i+1)); done";

fn measured_file(options: &[&str], command: &str) -> (ExitCode, SamplesFile) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.json");
    let mut args = vec!["--quiet", "--seed", "7", "--json", path.to_str().unwrap()];
    args.extend(options);
    args.extend(["--", command]);
    let code = exit_code::<Options>(&args);
    (code, io::read(&path).unwrap())
}

#[test]
fn senseless_command_lines_are_usage_errors() {
    for args in [
        &["true", "true"][..],
        &[],
        &["--runs", "1", "--", "true"],
        &["--runs", "9", "--time", "5s", "--", "true"],
        &["--precision", "0", "--", "true"],
        &["--time", "soon", "--", "true"],
        &["--name", "B=x", "--", "true"],
        &["--split", "--precision", "1%", "--", "true"],
        &["--split", "--runs-per-layout", "3", "--", "true"],
        &["--split", "--runs", "71", "--", "true"],
        &["--cpu", "100000", "--", "true"],
        &["--resume", "/nonexistent.json"],
    ] {
        assert_eq!(exit_code::<Options>(args), ExitCode::from(EXIT_USAGE), "{args:?}");
    }
}

#[test]
fn as_many_runs_are_made_as_asked_for_and_every_second_layout_runs_twice() {
    let (code, file) = measured_file(&["--runs", "9", "--metric", "wall"], WORK);
    assert_eq!(code, ExitCode::from(EXIT_VERDICT));
    assert_eq!((file.command, file.runs.len()), (Command::Run, 9));
    assert_eq!(file.design.complete_blocks, 6);
    let summary = &file.summaries[0];
    assert_eq!((summary.metric.clone(), summary.layouts, summary.runs), (Metric::Wall, 6, 9));
    assert!(summary.variance.is_some() && summary.interval.is_some());
    let seeds = |block| file.runs.iter().filter(move |run| run.block == block).map(|run| run.seed);
    assert!(seeds(0).all(|seed| Some(seed) == seeds(0).next()) && seeds(0).count() == 2);
    assert_ne!(seeds(0).next(), seeds(1).next());
}

#[test]
fn a_split_runs_pairs_that_differ_in_one_part_each() {
    let folder = tempfile::tempdir().unwrap();
    let notes = folder.path().join("notes");
    let seeds = "$SZC_SEED $SZC_CODE_SEED $SZC_STACK_SEED $SZC_HEAP_SEED";
    let command = format!("echo {seeds} >> {}; {WORK}", notes.display());
    let options = ["--split", "--runs", "72", "--metric", "cpu", "--turns", "off"];
    let (code, file) = measured_file(&[&options[..], &["--warmup", "0"]].concat(), &command);
    assert_eq!(code, ExitCode::from(EXIT_VERDICT));
    assert_eq!((file.design.complete_blocks, file.runs.len()), (6, 72));
    let found = file.summaries[0].split.clone().unwrap();
    assert_eq!((found.pairs, file.summaries[0].layouts), (6, 12));
    let notes = std::fs::read_to_string(&notes).unwrap();
    let seeds: Vec<Vec<&str>> = notes.lines().map(|line| line.split(' ').collect()).collect();
    for pair in seeds.chunks(12).flat_map(|block| block.chunks(2).zip(Part::ALL)) {
        let ([one, other], part) = (pair.0, pair.1) else { panic!("{pair:?}") };
        assert!(one.iter().all(|seed| *seed == one[0]), "{one:?}");
        let differs: Vec<bool> = one.iter().zip(other).map(|(one, other)| one != other).collect();
        let expected = match part {
            Part::Machine | Part::Bases => [false; 4],
            Part::Code => [false, true, false, false],
            Part::Stack => [false, false, true, false],
            Part::Heap => [false, false, false, true],
            Part::All => [true; 4],
        };
        assert_eq!(differs, expected, "{part:?}");
    }
}

#[test]
fn a_time_bounds_the_measurement() {
    let (code, file) = measured_file(&["--time", "300ms", "--metric", "wall"], "sleep 0.05");
    assert_eq!(code, ExitCode::from(EXIT_VERDICT));
    assert_eq!(file.ended, EndedRecord::Complete);
    assert!((2..12).contains(&file.runs.len()), "{}", file.runs.len());
}

#[test]
fn a_precision_is_measured_until_it_is_reached() {
    let options = ["--precision", "50%", "--metric", "wall", "--budget", "200"];
    let (code, file) = measured_file(&options, "sleep 0.02");
    assert_eq!(code, ExitCode::from(EXIT_VERDICT));
    let summary = &file.summaries[0];
    let [lower, upper] = summary.interval.unwrap();
    assert!((upper - lower) / 2.0 / summary.mean <= 0.5 || summary.layouts == 200, "{summary:?}");
    assert!(summary.layouts >= 10);
}

#[test]
fn a_saved_run_is_read_again() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.json");
    let path = path.to_str().unwrap();
    let args = ["--quiet", "--runs", "3", "--metric", "wall", "--json", path, "--", "true"];
    assert_eq!(exit_code::<Options>(&args), ExitCode::from(EXIT_VERDICT));
    assert_eq!(exit_code::<Options>(&["--quiet", path]), ExitCode::from(EXIT_VERDICT));
    let again = folder.path().join("again.json");
    let args = ["--quiet", path, "--metric", "rss", "--json", again.to_str().unwrap()];
    assert_eq!(exit_code::<Options>(&args), ExitCode::from(EXIT_VERDICT));
    assert_eq!(io::read(&again).unwrap().design.metric, Metric::Rss);
    let args = ["--quiet", path, "--metric", "instructions"];
    assert_eq!(exit_code::<Options>(&args), ExitCode::from(EXIT_USAGE));
    std::fs::write(path, "{").unwrap();
    assert_eq!(exit_code::<Options>(&["--quiet", path]), ExitCode::from(EXIT_USAGE));
}

#[test]
fn a_failing_program_is_four() {
    let (code, file) = measured_file(&["--metric", "wall"], "false");
    assert_eq!(code, ExitCode::from(crate::lab::exit::EXIT_PROGRAM));
    assert!(matches!(file.ended, EndedRecord::Refused { .. }));
}
