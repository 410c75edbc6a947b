//! Tests of the options of `szc perturb`, and of an experiment from the first run to the report.

use super::*;
use crate::lab::subcommand::exit_code;
use std::process::ExitCode;

fn error(arguments: &[&str]) -> String {
    let arguments: Vec<std::ffi::OsString> = arguments.iter().map(|word| (*word).into()).collect();
    let options = Options::read(&arguments).unwrap();
    let refused =
        options.experiment().and_then(|all| options.record(&all, Vec::new(), None).map(drop));
    refused.unwrap_err().to_string()
}

#[test]
fn what_could_say_nothing_is_refused_before_the_first_run() {
    assert!(error(&["--", "true"]).contains("nothing is added"));
    assert!(error(&["--metrics", "cpu,heap-calls", "--", "true"]).contains("two metrics"));
    assert!(error(&["--metrics", "cpu,cpu", "--", "true"]).contains("cpu is there twice"));
    assert!(error(&["--with", "env", "--advise", "--", "true"]).contains("there is none"));
    assert!(error(&["--with", "env | cat", "--", "true"]).contains("a shell would be needed"));
    let few = error(&["--with", "env", "--baseline", "5", "--runs", "1", "--", "true"]);
    assert!(few.contains("could show nothing") && few.contains("needed"), "{few}");
    for wrong in [
        &["--metrics", "cycles", "--with", "env", "--", "true"][..],
        &["--interval", "1h", "--with", "env", "--", "true"],
        &["--read", "/nowhere/x.json"],
        &["--read", "x.json", "--", "true"],
        &[],
        // Too short to be traced.
        &["--with", "env", "--", "true"],
    ] {
        assert_eq!(exit_code::<Options>(wrong), ExitCode::from(2), "{wrong:?}");
    }
    assert_eq!(exit_code::<Options>(&["--with", "env", "--", "false"]), ExitCode::from(4));
}

/// An experiment in which something changed a correlation.
pub(super) fn perturbed() -> Record {
    let signal = |shift: usize| (0..40).map(|i| ((i * 7 + shift) % 11) as f64).collect();
    let run = |step: usize, shift: usize| record::Run {
        step,
        arm: record::Arm::AsBuilt,
        layout_seed: 1,
        wall_ns: 1,
        cpu_ns: 100 + 10 * step as u64,
        late: 0,
        signals: vec![signal(0), signal(shift)],
    };
    let step = |name: &str| Step {
        name: name.to_owned(),
        probes: Vec::new(),
        tool: None,
        for_advice: false,
    };
    let runs = (0..26).map(|i| run(0, i % 2)).chain((0..5).map(|i| run(1, 5 + i % 2)));
    Record {
        szc_perturb: VERSION,
        command_line: Vec::new(),
        command: vec!["a".to_owned()],
        date: String::new(),
        seed: 1,
        interval_ms: 10.0,
        clock: None,
        metrics: vec!["cpu".to_owned(), "rss".to_owned()],
        steps: vec![step("baseline"), step("a tool")],
        arms: vec![record::Arm::AsBuilt],
        runs: runs.collect(),
    }
}

#[test]
fn what_is_read_again_says_the_same() {
    let record = perturbed();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("traces.json");
    record.write(&path).unwrap();
    assert_eq!(Record::read(&path).unwrap(), record);
    let said = text::report(&record, &judge(&record).unwrap(), false);
    assert!(said.contains("a tool: it perturbs what is measured"), "{said}");
    assert!(said.contains("cpu and rss") && said.contains("+10.0 %"), "{said}");
    let page = folder.path().join("page.html");
    let read = ["--read", path.to_str().unwrap(), "--html", page.to_str().unwrap()];
    assert_eq!(exit_code::<Options>(&read), ExitCode::SUCCESS);
    assert!(std::fs::read_to_string(&page).unwrap().contains("it perturbs what is measured"));
    let uneven = Record { metrics: vec!["cpu".to_owned()], ..record };
    uneven.write(&path).unwrap();
    assert!(Record::read(&path).unwrap_err().to_string().contains("do not fit"));
}

#[test]
fn a_tool_that_does_nothing_is_measured_and_kept() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("traces.json");
    let json = path.to_str().unwrap();
    let script = "i=0; while [ $i -lt 30000 ]; do i=$((i+1)); echo $i; done";
    let options = ["--quiet", "--interval", "1ms", "--baseline", "5", "--runs", "4", "--seed", "1"];
    let rest = ["--metrics", "rss,written", "--with", "env", "--json", json, "--"];
    let command = ["/bin/sh", "-c", script];
    let arguments = [&options[..], &rest, &command].concat();
    assert_eq!(exit_code::<Options>(&arguments), ExitCode::SUCCESS);
    let record = Record::read(&path).unwrap();
    assert_eq!(record.arms, [record::Arm::AsBuilt]);
    assert_eq!(record.runs_of(0, record::Arm::AsBuilt).count(), 5);
    assert_eq!(record.runs_of(1, record::Arm::AsBuilt).count(), 4);
    let wrote: Vec<f64> = record.runs.iter().map(|run| run.signals[1].iter().sum()).collect();
    assert!(wrote.iter().all(|bytes| *bytes > 50_000.0), "{wrote:?}");

    // As if it had been stopped: what is there stays, to the nanosecond, and the rest follows.
    let half = Record { runs: record.runs[..6].to_vec(), ..record.clone() };
    half.write(&path).unwrap();
    assert_eq!(exit_code::<Options>(&[&["--resume"], &arguments[..]].concat()), ExitCode::SUCCESS);
    let whole = Record::read(&path).unwrap();
    assert_eq!(whole.runs[..6], record.runs[..6]);
    let plan = |record: &Record| record.runs.iter().map(|run| run.step).collect::<Vec<_>>();
    assert_eq!(plan(&whole), plan(&record));
    assert_ne!(whole.runs[6..], record.runs[6..]);
    // Of another experiment, or in another order, it is not gone on with, and stays.
    for (at, other) in [(2, "2ms"), (6, "5")] {
        let mut changed = [&["--resume"], &arguments[..]].concat();
        changed[at + 1] = other;
        assert_eq!(exit_code::<Options>(&changed), ExitCode::from(2), "{other}");
    }
    assert_eq!(Record::read(&path).unwrap(), whole);
}
