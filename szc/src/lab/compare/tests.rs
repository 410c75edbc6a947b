//! The command line, and whole comparisons through the public entry.

use std::path::Path;
use std::process::ExitCode;

use clap::Parser;

use super::*;
use crate::lab::exit::{EXIT_INTERNAL, EXIT_PROGRAM, EXIT_USAGE, EXIT_VERDICT};
use crate::lab::subcommand::exit_code;
use crate::samples::{EndedRecord, Metric, io};

fn parsed(args: &[&str]) -> Result<Options, clap::Error> {
    Options::try_parse_from(args)
}

fn programs(args: &[&str]) -> Result<Vec<Program>> {
    let options = parsed(args).unwrap();
    programs_of(&options.commands, &options.comparison.names)
}

#[test]
fn defaults_are_those_of_the_help() {
    let options = parsed(&["--", "./a x", "./b x"]).unwrap();
    assert_eq!((options.fixed, options.comparison.budget, options.delta), (None, None, None));
    assert_eq!((options.comparison.runs_per_block, options.common.warmup), (1, 1));
    assert_eq!(options.common.metric_choice().unwrap().metric, Metric::Cpu);
    assert!(!options.common.no_check_output && !options.common.quiet);
    assert!(!options.common.no_shuffle);
    assert_eq!(options.commands, ["./a x", "./b x"]);
}

#[test]
fn names_may_follow_one_option_or_two() {
    for args in [
        ["--name", "A=old", "B=new", "--", "a", "b"].as_slice(),
        ["--name", "A=old", "--name", "B=new", "--", "a", "b"].as_slice(),
        ["--name=B=new", "--name=A=old", "a", "b"].as_slice(),
    ] {
        let programs = programs(args).unwrap();
        assert_eq!(programs[0].title(), "A (old)");
        assert_eq!(programs[1].title(), "B (new)");
    }
    assert!(programs(&["--name", "C=x", "--", "a", "b"]).is_err());
    assert!(programs(&["--name", "C=x", "--", "a", "b", "c"]).is_ok());
    assert!(programs(&["--name", "A=x", "--name", "A=y", "--", "a", "b"]).is_err());
}

#[test]
fn the_last_word_on_output_checking_wins() {
    let options = parsed(&["--no-check-output", "--check-output", "a", "b"]).unwrap();
    assert!(!options.common.no_check_output);
    let options = parsed(&["--no-check-output", "a", "b"]).unwrap();
    assert!(options.common.no_check_output);
}

#[test]
fn senseless_command_lines_are_usage_errors() {
    for args in [
        ["true"].as_slice(),
        &["--budget", "5", "--", "true", "true"],
        &["--fixed", "20", "--budget", "5m", "--", "true", "true"],
        &["--delta", "0", "--", "true", "true"],
        &["--cpu", "100000", "--", "true", "true"],
        &["--env-size", "huge", "--", "true", "true"],
        &["--resume", "x.json", "--", "true", "true"],
        &["--resume", "/nonexistent.json"],
        &["/nonexistent.json"],
        &["--blocks", "5", "--", "true", "true"],
        &["--blocks", "many", "--", "true", "true"],
        &["--runs-per-block", "0", "--", "true", "true"],
        &["--timeout", "-1", "--", "true", "true"],
        &["--metric", "joy", "--", "true", "true"],
        &["--", "true", ""],
        &["--", "true", "echo 'open"],
    ] {
        assert_eq!(exit_code::<Options>(args), ExitCode::from(EXIT_USAGE), "{args:?}");
    }
}

#[test]
fn too_few_blocks_are_explained() {
    let error = parsed(&["--blocks", "5", "--", "a", "b"]).unwrap_err();
    assert!(error.to_string().contains("no 95 % interval of a median exists below 6"));
}

#[test]
fn help_shows_examples_and_is_no_error() {
    let help = parsed(&["--help"]).unwrap_err();
    assert!(!help.use_stderr());
    let text = help.to_string();
    assert!(text.contains("Examples:") && text.contains("Exit status:"), "{text}");
}

/// Runs a comparison in few blocks and returns its exit code and samples file.
fn compare_commands(options: &[&str], command_a: &str, command_b: &str) -> (ExitCode, SamplesFile) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("samples.json");
    let mut args =
        vec!["--quiet", "--blocks", "6", "--seed", "7", "--json", path.to_str().unwrap()];
    args.extend(options);
    args.extend(["--", command_a, command_b]);
    let code = exit_code::<Options>(&args);
    (code, io::read(&path).unwrap())
}

const SHORT: &str = "i=0; while [ $i -lt 2000 ]; do i=$((i+1)); done";
const LONG: &str = "i=0; while [ $i -lt 60000 ]; do i=$((i+1)); done";

#[test]
fn a_command_with_more_work_is_slower_and_one_with_less_is_faster() {
    for (command_a, command_b, verdict) in [(SHORT, LONG, "slower"), (LONG, SHORT, "faster")] {
        let (code, file) = compare_commands(&[], command_a, command_b);
        assert_eq!(code, ExitCode::from(EXIT_VERDICT));
        let result = &file.results[0];
        assert_eq!(result.verdict.word(), verdict, "{}", result.sentence);
        assert!(result.sentence.starts_with("B is "), "{}", result.sentence);
        assert!(result.sentence.contains(verdict), "{}", result.sentence);
        assert!(result.sentence.contains("one layout only"), "{}", result.sentence);
    }
}

#[test]
fn the_samples_file_holds_the_whole_experiment() {
    let (_, file) = compare_commands(&["--name", "A=old", "--metric", "wall"], "true", "true");
    assert_eq!(file.ended, EndedRecord::Complete);
    assert_eq!((file.design.plan.seed, file.runs.len()), (7, 24));
    assert_eq!(file.programs[0].name.as_deref(), Some("old"));
    assert!(file.programs[0].executable.as_ref().unwrap().path.is_absolute());
    assert!(!file.programs[1].randomized);
    assert_eq!(file.command_line[..3], ["szc", "compare", "--quiet"]);
    assert_eq!(file.results[0].metric, Metric::Wall);
    assert!(file.runs.iter().all(|run| run.seed >= 1_000_000_000_000_000));
}

#[test]
fn a_failing_command_exits_with_four_and_leaves_its_reason() {
    let (code, file) = compare_commands(&["--metric", "wall"], "true", "false");
    assert_eq!(code, ExitCode::from(EXIT_PROGRAM));
    assert!(file.results.is_empty() && file.summaries.is_empty());
    let EndedRecord::Refused { reason } = file.ended else {
        panic!("not refused");
    };
    assert!(reason.contains("B ended with exit status 1 in warm-up"), "{reason}");
}

#[test]
fn differing_output_exits_with_four() {
    let (code, _) = compare_commands(&["--metric", "wall"], "echo a", "echo b");
    assert_eq!(code, ExitCode::from(EXIT_PROGRAM));
    let (code, _) =
        compare_commands(&["--metric", "wall", "--no-check-output"], "echo a", "echo b");
    assert_eq!(code, ExitCode::from(EXIT_VERDICT));
}

#[test]
fn a_samples_file_that_cannot_be_written_stops_before_the_first_run() {
    let folder = tempfile::tempdir().unwrap();
    let trace = folder.path().join("ran");
    let touch = format!("touch {}", trace.display());
    let args = ["--json", "/nonexistent/x.json", "--", &touch, &touch];
    assert_eq!(exit_code::<Options>(&args), ExitCode::from(EXIT_INTERNAL));
    assert!(!trace.exists());
}

/// A sequential comparison with these options; its exit code and samples.
fn sequential(options: &[&str], commands: &[&str]) -> (ExitCode, SamplesFile) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("samples.json");
    let mut args = vec!["--quiet", "--metric", "wall", "--seed", "7", "--json"];
    args.push(path.to_str().unwrap());
    args.extend(options);
    args.push("--");
    args.extend(commands);
    (exit_code::<Options>(&args), io::read(&path).unwrap())
}

#[test]
fn a_large_difference_is_found_long_before_the_budget_is_spent() {
    let (code, file) = sequential(&[], &["sleep 0.01", "sleep 0.05"]);
    assert_eq!(code, ExitCode::from(EXIT_VERDICT));
    assert_eq!(file.design.rule, RuleRecord::Sequential);
    assert!((10..30).contains(&file.design.complete_blocks), "{}", file.design.complete_blocks);
    assert_eq!(file.results[0].verdict.word(), "slower");
    assert!(file.results[0].sentence.contains("confidence sequence"), "{:?}", file.results[0]);
}

#[test]
fn three_commands_are_compared_with_the_first() {
    let (_, file) = sequential(&["--delta", "100%"], &["sleep 0.01", "sleep 0.05", "sleep 0.01"]);
    let deciding: Vec<_> =
        file.deciding_results().map(|result| (result.program, result.verdict.word())).collect();
    assert_eq!(deciding[0], (1, "slower"));
    assert_eq!(deciding[1].0, 2);
    assert_eq!(file.programs[2].label, "C");
    assert_eq!(file.runs.len(), 6 * file.design.complete_blocks as usize);
}

#[test]
fn a_budget_of_time_ends_with_a_block() {
    let (code, file) = sequential(&["--budget", "300ms"], &["sleep 0.02", "sleep 0.02"]);
    assert_eq!(code, ExitCode::from(EXIT_VERDICT));
    assert_eq!(file.ended, EndedRecord::Complete);
    assert!((1..=10).contains(&file.design.complete_blocks), "{}", file.design.complete_blocks);
}

#[test]
fn saved_samples_are_read_again_with_other_questions() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("samples.json");
    let again = folder.path().join("again.json");
    let (path, again) = (path.to_str().unwrap(), again.to_str().unwrap());
    let measure = ["-q", "--fixed", "6", "--metric", "wall", "--json", path, "--", "true", "true"];
    assert_eq!(exit_code::<Options>(&measure), ExitCode::from(EXIT_VERDICT));
    let args = ["-q", path, "--metric", "rss", "--delta", "50%", "--name", "B=b", "--json", again];
    assert_eq!(exit_code::<Options>(&args), ExitCode::from(EXIT_VERDICT));
    let (one, other) = (io::read(Path::new(path)).unwrap(), io::read(Path::new(again)).unwrap());
    assert_eq!(one.runs, other.runs);
    assert_eq!(other.design.metric, Metric::Rss);
    assert_eq!(other.results[0].verdict.word(), "equivalent");
    assert_eq!(other.programs[1].title(), "B (b)");
    for args in [&[path, "--metric", "instructions"][..], &[path, "true"], &[path, path]] {
        assert_eq!(exit_code::<Options>(args), ExitCode::from(EXIT_USAGE), "{args:?}");
    }
}

#[test]
fn a_refused_comparison_says_why_when_it_is_read_again() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("samples.json");
    let text = path.to_str().unwrap();
    let measure = ["-q", "--fixed", "6", "--json", text, "--", "true", "false"];
    assert_eq!(exit_code::<Options>(&measure), ExitCode::from(EXIT_PROGRAM));
    assert_eq!(exit_code::<Options>(&["-q", text]), ExitCode::from(EXIT_PROGRAM));
}

#[test]
fn an_experiment_goes_on_where_it_was_begun_only() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("samples.json");
    let text = path.to_str().unwrap();
    let args = ["-q", "--fixed", "6", "--metric", "wall", "--json", text, "--", "true", "true"];
    assert_eq!(exit_code::<Options>(&args), ExitCode::from(EXIT_VERDICT));
    let mut cut = io::read(&path).unwrap();
    cut.design.complete_blocks = 3;
    cut.ended = EndedRecord::Interrupted { signal: 1 };
    cut.machine.cpu = Some("a faster one".to_owned());
    io::write(&path, &cut).unwrap();
    assert_eq!(exit_code::<Options>(&["-q", "--resume", text]), ExitCode::from(EXIT_USAGE));
    assert_eq!(io::read(&path).unwrap(), cut);
}

#[test]
fn an_interrupted_comparison_is_resumed_with_the_same_plan() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("samples.json");
    let text = path.to_str().unwrap();
    let args = [
        "-q", "--fixed", "8", "--metric", "wall", "--seed", "5", "--json", text, "--", "true",
        "true",
    ];
    assert_eq!(exit_code::<Options>(&args), ExitCode::from(EXIT_VERDICT));
    let whole = io::read(&path).unwrap();
    let mut cut = whole.clone();
    cut.design.complete_blocks = 3;
    cut.runs.truncate(14);
    cut.ended = EndedRecord::Interrupted { signal: 2 };
    io::write(&path, &cut).unwrap();
    assert_eq!(exit_code::<Options>(&["-q", "--resume", text]), ExitCode::from(EXIT_VERDICT));
    let resumed = io::read(&path).unwrap();
    assert_eq!(resumed.ended, EndedRecord::Complete);
    assert_eq!(resumed.created, whole.created);
    assert_eq!(resumed.runs[..12], whole.runs[..12]);
    let plan = |file: &SamplesFile| -> Vec<_> {
        file.runs.iter().map(|run| (run.block, run.position, run.program, run.seed)).collect()
    };
    assert_eq!(plan(&resumed), plan(&whole));
    // A fixed number of blocks stays fixed, and a run is no comparison.
    let args = ["--resume", text, "--budget", "100"];
    assert_eq!(exit_code::<Options>(&args), ExitCode::from(EXIT_USAGE));
}

#[test]
fn a_resumed_comparison_keeps_its_schedule_and_by_turns_wall_time_is_no_metric() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("samples.json");
    let text = path.to_str().unwrap();
    for turns in ["7ms", "off"] {
        let mut args = vec!["-q", "--fixed", "6", "--turns", turns, "--json", text];
        args.extend(["--", SHORT, SHORT]);
        assert_eq!(exit_code::<Options>(&args), ExitCode::from(EXIT_VERDICT));
        let whole = io::read(&path).unwrap();
        let mut cut = whole.clone();
        cut.design.complete_blocks = 3;
        // What the experiment would do today is not what it did.
        cut.design.turns = Some("auto".to_owned());
        io::write(&path, &cut).unwrap();
        assert_eq!(exit_code::<Options>(&["-q", "--resume", text]), ExitCode::from(EXIT_VERDICT));
        let resumed = io::read(&path).unwrap();
        let schedule = |file: &SamplesFile| file.programs[0].schedule.clone().unwrap();
        assert_eq!(schedule(&resumed).turn_ms, (turns == "7ms").then_some(7.0));
        assert_eq!(schedule(&resumed), schedule(&whole));
        assert_eq!(resumed.runs.len(), if turns == "7ms" { 12 } else { 24 });
        // While one runs by turns, the others' time passes.
        let code = if turns == "7ms" { EXIT_USAGE } else { EXIT_VERDICT };
        let args = ["-q", text, "--metric", "wall"];
        assert_eq!(exit_code::<Options>(&args), ExitCode::from(code));
        assert_eq!(exit_code::<Options>(&["-q", text]), ExitCode::from(EXIT_VERDICT));
    }
}

#[test]
fn a_program_that_has_changed_is_not_resumed() {
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("program");
    std::fs::copy("/bin/true", &program).unwrap();
    let path = folder.path().join("samples.json");
    let (command, text) = (program.to_str().unwrap(), path.to_str().unwrap());
    let args = ["-q", "--fixed", "6", "--metric", "wall", "--json", text, "--", command, "true"];
    assert_eq!(exit_code::<Options>(&args), ExitCode::from(EXIT_VERDICT));
    std::fs::copy("/bin/false", &program).unwrap();
    assert_eq!(exit_code::<Options>(&["--resume", text]), ExitCode::from(EXIT_USAGE));
}
