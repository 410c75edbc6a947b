//! Parts of sweeps joined, and refused.

use super::*;
use crate::examples::suite_of;
use crate::lab::exit::{EXIT_USAGE, EXIT_VERDICT};
use crate::lab::subcommand::exit_code;
use crate::samples::shard::Shard;
use crate::samples::{Command, EndedRecord, VERSION, VERSION_OF_MACHINES};

/// A program at two levels, of that shard and that host.
fn part(name: &str, host: &str, shard: Option<(usize, usize)>) -> SamplesFile {
    // Programs that differ by exactly the same leave no error to divide by.
    let time = if name == "a" { 900 } else { 880 };
    let mut file = suite_of(&[&[1000, time]]);
    for record in &mut file.programs {
        record.workload = Some(name.to_owned());
    }
    file.machine.hostname = Some(host.to_owned());
    file.design.shard = shard.map(|(number, of)| Shard { number, of });
    file
}

fn join(files: &[SamplesFile], partial: bool) -> Result<SamplesFile> {
    let names = ["1.json", "2.json", "3.json", "4.json"];
    let named = names.iter().map(Path::new).zip(files.iter().cloned());
    joined(&named.collect::<Vec<_>>(), partial)
}

fn reason(files: &[SamplesFile], partial: bool) -> String {
    format!("{:#}", join(files, partial).unwrap_err())
}

#[test]
fn shards_of_one_machine_are_the_whole_sweep_whatever_the_order_of_the_files() {
    let files = [part("b", "one", Some((2, 2))), part("a", "one", Some((1, 2)))];
    let whole = join(&files, false).unwrap();
    assert_eq!((whole.version, whole.machines.len(), whole.design.shard), (VERSION, 0, None));
    let names: Vec<&str> =
        whole.programs.iter().filter_map(|record| record.workload.as_deref()).collect();
    assert_eq!(names, ["a", "a", "b", "b"]);
    assert_eq!(whole.runs.len(), 160);
    assert!(whole.runs[80..].iter().all(|run| run.program >= 2));
}

#[test]
fn each_program_keeps_its_machine() {
    let whole = join(&[part("a", "one", None), part("a", "two", None)], false).unwrap();
    assert_eq!((whole.version, whole.machines.len()), (VERSION_OF_MACHINES, 2));
    let hosts: Vec<String> = (0..4).map(|program| whole.machine_of(program).name()).collect();
    assert_eq!(hosts, ["one", "one", "two", "two"]);
    assert_eq!(whole.programs[3].title(), "B (a on two)");
    // A merged file is merged with further ones.
    let more = join(&[whole, part("b", "two", None)], false).unwrap();
    assert_eq!((more.machines.len(), more.programs.len()), (2, 6));
    assert_eq!(more.machine_of(5).name(), "two");
}

#[test]
fn what_was_measured_twice_on_a_machine_is_refused() {
    let file = part("a", "one", None);
    let text = reason(&[file.clone(), file], false);
    assert!(text.contains("a has two measurements, in 1.json and in 2.json, on one:"), "{text}");
}

#[test]
fn missing_shards_are_named_and_parts_are_joined_on_request() {
    let files = [part("a", "one", Some((1, 4))), part("c", "two", Some((3, 4)))];
    assert!(reason(&files, false).contains("shards are missing: 2/4, 4/4"));
    let whole = join(&files, true).unwrap();
    assert_eq!(whole.programs.len(), 4);
    assert_eq!(whole.ended, EndedRecord::Unfinished);
    let mixed = [part("a", "one", Some((1, 4))), part("c", "two", Some((1, 2)))];
    assert!(reason(&mixed, true).contains("shards of one division are needed"));
}

#[test]
fn files_of_other_plans_are_refused_by_what_differs() {
    type Spoiler = fn(&mut SamplesFile);
    let good = part("a", "one", None);
    let spoilers: [(Spoiler, &str); 8] = [
        (|file| file.command = Command::Compare, "is of szc compare"),
        (|file| file.design.plan.blocks += 1, "differ in the number of blocks (20 and 21)"),
        (|file| file.design.tolerance = Some(0.5), "differ in the tolerance"),
        (|file| file.design.metric = crate::samples::Metric::Wall, "in the metric"),
        (
            |file| file.programs[1].level = Some("-O9".to_owned()),
            "in the levels (-O1, -O2 and -O1, -O9)",
        ),
        (|file| file.ended = EndedRecord::Interrupted { signal: 2 }, "--resume 2.json"),
        (|file| file.ended = EndedRecord::Refused { reason: "it failed".to_owned() }, "it failed"),
        (|file| file.programs[1].workload = None, "belongs to no workload"),
    ];
    for (spoil, words) in spoilers {
        let mut other = part("b", "two", None);
        spoil(&mut other);
        let text = reason(&[good.clone(), other], false);
        assert!(text.contains(words), "{words}: {text}");
    }
}

#[test]
fn builds_that_differ_between_machines_are_warned_of() {
    let with = |host: &str, hash: &str| {
        let mut file = part("a", host, None);
        let executable = crate::samples::Executable {
            path: "./a".into(),
            sha256: hash.to_owned(),
            size_bytes: 1,
            compiler: Vec::new(),
        };
        file.programs[0].executable = Some(executable);
        file
    };
    let differing = join(&[with("one", "1"), with("two", "2")], false).unwrap();
    assert!(differing.advice.iter().any(|line| line.contains("not the same file on all machines")));
    let same = join(&[with("one", "1"), with("two", "1")], false).unwrap();
    assert!(!same.advice.iter().any(|line| line.contains("not the same file")));
}

#[test]
fn the_command_writes_one_file_that_says_what_it_was_made_of() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).into_os_string();
    for (name, program, host) in [("1", "a", "one"), ("2", "b", "one"), ("3", "a", "two")] {
        io::write(Path::new(&path(name)), &part(program, host, None)).unwrap();
    }
    let args = ["-q".into(), path("1"), path("2"), path("3"), "--json".into(), path("whole")];
    assert_eq!(exit_code::<Options>(&args), EXIT_VERDICT.into());
    let whole = io::read(Path::new(&path("whole"))).unwrap();
    assert!(!whole.was_measured() && whole.suite.is_some());
    assert_eq!(whole.over_machines.len(), 1);
    // Sweeps are gone on with by their own files.
    let args = ["-q".into(), "--resume".into(), path("whole")];
    assert_eq!(exit_code::<crate::lab::sweep::Options>(&args), EXIT_USAGE.into());
    assert_eq!(exit_code::<Options>(&[path("1"), path("1")]), EXIT_USAGE.into());
    assert_eq!(exit_code::<Options>(&[""; 0]), EXIT_USAGE.into());
    assert_eq!(exit_code::<Options>(&[path("nothing")]), EXIT_USAGE.into());
    assert_eq!(exit_code::<Options>(&["--help"]), EXIT_VERDICT.into());
}
