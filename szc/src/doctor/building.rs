//! The parts of builds, and whether a program can be built and moves.
#![forbid(unsafe_code)]

use std::fs;
use std::path::Path;
use std::process::{Command, Output};
use std::time::Instant;

use anyhow::{Context, Result, bail};

use super::finding::{Area, Finding, Status};
use crate::drive::survey;
use crate::measure::randomization::RunLog;

/// A program that computes for some 50 ms, calls functions and allocates.
const PROGRAM: &str = include_str!("../../docs/examples/words.c");

/// The parts.
pub(super) fn parts() -> Vec<Finding> {
    let finding = |part: crate::drive::Part| match part.found {
        Ok(path) => Finding::ok(Area::Building, part.name, path.display().to_string()),
        Err(error) => {
            let status = if part.needed { Status::Missing } else { Status::Limited };
            Finding::from_message(Area::Building, part.name, status, &format!("{error:#}"))
        }
    };
    survey().into_iter().map(finding).collect()
}

/// Builds a program in a folder by this szc. The result is its path.
///
/// # Errors
/// What the compiler says.
pub(super) fn build(szc: &Path, folder: &Path) -> Result<String> {
    let (source, program) = (folder.join("words.c"), folder.join("words"));
    fs::write(&source, PROGRAM).context("cannot write a file")?;
    let output = Command::new(szc)
        .arg("-O2")
        .arg(&source)
        .arg("-o")
        .arg(&program)
        .env("SZC_BUILD", "all")
        .output()
        .with_context(|| format!("cannot run {}", szc.display()))?;
    if !output.status.success() {
        bail!("{}", first_line(&output));
    }
    Ok(program.display().to_string())
}

/// Builds a program, runs it, and looks at what its runtime says.
pub(super) fn program(szc: &Path, folder: &Path) -> Finding {
    let started = Instant::now();
    let failed = |error: anyhow::Error| {
        let next = "mend what is missing above; if nothing is, report this with the output of \
                    `szc doctor --json`";
        let message = format!("{error:#}");
        let found = message.split("; ").next().unwrap_or(&message);
        Finding::missing(Area::Building, "a program", found, next)
    };
    match build(szc, folder).and_then(|program| run(&program, folder)) {
        Ok(log) => match log.pinned() {
            Some(reason) => failed(anyhow::anyhow!("{reason}")),
            None => Finding::ok(
                Area::Building,
                "a program",
                format!(
                    "built and run in {:.1} s: {} layouts, {} functions copied",
                    started.elapsed().as_secs_f64(),
                    1 + log.epochs().unwrap_or(0),
                    log.relocations().unwrap_or(0)
                ),
            ),
        },
        Err(error) => failed(error),
    }
}

fn run(program: &str, folder: &Path) -> Result<RunLog> {
    let logs = folder.join("logs");
    fs::create_dir(&logs).context("cannot make a folder")?;
    let output = Command::new(program)
        .env("SZC_SEED", "1")
        .env("SZC_INTERVAL_MS", "5")
        .env("SZC_LOG", logs.join("%p"))
        .output()
        .context("what was built does not start")?;
    if !output.status.success() {
        bail!("what was built failed: {}: {}", output.status, first_line(&output));
    }
    let log = RunLog::take(&logs).context("the log of what was built cannot be read")?;
    if let Some(reason) = log.why_not_randomized(1) {
        bail!("what was built is not randomized: {reason}");
    }
    Ok(log)
}

fn first_line(output: &Output) -> String {
    let text = String::from_utf8_lossy(&output.stderr);
    text.lines().next().unwrap_or("it says nothing").to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_compiler_that_fails_is_a_finding_with_its_words() {
        let folder = tempfile::tempdir().expect("a folder");
        let finding = program(Path::new("/bin/false"), folder.path());
        assert_eq!((finding.status, finding.found.as_str()), (Status::Missing, "it says nothing"));
        let finding = program(Path::new("/no/such/szc"), folder.path());
        assert!(finding.found.contains("cannot run /no/such/szc"), "{finding:?}");
    }

    #[test]
    fn a_program_without_the_runtime_is_not_taken_for_one_that_moves() {
        let folder = tempfile::tempdir().expect("a folder");
        let error = run("true", folder.path()).expect_err("no log").to_string();
        assert!(error.contains("not randomized: it wrote no log"), "{error}");
    }
}
