//! Measures the suite at several levels of flags by `szc sweep`, with an `szc.toml` made for it.
#![forbid(unsafe_code)]

use std::fmt::Write;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use anyhow::{Context, Result, bail};

use crate::build::Built;
use crate::files::Cache;
use crate::suite::{Program, Size, Suite};
use crate::workload::{make_folder, prepare};

/// A program with its builds, one for each level.
pub struct Subject<'a> {
    /// The program.
    pub program: &'a Program,
    /// Flags and build.
    pub levels: Vec<(String, Built)>,
}

/// Refuses levels that cannot be names of folders.
///
/// # Errors
/// When there are fewer than two, one is given twice or one has a slash.
pub fn check_levels(levels: &[String]) -> Result<()> {
    if levels.len() < 2 {
        bail!("two or more levels are needed to compare: as in --flags=-O2 --flags=-O3");
    }
    for (index, level) in levels.iter().enumerate() {
        if levels[..index].contains(level) {
            bail!("--flags={level} is given twice");
        }
        if level.is_empty() || level.contains(['/', '{', '}']) || level.starts_with('.') {
            bail!(
                "--flags={level:?} cannot be measured: levels name folders, so no /, no braces, \
                 and not empty"
            );
        }
    }
    Ok(())
}

/// Writes `szc.toml` for the subjects, with links to their builds beside it.
///
/// # Errors
/// When an input cannot be made or a file cannot be written.
pub fn write_configuration(
    suite: &Suite,
    subjects: &[Subject<'_>],
    size: Size,
    results: &Path,
    cache: &Cache,
) -> Result<PathBuf> {
    let links = results.join("bin");
    if links.is_dir() {
        fs::remove_dir_all(&links).with_context(|| format!("cannot clear {}", links.display()))?;
    }
    let mut text = String::from("# Made by spec-scripts/suite.sh measure.\n[build]\nflags = [");
    let levels = subjects.first().map_or(&[][..], |subject| &subject.levels[..]);
    for (flags, _) in levels {
        // An array of levels: in it a comma is part of a level.
        write!(text, "{}, ", toml_string(flags))?;
    }
    text.push_str("]\n");
    for Subject { program, levels } in subjects {
        for (flags, built) in levels {
            let link = links.join(flags).join(program.name());
            make_folder(link.parent().unwrap_or(&links))?;
            symlink(&built.out, &link)
                .with_context(|| format!("cannot make {}", link.display()))?;
        }
        let workload = program.workloads.get_ref().first().context("no workload")?;
        let out = links.join("{flags}").join(program.name());
        // The input comes from the first build; any other would make the same.
        let (_, first) = levels.first().context("no levels")?;
        let real = prepare(suite, program, workload, &first.out, size, cache)?;
        let line =
            real.line().replace(&first.out.display().to_string(), &out.display().to_string());
        let line = quote_flags(&line);
        write!(
            text,
            "\n[[programs]]\nname = {}\ncommand = {}\n",
            toml_string(program.name()),
            toml_string(&line)
        )?;
    }
    let file = results.join("szc.toml");
    fs::write(&file, text).with_context(|| format!("cannot write {}", file.display()))?;
    Ok(file)
}

/// Flags of several words are one folder: in quotation marks the placeholder is one word.
fn quote_flags(line: &str) -> String {
    line.replace("{flags}", "'{flags}'")
}

fn toml_string(text: &str) -> String {
    let mut quoted = String::from("\"");
    for character in text.chars() {
        if matches!(character, '"' | '\\') {
            quoted.push('\\');
        }
        quoted.push(character);
    }
    quoted.push('"');
    quoted
}

/// Runs `szc sweep` on it, with further options of the user's.
///
/// # Errors
/// When it cannot be run. Its exit code is the result.
pub fn sweep(
    szc: &Path,
    configuration: &Path,
    results: &Path,
    options: &[String],
) -> Result<ExitCode> {
    let status = Command::new(szc)
        .args(["sweep", "--config"])
        .arg(configuration)
        .arg("--json")
        .arg(results.join("suite.json"))
        .args(options)
        .status()
        .with_context(|| {
            format!("cannot run {}: build it by cargo build --release", szc.display())
        })?;
    let code = status.code().and_then(|code| u8::try_from(code).ok());
    Ok(code.map_or(ExitCode::FAILURE, ExitCode::from))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_are_two_or_more_different_names_of_folders() {
        let check = |levels: &[&str]| {
            check_levels(&levels.iter().map(|level| (*level).to_owned()).collect::<Vec<_>>())
        };
        assert!(check(&["-O2", "-O3 -flto"]).is_ok());
        for levels in
            [&["-O2"][..], &["-O2", "-O2"], &["-O2", "-I/x"], &["-O2", ""], &["-O2", ".."]]
        {
            assert!(check(levels).is_err(), "{levels:?}");
        }
    }
}
