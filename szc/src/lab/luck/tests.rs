//! Tests of the options of `szc luck`, and of what it refuses.

use super::*;
use crate::lab::subcommand::exit_code;
use std::process::ExitCode;

#[test]
fn what_cannot_be_measured_is_refused() {
    for wrong in [
        &[][..],
        &["--", "true", "true"],
        &["--", "true | true"],
        &["--layouts", "19", "--", "true"],
        &["--delta", "x", "--", "true"],
        &["--part", "pages", "--", "true"],
        &["--part", "heap", "--fix", "--", "true"],
        &["--part", "stack", "--fix", "--", "true"],
        &["--part", "stack", "--pairs", "f,g", "--", "true"],
        &["--pairs", "f", "--", "true"],
        &["--pairs", "f,g,f", "--", "true"],
    ] {
        assert_eq!(exit_code::<Options>(wrong), ExitCode::from(2), "{wrong:?}");
    }
    for part in ["code", "stack", "heap"] {
        let foreign = ["--quiet", "--layouts", "20", "--warmup", "0", "--metric", "rss"];
        let foreign = [&foreign[..], &["--part", part, "--", "true"]].concat();
        assert_eq!(exit_code::<Options>(&foreign), ExitCode::from(4), "{part}");
    }
}
