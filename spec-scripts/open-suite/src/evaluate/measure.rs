//! Measures one program of a step by `szc compare` or `szc run`, and keeps the samples.
//!
//! What is interrupted is resumed: szc saves samples on the way, and goes on with the same seeds if
//! the program is what it was.
#![forbid(unsafe_code)]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};
use szc::samples::{EndedRecord, io};

use super::record::Evaluation;
use super::setting::Setting;
use super::step::{BUILDING_S, Method, Step};
use super::subject::Subject;
use crate::hash::Key;
use crate::workload::{make_folder, quoted};

/// Longest run, in seconds: far longer than any workload, or build.
const PATIENCE_S: &str = "1800";

/// One turn of a run: szc's own choice.
const TURN: &str = "3ms";

/// `szc` was stopped by a signal.
pub const INTERRUPTED: i32 = 128;

/// How it ended.
pub enum Ended {
    /// The samples are kept.
    Measured,
    /// The program cannot be measured, and why.
    Refused(String),
    /// With this exit code of szc, by a signal.
    Interrupted(i32),
}

/// Measures a program.
///
/// # Errors
/// When szc cannot be run or cannot do its work.
pub fn measure(setting: &Setting<'_>, step: Step, subject: &Subject<'_>) -> Result<Ended> {
    let folder = setting.results.join(".partial").join(step.name());
    make_folder(&folder)?;
    let samples = folder.join(format!("{}.json", subject.program.name()));
    let note = folder.join(format!("{}.evaluation.json", subject.program.name()));
    let mut command = Command::new(&setting.szc);
    // Programs leave no files in the project, and no szc.toml of the user's is in the way.
    let place = tempfile::tempdir().context("cannot make a folder to run in")?;
    command.current_dir(place.path());
    let lines = lines(setting, step, subject)?;
    let is_begun = samples.is_file() && noted(&note).as_ref() == Some(&subject.evaluation);
    if is_begun {
        command.args([subcommand(step), "--quiet", "--resume"]).arg(&samples);
    } else {
        let text = serde_json::to_string_pretty(&subject.evaluation)?;
        io::write_whole(&note, "the description of an experiment", text.as_bytes())?;
        command.arg(subcommand(step)).args(options(setting, step, subject));
        command.arg("--json").arg(&samples).arg("--").args(lines);
    }
    let status = command.status().with_context(|| {
        format!("cannot run {}: build it by cargo build --release", setting.szc.display())
    })?;
    match status.code() {
        Some(0) => {
            setting.archive.keep(step, &subject.evaluation, &samples, &setting.private)?;
            for path in [&samples, &note] {
                fs::remove_file(path)
                    .with_context(|| format!("cannot remove {}", path.display()))?;
            }
            Ok(Ended::Measured)
        }
        Some(4) => Ok(Ended::Refused(reason(&samples))),
        Some(code) if code > INTERRUPTED => Ok(Ended::Interrupted(code)),
        // A program that is not what it was when the experiment began is no reason to give up.
        Some(2) if is_begun => {
            fs::remove_file(&samples).context("cannot remove samples that cannot be used")?;
            measure(setting, step, subject)
        }
        _ => bail!("{} failed ({status}): {command:?}", setting.szc.display()),
    }
}

fn noted(path: &Path) -> Option<Evaluation> {
    serde_json::from_slice(&fs::read(path).ok()?).ok()
}

fn subcommand(step: Step) -> &'static str {
    match step.method() {
        Some(Method::Split) => "run",
        _ => "compare",
    }
}

fn options(setting: &Setting<'_>, step: Step, subject: &Subject<'_>) -> Vec<String> {
    let runs = subject.evaluation.runs;
    let mut args = vec!["--quiet".to_owned(), "--timeout".to_owned(), PATIENCE_S.to_owned()];
    if step.method() != Some(Method::Builds) {
        // Without a pilot, so that a moment of work of others does not lead to another schedule:
        // the programs of the suite compute and wait for nothing.
        args.extend(["--turns", TURN].map(str::to_owned));
    }
    match step.method() {
        Some(Method::Split) => {
            args.extend(["--split".to_owned(), "--runs".to_owned(), runs.to_string()]);
        }
        Some(Method::Builds) => {
            // What a build reads was read when the program was made ready.
            args.extend(["--budget".to_owned(), format!("{BUILDING_S}s")]);
            args.extend(["--warmup", "0"].map(str::to_owned));
        }
        // A run of each configuration in a block.
        _ => args.extend(["--fixed".to_owned(), runs.to_string()]),
    }
    args.extend([
        "--seed".to_owned(),
        seed(setting.options.seed, step, subject.program.name()).to_string(),
    ]);
    if let Some(cpu) = setting.options.cpu {
        args.extend(["--cpu".to_owned(), cpu.to_string()]);
    }
    let names = subject.evaluation.configurations.iter().map(|one| &one.name);
    for (label, name) in ('A'..='Z').zip(names) {
        args.extend(["--name".to_owned(), format!("{label}={name}")]);
    }
    args
}

/// Another seed for each program and step, all of which follow from one; exact in readers that know
/// only doubles.
fn seed(seed: u64, step: Step, program: &str) -> u64 {
    let digits = Key::default().with(seed.to_string()).with(step.name()).with(program).digits();
    u64::from_str_radix(&digits, 16).unwrap_or(seed) >> 11
}

/// The commands: the program's, or those that build it anew.
fn lines(setting: &Setting<'_>, step: Step, subject: &Subject<'_>) -> Result<Vec<String>> {
    if step.method() != Some(Method::Builds) {
        return Ok(subject.lines.clone());
    }
    let tool = std::env::current_exe().context("cannot find this program")?;
    let path = |path: &PathBuf| quoted(&path.display().to_string());
    let own = [&tool, &setting.suite_file, &setting.cache_folder].map(path);
    Ok(subject
        .evaluation
        .configurations
        .iter()
        .map(|configuration| {
            format!(
                "export SZC_BUILD={}; exec {} --suite {} --cache {} build {} --cc {} --flags={} \
                 --jobs 1 --rebuild",
                quoted(&configuration.randomize),
                own[0],
                own[1],
                own[2],
                subject.program.name(),
                quoted(&setting.options.cc),
                quoted(&configuration.flags),
            )
        })
        .collect())
}

/// What szc said about a program that it refused.
fn reason(samples: &Path) -> String {
    match io::read(samples).map(|file| file.ended) {
        Ok(EndedRecord::Refused { reason }) => reason,
        _ => "szc refused it, see above".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seeds_differ_by_program_and_step_and_are_exact_as_doubles() {
        let one = seed(1, Step::Overhead, "lua");
        assert_eq!(one, seed(1, Step::Overhead, "lua"));
        for other in [
            seed(2, Step::Overhead, "lua"),
            seed(1, Step::Levels, "lua"),
            seed(1, Step::Overhead, "bzip2"),
        ] {
            assert_ne!(one, other);
            assert!(other < 1 << 53);
        }
    }
}
