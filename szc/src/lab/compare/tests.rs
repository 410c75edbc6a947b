//! The command line, and whole comparisons through the public entry.

use super::*;

fn parsed(words: &[&str]) -> Result<Options, clap::Error> {
    Options::try_parse_from(words)
}

fn exit_code(words: &[&str]) -> ExitCode {
    let words: Vec<OsString> = words.iter().map(OsString::from).collect();
    command(&words)
}

#[test]
fn the_option_table_is_consistent() {
    use clap::CommandFactory;
    Options::command().debug_assert();
}

#[test]
fn defaults_are_those_of_the_help() {
    let options = parsed(&["--", "./a x", "./b x"]).unwrap();
    assert_eq!((options.blocks, options.runs_per_block, options.warmup), (20, 1, 1));
    assert_eq!(options.metric, Metric::Cpu);
    assert!(!options.no_check_output && !options.quiet);
    assert_eq!(options.commands, ["./a x", "./b x"]);
}

#[test]
fn names_may_follow_one_option_or_two() {
    for words in [
        ["--name", "A=old", "B=new", "--", "a", "b"].as_slice(),
        ["--name", "A=old", "--name", "B=new", "--", "a", "b"].as_slice(),
        ["--name=B=new", "--name=A=old", "a", "b"].as_slice(),
    ] {
        let programs = programs_of(&parsed(words).unwrap()).unwrap();
        assert_eq!(programs[0].title(), "A (old)");
        assert_eq!(programs[1].title(), "B (new)");
    }
    assert!(parsed(&["--name", "C=x", "--", "a", "b"]).is_err());
    let twice = parsed(&["--name", "A=x", "--name", "A=y", "--", "a", "b"]).unwrap();
    assert!(programs_of(&twice).is_err());
}

#[test]
fn the_last_word_on_output_checking_wins() {
    let options = parsed(&["--no-check-output", "--check-output", "a", "b"]).unwrap();
    assert!(!options.no_check_output);
    let options = parsed(&["--no-check-output", "a", "b"]).unwrap();
    assert!(options.no_check_output);
}

#[test]
fn senseless_command_lines_are_usage_errors() {
    for words in [
        ["true"].as_slice(),
        &["true", "true", "true"],
        &["--blocks", "5", "--", "true", "true"],
        &["--blocks", "many", "--", "true", "true"],
        &["--runs-per-block", "0", "--", "true", "true"],
        &["--timeout", "-1", "--", "true", "true"],
        &["--metric", "joy", "--", "true", "true"],
        &["--", "true", ""],
        &["--", "true", "echo 'open"],
    ] {
        assert_eq!(exit_code(words), ExitCode::from(EXIT_USAGE), "{words:?}");
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

#[test]
fn drawn_seeds_differ_and_are_exact_as_doubles() {
    let (one, two) = (draw_seed().unwrap(), draw_seed().unwrap());
    assert_ne!(one, two);
    assert!(one < 1 << 53 && two < 1 << 53);
}

/// Runs a comparison in few blocks and returns its exit code and samples file.
fn compare_commands(options: &[&str], command_a: &str, command_b: &str) -> (ExitCode, SamplesFile) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("samples.json");
    let mut words =
        vec!["--quiet", "--blocks", "6", "--seed", "7", "--json", path.to_str().unwrap()];
    words.extend(options);
    words.extend(["--", command_a, command_b]);
    let code = exit_code(&words);
    (code, json::read(&path).unwrap())
}

const SHORT: &str = "i=0; while [ $i -lt 2000 ]; do i=$((i+1)); done";
const LONG: &str = "i=0; while [ $i -lt 60000 ]; do i=$((i+1)); done";

#[test]
fn a_command_with_more_work_is_slower_and_one_with_less_is_faster() {
    for (command_a, command_b, verdict) in [(SHORT, LONG, "slower"), (LONG, SHORT, "faster")] {
        let (code, file) = compare_commands(&[], command_a, command_b);
        assert_eq!(code, ExitCode::from(EXIT_VERDICT));
        let result = file.result.unwrap();
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
    assert_eq!((file.seed, file.runs.len()), (7, 24));
    assert_eq!(file.programs[0].name.as_deref(), Some("old"));
    assert!(file.programs[0].executable.as_ref().unwrap().path.is_absolute());
    assert!(!file.programs[1].randomized);
    assert_eq!(file.command_line[..3], ["szc", "compare", "--quiet"]);
    assert_eq!(file.result.unwrap().metric, Metric::Wall);
    assert!(file.runs.iter().all(|run| run.seed >= 1_000_000_000_000_000));
}

#[test]
fn a_failing_command_exits_with_four_and_leaves_its_reason() {
    let (code, file) = compare_commands(&["--metric", "wall"], "true", "false");
    assert_eq!(code, ExitCode::from(EXIT_PROGRAM));
    assert_eq!(file.result, None);
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
    let words = ["--json", "/nonexistent/x.json", "--", &touch, &touch];
    assert_eq!(exit_code(&words), ExitCode::from(EXIT_INTERNAL));
    assert!(!trace.exists());
}
