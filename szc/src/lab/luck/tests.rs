//! Tests of the options of `szc luck`, and of what it refuses.

use super::*;
use crate::lab::options::CommonOptions;
use crate::lab::subcommand::exit_code;
use clap::{Args, CommandFactory};
use std::collections::BTreeSet;
use std::process::ExitCode;

#[test]
fn what_cannot_be_measured_is_refused() {
    for wrong in [
        &[][..],
        &["--", "true", "true"],
        &["--", "true | true"],
        &["--layouts", "19", "--", "true"],
        &["--delta", "x", "--", "true"],
    ] {
        assert_eq!(exit_code::<Options>(wrong), ExitCode::from(2), "{wrong:?}");
    }
    let foreign = ["--quiet", "--layouts", "20", "--warmup", "0", "--metric", "rss", "--", "true"];
    assert_eq!(exit_code::<Options>(&foreign), ExitCode::from(4));
}

#[test]
fn the_reference_has_every_option_that_is_not_common_to_all() {
    let reference = include_str!("../../../docs/src/reference.md");
    let (_, section) = reference.split_once("## Options of szc luck").unwrap();
    let rows = section.lines().skip(1).take_while(|line| !line.starts_with("## "));
    let documented: BTreeSet<String> = rows
        .filter_map(|row| row.strip_prefix("| `--")?.split('`').next().map(str::to_owned))
        .collect();
    let names = |command: clap::Command| -> BTreeSet<String> {
        command.get_arguments().filter_map(|arg| arg.get_long().map(str::to_owned)).collect()
    };
    let common = names(CommonOptions::augment_args(clap::Command::new("common")));
    let own: BTreeSet<String> = names(Options::command()).difference(&common).cloned().collect();
    assert_eq!(own, documented);
}
