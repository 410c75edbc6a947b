//! The store, and the subcommand through its public entry.

use std::process::ExitCode;

use super::*;
use crate::examples::layouts_of;
use crate::lab::exit::{EXIT_PROGRAM, EXIT_USAGE};
use crate::lab::gate;
use crate::lab::subcommand::exit_code;
use crate::samples::machine::Machine;

fn samples() -> SamplesFile {
    let mut file = layouts_of(&[(1000, 1), (1100, 0), (1200, 1), (1300, 0)]);
    file.machine = machine::current();
    file
}

#[test]
fn what_is_stored_is_found_again_on_the_same_machine_only() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::new(Some(folder.path())).unwrap();
    let here = machine::current();
    let path = store.save("main", &samples()).unwrap();
    assert_eq!(store.find("main", &here, None, false).unwrap(), path);
    let elsewhere = Machine { cpu: Some("another".to_owned()), ..here.clone() };
    let error = store.find("main", &elsewhere, None, false).unwrap_err().to_string();
    assert!(error.contains("another machine") && error.contains("--across-machines"), "{error}");
    assert_eq!(store.find("main", &elsewhere, None, true).unwrap(), path);
    let error = store.find("next", &here, None, true).unwrap_err().to_string();
    assert!(error.contains("there is no baseline next"), "{error}");
    store.remove("main", &here).unwrap();
    assert!(store.find("main", &here, None, false).is_err());
    assert!(store.remove("main", &here).is_err());
}

#[test]
fn a_baseline_of_another_compiler_is_not_taken_silently() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::new(Some(folder.path())).unwrap();
    let executable = |compiler: &str| crate::samples::Executable {
        compiler: vec![compiler.to_owned()],
        ..Default::default()
    };
    let mut file = samples();
    file.programs[0].executable = Some(executable("clang 21"));
    store.save("main", &file).unwrap();
    let here = machine::current();
    let found = |compiler| store.find("main", &here, Some(&executable(compiler)), true);
    assert!(found("clang 21").is_ok());
    let error = found("clang 22").unwrap_err().to_string();
    assert!(error.contains("another compiler (clang 21)"), "{error}");
}

#[test]
fn names_cannot_leave_the_store() {
    for name in ["", "..", "../x", "a/b", ".hidden", "a b", "é", &"x".repeat(101)] {
        assert!(store::check_name(name).is_err(), "{name:?}");
    }
    for name in ["main", "v1.2.3", "feature_x-2"] {
        store::check_name(name).unwrap();
    }
}

#[test]
fn a_comparison_is_no_baseline() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::new(Some(folder.path())).unwrap();
    let two = crate::examples::comparison(1000, 900);
    assert!(store.save("x", &two).unwrap_err().to_string().contains("2 programs"));
}

#[test]
fn a_baseline_is_saved_used_listed_and_removed() {
    let folder = tempfile::tempdir().unwrap();
    let store = folder.path().to_str().unwrap();
    let baseline = |args: &[&str]| exit_code::<Options>(&[args, &["--store", store]].concat());
    let save = |command_: &str| {
        exit_code::<Options>(&[
            "--store", store, "save", "main", "-q", "--runs", "12", "--metric", "wall", "--",
            command_,
        ])
    };
    // Times so far apart that other work on the machine cannot blur them.
    assert_eq!(save("sleep 0.05"), ExitCode::from(EXIT_VERDICT));
    assert_eq!(save("false"), ExitCode::from(EXIT_PROGRAM));
    assert_eq!(baseline(&["list"]), ExitCode::from(EXIT_VERDICT));
    let gate = |candidate: &str| {
        let options = ["-q", "--metric", "wall", "--max-slowdown", "100%", "--store", store];
        let rest = ["--baseline", "main", "--", candidate];
        exit_code::<gate::Options>(&[&options[..], &rest].concat())
    };
    assert_eq!(gate("sleep 0.4"), ExitCode::from(1));
    assert_eq!(gate("sleep 0.001"), ExitCode::from(0));
    assert_eq!(gate("false"), ExitCode::from(4));
    assert_eq!(baseline(&["rm", "main"]), ExitCode::from(EXIT_VERDICT));
    assert_eq!(baseline(&["rm", "main"]), ExitCode::from(EXIT_USAGE));
    assert_eq!(gate("sleep 0.001"), ExitCode::from(2));
}
