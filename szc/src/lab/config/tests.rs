//! Good files, wrong files, hostile files; and what commands make of them.

use super::problems::place_of;
use std::ffi::OsString;
use std::fs;

use clap::Parser;
use proptest::prelude::*;

use super::*;
use crate::lab::build::BuildOptions;

const FULL: &str = r#"
tolerance = "2%"
metrics = ["user:([0-9]+) ops", "cpu"]

[[rows]]
name = "parse/*"
tolerance = "2%"

[[rows]]
name = "*"
tolerance = "0.5 %"

[[programs]]
name = "parser"
command = "./parse big.json"

[[programs]]
command = "./sort {n}"

[build]
command = "make CFLAGS={flags}"
flags = ["-O2", "-O3 -Wl,-z,now"]
tree = "source"
[build.parameters]
n = [1, 2_000, "x,y"]

[runs]
budget = 1_000
runs-per-block = 2
warmup = 0
timeout = 1.5
seed = 0x10
cpu = 1
env-size = "fixed"
prepare = "sync"
check-output = false
shuffle = false
"#;

fn problems(text: &str) -> Vec<String> {
    read("szc.toml", text).unwrap_err().iter().map(Problem::to_string).collect()
}

#[test]
fn a_full_file_is_read() {
    let config = read("szc.toml", FULL).unwrap();
    assert_eq!(config.tolerance.as_deref(), Some("2%"));
    assert_eq!(config.row_tolerances, ["parse/*=2%", "*=0.5 %"]);
    assert_eq!(config.metrics, ["user:([0-9]+) ops", "cpu"]);
    let names: Vec<&str> = config.programs.iter().map(|entry| entry.name.as_str()).collect();
    assert_eq!(names, ["parser", "./sort"]);
    assert_eq!(config.build.flags, ["-O2", "-O3 -Wl,-z,now"]);
    assert_eq!(config.runs.budget, Some(1000));
    assert_eq!(config.runs.seed, Some(16));
    assert_eq!(config.runs.timeout, Some(1.5));
    assert_eq!(read("szc.toml", ""), Ok(Config::default()));
}

#[test]
fn every_problem_has_its_line_and_column() {
    let text = "tolerence = \"1%\"\n\n[runs]\n  budget = 3\n[[programs]]\nname = \"x\"\n";
    assert_eq!(
        problems(text),
        [
            "szc.toml:1:1: unknown key `tolerence`; did you mean `tolerance`?",
            "szc.toml:4:12: `budget` is 3: 10 to 1000000 is needed",
            "szc.toml:5:1: a program needs a `command`",
        ]
    );
    assert_eq!(
        problems("# x\nw\u{e4}rmup = 1\n"),
        ["szc.toml:2:2: invalid unquoted key, expected letters, numbers, `-`, `_`"]
    );
}

#[test]
fn the_wrong_type_and_what_would_be_right_are_named() {
    for (text, expected) in [
        (
            "metrics = \"cpu\"",
            "1:11: `metrics` is a string: a list such as [\"a\", \"b\"] is needed",
        ),
        (
            "tolerance = 1",
            "1:13: `tolerance` is a whole number: a string in quotation marks is needed",
        ),
        ("tolerance = \"1\"", "1:13: `tolerance` is \"1\": a percentage such as \"1%\" is needed"),
        ("[runs]\nseed = -1", "2:8: `seed` is -1: 0 to 18446744073709551615 is needed"),
        ("[runs]\ntimeout = 0", "2:11: `timeout` is 0: a positive number is needed"),
        (
            "[runs]\nenv-size = \"big\"",
            "2:12: `env-size` is \"big\": \"random\" or \"fixed\" is needed",
        ),
        ("programs = 3", "1:12: `programs` is a whole number: tables, [[programs]] is needed"),
        ("[[programs]]\nname = \"x\"", "1:1: a program needs a `command`"),
        ("build = []", "1:9: `build` is a list: a table, [build] is needed"),
        ("[build]\nflags = []", "2:9: `flags` is an empty list: leave it out"),
        ("metrics = [\"cpus\"]", "1:12: unknown metric \"cpus\"; did you mean \"cpu\"?"),
        (
            "[runs]\nbudget = 20\nfixed = 20",
            "3:1: `fixed` and `budget` exclude each other: leave one out",
        ),
        ("[build]\nrevisions = [\"a\"]", "2:1: `revisions` need a `command` that builds them"),
        (
            "[runs]\nzzzz = 1",
            "2:1: unknown key `zzzz`; known here: budget, check-output, cleanup, cpu, env-size, \
             fixed, prepare, runs-per-block, seed, shuffle, timeout, turns, warmup",
        ),
    ] {
        assert_eq!(problems(text), [format!("szc.toml:{expected}")], "{text}");
    }
    assert!(problems("metrics = [\"user:x\"]")[0].contains("put parentheses around the figure"));
    assert!(problems("a = ")[0].starts_with("szc.toml:1:"));
}

#[test]
fn columns_count_characters() {
    assert_eq!(place_of("äö = 1\nü x", 4), (1, 3));
    assert_eq!(place_of("äö = 1\nü x", 12), (2, 3));
    assert_eq!(place_of("", 7), (1, 1));
}

/// A command with the options of all.
#[derive(Debug, Parser)]
#[command(no_binary_name = true)]
struct Everything {
    #[arg(long, default_value = "1%")]
    delta: String,
    #[arg(long, default_value = "cpu")]
    metric: String,
    #[arg(long, default_value = "100")]
    budget: u32,
    #[arg(long, conflicts_with = "budget")]
    fixed: Option<u32>,
    #[arg(long)]
    seed: Option<u64>,
    #[arg(long)]
    timeout: Option<f64>,
    #[arg(long)]
    no_shuffle: bool,
    #[arg(long = "name")]
    names: Vec<String>,
    #[arg(long)]
    resume: Option<String>,
    #[command(flatten)]
    build: BuildOptions,
    #[command(flatten)]
    config: ConfigOptions,
    commands: Vec<String>,
}

struct Place(tempfile::TempDir);

impl Place {
    fn with(text: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("szc.toml"), text).unwrap();
        Self(folder)
    }

    fn parse(&self, subject: Subject, args: &[&str]) -> Result<Everything, String> {
        let file = self.0.path().join("szc.toml").display().to_string();
        let args: Vec<OsString> =
            ["--config", &file].iter().chain(args).map(OsString::from).collect();
        parse(subject, &args).map_err(|error| error.to_string())
    }
}

#[test]
fn the_file_gives_the_defaults() {
    let all = Place::with(FULL).parse(Subject::Suite, &[]).unwrap();
    assert_eq!((all.delta.as_str(), all.budget, all.fixed), ("2%", 1000, None));
    assert_eq!(all.metric, "user:([0-9]+) ops");
    assert_eq!((all.seed, all.timeout, all.no_shuffle), (Some(16), Some(1.5), true));
    assert_eq!(all.names, ["parser", "./sort"]);
    assert_eq!(all.commands, ["./parse big.json", "./sort {n}"]);
    assert_eq!(all.build.build.as_deref(), Some("make CFLAGS={flags}"));
    let labels: Vec<String> =
        all.build.levels(&all.commands).unwrap().into_iter().map(|level| level.label).collect();
    assert_eq!(labels[..3], ["-O2 n=1", "-O2 n=2000", "-O2 n=x,y"]);
    assert_eq!(labels[3], "-O3 -Wl,-z,now n=1");
}

#[test]
fn the_command_line_wins() {
    let place = Place::with(FULL);
    let given =
        ["--fixed=30", "--metric=wall", "--seed=1", "--delta=5%", "--", "./mine", "./other"];
    let all = place.parse(Subject::Versions, &given).unwrap();
    assert_eq!((all.delta.as_str(), all.budget, all.fixed), ("5%", 100, Some(30)));
    assert_eq!((all.metric, all.seed), ("wall".to_owned(), Some(1)));
    assert_eq!(all.commands, ["./mine", "./other"]);
    assert!(!all.build.is_used(), "builds of the file belong to its programs");
    let all = place.parse(Subject::Suite, &["--flags=-O1"]).unwrap();
    assert_eq!(all.build.flags, ["-O1"]);
    assert_eq!(all.build.build.as_deref(), Some("make CFLAGS={flags}"));
    let all = place.parse(Subject::Suite, &["--build=cc x.c"]).unwrap();
    assert!(all.build.flags.is_empty());
}

#[test]
fn what_was_measured_before_does_not_change_with_the_file() {
    let place = Place::with(FULL);
    let samples = place.0.path().join("samples.json").display().to_string();
    fs::write(&samples, "{}").unwrap();
    let own = (String::from("1%"), 100, "cpu".to_owned());
    for args in [&[samples.as_str()][..], &[&samples, &samples], &["--resume", &samples]] {
        let all = place.parse(Subject::Versions, args).unwrap();
        assert_eq!((all.delta, all.budget, all.metric), own, "{args:?}");
        assert!(!all.build.is_used());
        assert_eq!(all.resume.is_some(), args.len() == 2 && args[0] == "--resume");
    }
    // The candidate is measured now.
    let all = place.parse(Subject::Versions, &[&samples, "./candidate"]).unwrap();
    assert_eq!((all.delta.as_str(), all.budget), ("2%", 1000));
}

#[test]
fn a_command_that_measures_one_program_wants_to_know_which() {
    let place = Place::with(FULL);
    let error = place.parse(Subject::Versions, &[]).unwrap_err();
    assert!(error.contains("choose one with --program NAME"), "{error}");
    let one = place.parse(Subject::Versions, &["--program", "parser"]).unwrap();
    assert_eq!(one.commands, ["./parse big.json"]);
    let error = place.parse(Subject::Program, &["--program", "parser"]).unwrap_err();
    assert!(error.contains("several versions: choose the one to measure, as in --flags=-O2"));
    let error = place.parse(Subject::Program, &["--flags=-O2", "--program", "x"]).unwrap_err();
    assert!(error.contains("no program \"x\" in szc.toml, which has: parser, ./sort"), "{error}");
}

#[test]
fn a_file_that_is_wrong_or_missing_is_a_usage_error() {
    let error = Place::with("x = 1").parse(Subject::Suite, &["--", "a"]).unwrap_err();
    assert!(error.contains("szc.toml:1:1: unknown key `x`"), "{error}");
    let args = ["--config=/no/such/file", "--", "a"].map(OsString::from);
    let error = parse::<Everything>(Subject::Suite, &args).unwrap_err();
    assert!(error.use_stderr());
    assert!(error.to_string().contains("cannot read /no/such/file"), "{error}");
}

proptest! {
    #[test]
    fn no_text_makes_the_reader_panic(text in "\\PC{0,200}") {
        let _ = read("szc.toml", &text);
    }

    #[test]
    fn no_text_of_tomls_own_characters_makes_the_reader_panic(
        text in "([a-z]{1,8}|programs|build|runs|metrics|=|\\[|\\]|\\{|\\}|\"|'|,|\\.|#|\n| \
                 |-?[0-9_]{1,30}|0x|inf|true|\u{e4}|\\\\){0,60}"
    ) {
        if let Err(problems) = read("szc.toml", &text) {
            prop_assert!(!problems.is_empty());
            for problem in problems {
                prop_assert!(problem.line <= 1 + text.matches('\n').count());
                prop_assert!(!problem.message.contains('\n'), "{:?}", problem.message);
            }
        }
    }

    #[test]
    fn any_value_in_any_place_is_read_or_refused(
        key in prop::sample::select(vec![
            "tolerance", "metrics", "programs", "build", "runs", "runs.budget", "runs.seed",
            "runs.timeout", "runs.cpu", "build.flags", "build.parameters", "build.parameters.n",
        ]),
        value in prop::sample::select(vec![
            "1", "-1", "1.5", "nan", "-inf", "\"\"", "\"x\"", "[]", "[[]]", "{}", "{ a = 1 }",
            "[{}]", "[1, \"x\"]", "true", "1979-05-27", "99999999999999999999999", "0b1", "1e999",
            "\"\\u0000\\u001b\"",
        ]),
    ) {
        if let Err(problems) = read("szc.toml", &format!("{key} = {value}\n")) {
            for problem in problems {
                prop_assert!((1..=2).contains(&problem.line));
                prop_assert!(!problem.message.contains('\u{1b}'), "{:?}", problem.message);
            }
        }
    }
}
