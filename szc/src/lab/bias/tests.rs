//! Tests of the options of `szc bias`, and of both parts of an experiment.

use super::*;
use crate::lab::subcommand::exit_code;
use std::process::ExitCode;

fn options(arguments: &[&str]) -> Options {
    Options::read(&arguments.iter().map(|word| (*word).into()).collect::<Vec<_>>()).unwrap()
}

fn error(arguments: &[&str]) -> String {
    let options = options(arguments);
    let setups = options.setups().unwrap();
    experiment(&options, setups, None, Vec::new()).err().unwrap().to_string()
}

#[test]
fn positions_lie_evenly_over_a_page() {
    let setups = |arguments: &[&str]| options(arguments).setups();
    let usual = setups(&["--", "true"]).unwrap();
    assert_eq!((usual.sizes, usual.step_bytes, usual.blocks()), (256, 16, 512));
    let few = setups(&["--positions", "16", "--repeats", "1", "--", "true"]).unwrap();
    assert_eq!((few.sizes, few.step_bytes, few.blocks()), (16, 256, 16));
    let paper = setups(&["--paper-sizes", "--", "true"]).unwrap();
    assert_eq!((paper.sizes, paper.step_bytes), (66, 63));
    assert!(setups(&["--positions", "100", "--", "true"]).unwrap_err().contains("2, 4, 8"));
}

#[test]
fn what_cannot_be_measured_is_refused_before_the_first_run() {
    assert!(error(&[]).contains("0 commands"));
    assert!(error(&["--", "true", "true", "true"]).contains("3 commands"));
    assert!(error(&["--", "true | true"]).contains("a shell would execute A"));
    assert!(error(&["--env-size", "fixed", "--", "true"]).contains("leave nothing to vary"));
    for wrong in [
        &["--precision", "1%", "--intervene", "stack", "--", "true"][..],
        &["--paper-sizes", "--positions", "4", "--", "true"],
        &["--positions", "1", "--", "true"],
        &["--intervene", "code", "--", "true"],
        &["--factors", "link", "--", "true"],
        &["--factors", "link", "--intervene", "stack", "--build", "true", "--", "true"],
        &["--factors", "code,heap", "--", "true"],
        &["--cc", "gcc", "--", "true"],
        &["--resume", "x.json", "--repeats", "3"],
    ] {
        assert_eq!(exit_code::<Options>(wrong), ExitCode::from(2), "{wrong:?}");
    }
}

#[test]
fn both_parts_are_measured_and_in_one_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("bias.json");
    let json = path.to_str().unwrap();
    let arguments = [
        "--quiet",
        "--positions",
        "2",
        "--intervene",
        "stack,heap",
        "--metric",
        "rss",
        "--warmup",
        "0",
        "--json",
        json,
        "--",
        "true",
    ];
    assert_eq!(exit_code::<Options>(&arguments), ExitCode::SUCCESS);
    let file = io::read(&path).unwrap();
    assert_eq!(file.command, Command::Bias);
    let setups = file.design.plan.setups.unwrap();
    let found = file.bias.as_ref().unwrap();
    assert_eq!(found.factors[0].setups.len(), 2);
    assert_eq!(found.causal.is_some(), setups.chosen_contrast().is_some());
    // What is read again is what was said.
    assert_eq!(read(&path).unwrap().bias, file.bias);
    assert_eq!(exit_code::<Options>(&["--quiet", json]), ExitCode::SUCCESS);
    let suite = folder.path().join("suite.json");
    let both = ["--quiet", "--json", suite.to_str().unwrap(), json, json];
    assert_eq!(exit_code::<Options>(&both), ExitCode::SUCCESS);
    assert!(std::fs::read_to_string(&suite).unwrap().contains("szc-bias-suite"));
    assert_eq!(exit_code::<Options>(&["--quiet", "--resume", json]), ExitCode::SUCCESS);
    assert_eq!(io::read(&path).unwrap().runs, file.runs);
}

#[test]
fn each_order_is_built_and_one_that_is_not_followed_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    std::fs::create_dir(folder.path().join("tree")).unwrap();
    std::fs::write(folder.path().join("tree/source"), "").unwrap();
    // A build that ignores the order, and one that makes another program for each.
    let (tree, cache, json) = (path("tree"), path("cache"), path("bias.json"));
    let run = |build: &str| {
        let arguments = [
            "--quiet",
            "--factors",
            "env,link",
            "--positions",
            "2",
            "--orders",
            "3",
            "--repeats",
            "1",
            "--metric",
            "rss",
            "--warmup",
            "0",
            "--tree",
            &tree,
            "--cache",
            &cache,
            "--json",
            &json,
            "--build",
            build,
            "--",
            "./program",
        ];
        exit_code::<Options>(&arguments)
    };
    assert_eq!(run("cp /bin/true program"), ExitCode::from(2));
    let by_order = "if [ $SZC_LINK_ORDER = 1 ]; then cp /bin/sh program; else cp /bin/true \
                    program; fi";
    assert_eq!(run(by_order), ExitCode::SUCCESS);
    let file = io::read(Path::new(&json)).unwrap();
    let names: Vec<_> = file.programs[0].orders.iter().map(|order| &*order.name).collect();
    assert_eq!(names, ["given", "alphabetical", "1"]);
    let setups: Vec<_> =
        file.bias.unwrap().factors.iter().map(|factor| factor.setups.len()).collect();
    assert_eq!(setups, [2, 3]);
}
