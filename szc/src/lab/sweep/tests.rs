//! Sweeps through the public entry, with the shell as the program.

use std::process::ExitCode;

use super::*;
use crate::lab::exit::{EXIT_PROGRAM, EXIT_USAGE, EXIT_VERDICT};
use crate::lab::subcommand::exit_code;
use crate::samples::{Command, EndedRecord, io};

/// Counts to {n}.
const LOOP: &str = "i=0; while [ $i -lt {n} ]; do i=$((i+1)); done";

fn sweep_of(args: &[&str]) -> (ExitCode, Option<SamplesFile>) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("samples.json");
    let json = format!("--json={}", path.display());
    let cache = format!("--cache={}", folder.path().join("cache").display());
    let args: Vec<OsString> =
        ["--quiet", &json, &cache].iter().chain(args).map(OsString::from).collect();
    (exit_code::<Options>(&args), io::read(&path).ok())
}

#[test]
fn levels_of_a_suite_are_measured_analysed_and_saved() {
    let other = format!("{LOOP}; true");
    let (code, file) = sweep_of(&[
        "--fixed=6",
        "--seed=5",
        "--warmup=0",
        "--param=n=100,20000",
        "--name=one",
        "--name=two",
        "--",
        LOOP,
        &other,
    ]);
    assert_eq!(code, EXIT_VERDICT.into());
    let file = file.unwrap();
    assert_eq!(file.command, Command::Sweep);
    assert_eq!(file.programs.len(), 4);
    assert_eq!(file.runs.len(), 2 * 6 * 4);
    assert_eq!(file.programs[3].title(), "n=20000 (two)");
    assert_eq!(file.programs[3].workload.as_deref(), Some("two"));
    assert_eq!(file.deciding_results().count(), 2);
    for result in file.deciding_results() {
        assert!(result.ratio > 1.5, "{}", result.sentence);
    }
    let suite = file.suite.unwrap();
    assert_eq!(
        (suite.workloads, suite.degrees_of_freedom),
        (vec!["one".into(), "two".into()], [1, 1])
    );
    assert_eq!(file.design.plan.seed, 5);
    let seeds: std::collections::HashSet<u64> = file.runs.iter().map(|run| run.seed).collect();
    assert_eq!(seeds.len(), file.runs.len(), "every run has a layout of its own");
}

#[test]
fn a_level_that_is_there_twice_is_refused_before_anything_runs() {
    for levels in ["--param=n=100,200,100", "--param=n=1,1"] {
        let (code, file) = sweep_of(&["--fixed=6", levels, "--", LOOP]);
        assert_eq!((code, file), (EXIT_USAGE.into(), None));
    }
}

#[test]
fn the_reference_is_the_level_that_the_user_names() {
    let args =
        ["--fixed=6", "--warmup=0", "--param=n=100,200,20000", "--reference=20000", "--", LOOP];
    let (code, file) = sweep_of(&args);
    assert_eq!(code, EXIT_VERDICT.into());
    let file = file.unwrap();
    let levels: Vec<&str> = file.programs.iter().filter_map(|one| one.level.as_deref()).collect();
    assert_eq!(levels, ["n=20000", "n=100", "n=200"]);
    assert!(file.deciding_results().all(|result| result.reference == 0 && result.ratio < 1.0));
}

#[test]
fn a_program_that_fails_ends_the_sweep_and_keeps_what_was_measured() {
    let (code, file) =
        sweep_of(&["--fixed=6", "--warmup=0", "--param=n=1,2", "--", LOOP, "false {n}"]);
    assert_eq!(code, EXIT_PROGRAM.into());
    let file = file.unwrap();
    assert!(
        matches!(&file.ended, EndedRecord::Refused { reason } if reason.contains("exit status"))
    );
    assert_eq!(file.runs.len(), 6 * 4);
    assert!(file.results.is_empty());
}

#[test]
fn usage_errors_come_before_anything_runs() {
    for args in [
        &["--param=n=1,2"][..],
        &["--", "true"],
        &["--param=n=1", "--", "echo {n}"],
        &["--param=n=1,2", "--", "true"],
        &["--param=n=1,2", "--reference=3", "--", "echo {n}"],
        &["--param=n=1,2", "--name=a", "--name=b", "--", "echo {n}"],
        &["--param=n=1,2", "--name=a", "--name=a", "--", "echo {n}", "echo {n}"],
        &["--param=n=1,2", "--fixed=5", "--", "echo {n}"],
        &["--param=n=1,2", "--metric=nonsense", "--", "echo {n}"],
        &["--param=n=1,2", "--", "'"],
        &["--rev=main", "--rev=HEAD", "--", "true"],
    ] {
        let (code, file) = sweep_of(args);
        assert_eq!(code, EXIT_USAGE.into(), "{args:?}");
        assert_eq!(file, None);
    }
    assert_eq!(exit_code::<Options>(&["--help"]), EXIT_VERDICT.into());
}

#[test]
fn a_broken_build_is_a_failure_of_the_program() {
    let args = ["--build=exit {n}", "--param=n=0,1", "--", "./bench"];
    assert_eq!(sweep_of(&args).0, EXIT_PROGRAM.into());
}

#[test]
fn programs_without_a_name_are_called_by_their_file() {
    let commands = ["/usr/bin/env a", "./x b", "./x c"].map(str::to_owned);
    assert_eq!(names(&commands, &[]).unwrap(), ["env", "x", "x #2"]);
    let given = ["p".to_owned()];
    assert_eq!(names(&commands, &given).unwrap(), ["p", "x", "x #2"]);
}

/// What was run, without what it cost.
fn plan(file: &SamplesFile) -> Vec<(usize, u32, u32, u64)> {
    file.runs.iter().map(|run| (run.program, run.block, run.position, run.seed)).collect()
}

#[test]
fn a_sweep_that_was_cut_off_names_all_programs_and_is_gone_on_with() {
    let args =
        ["--fixed=6", "--seed=3", "--warmup=0", "--param=n=1,200", "--name=one", "--name=two"];
    let (code, whole) = sweep_of(&[&args[..], &["--", LOOP, &format!("{LOOP}; true")]].concat());
    assert_eq!(code, EXIT_VERDICT.into());
    let whole = whole.unwrap();

    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("cut.json");
    let resume = || exit_code::<Options>(&["-q".as_ref(), "--resume".as_ref(), path.as_os_str()]);
    // Nothing at all, blocks of the first program, all of it, and blocks of the second as well.
    for (first, second) in [(0, 0), (2, 0), (6, 0), (6, 1), (6, 6)] {
        let mut cut = whole.clone();
        cut.runs.retain(|run| run.block < if run.program < 2 { first } else { second });
        cut.design.complete_blocks = first.max(second);
        cut.ended = EndedRecord::Interrupted { signal: 2 };
        io::write(&path, &cut).unwrap();
        assert_eq!(resume(), EXIT_VERDICT.into(), "{first} {second}");
        let found = io::read(&path).unwrap();
        assert_eq!(plan(&found), plan(&whole), "{first} {second}");
        assert_eq!(found.ended, EndedRecord::Complete);
        assert_eq!((found.created, found.programs.len()), (whole.created.clone(), 4));
        assert_eq!(
            found.suite.map(|suite| suite.workloads),
            Some(vec!["one".into(), "two".into()])
        );
    }
}

#[test]
fn a_file_that_no_sweep_wrote_is_not_gone_on_with() {
    let args = ["--fixed=6", "--warmup=0", "--param=n=1,2", "--", LOOP];
    let good = sweep_of(&args).1.unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("bad.json");
    let spoilers: [fn(&mut SamplesFile); 4] = [
        |file| file.command = Command::Compare,
        |file| file.programs[1].level = None,
        |file| file.programs[1].workload = Some("another".to_owned()),
        |file| file.programs[0].command = "'".to_owned(),
    ];
    for (place, spoil) in spoilers.iter().enumerate() {
        let mut bad = good.clone();
        spoil(&mut bad);
        io::write(&path, &bad).unwrap();
        let args = ["-q".as_ref(), "--resume".as_ref(), path.as_os_str()];
        assert_eq!(exit_code::<Options>(&args), EXIT_USAGE.into(), "{place}");
    }
    let args = ["--resume=x.json", "--fixed=7"].map(OsString::from);
    assert_eq!(exit_code::<Options>(&args), EXIT_USAGE.into());
}

#[test]
fn shards_have_the_layouts_of_the_whole_sweep() {
    let args = ["--fixed=6", "--seed=3", "--warmup=0", "--param=n=1,200"];
    let programs = ["--", LOOP, &format!("{LOOP}; true"), &format!("{LOOP}; true; true")];
    let of = |shard: &[&str]| sweep_of(&[&args[..], shard, &programs[..]].concat());
    let whole = of(&[]).1.unwrap();
    let seeds = |file: &SamplesFile, name: &str| -> Vec<(usize, u32, u64)> {
        let first = file.programs.iter().position(|one| one.workload.as_deref() == Some(name));
        let first = first.unwrap();
        let runs = file.runs.iter().filter(|run| (first..first + 2).contains(&run.program));
        runs.map(|run| (run.program - first, run.block, run.seed)).collect()
    };
    let (code, odd) = of(&["--shard=1/2"]);
    assert_eq!(code, EXIT_VERDICT.into());
    let odd = odd.unwrap();
    let even = of(&["--shard=2/2"]).1.unwrap();
    assert_eq!((odd.programs.len(), even.programs.len()), (4, 2));
    for (shard, name) in [(&odd, "i=0;"), (&odd, "i=0; #3"), (&even, "i=0; #2")] {
        assert_eq!(seeds(shard, name), seeds(&whole, name), "{name}");
    }

    // A shard that was cut off goes on with the seeds of its place in the suite.
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("cut.json");
    let mut cut = even.clone();
    cut.runs.retain(|run| run.block < 2);
    cut.design.complete_blocks = 2;
    cut.ended = EndedRecord::Interrupted { signal: 2 };
    io::write(&path, &cut).unwrap();
    assert_eq!(
        exit_code::<Options>(&["-q".as_ref(), "--resume".as_ref(), path.as_os_str()]),
        EXIT_VERDICT.into()
    );
    assert_eq!(plan(&io::read(&path).unwrap()), plan(&even));

    for wrong in ["--shard=4/4", "--shard=0/2", "--shard=3/2", "--shard=x"] {
        assert_eq!(of(&[wrong]).0, EXIT_USAGE.into(), "{wrong}");
    }
}
