//! The commands of workloads: values in place of placeholders, inputs made when they are missing.
#![forbid(unsafe_code)]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};

use crate::files::{self, Cache};
use crate::hash::Key;
use crate::suite::{Program, Size, Suite, Workload};

/// A command that can be run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Prepared {
    /// Its arguments.
    pub args: Vec<String>,
    /// File for standard input.
    pub stdin: Option<PathBuf>,
}

impl Prepared {
    /// The command as a shell reads it, without a shell between caller and program.
    pub fn line(&self) -> String {
        let args: Vec<String> = self.args.iter().map(|word| quoted(word)).collect();
        match &self.stdin {
            Some(file) => {
                format!("exec {} < {}", args.join(" "), quoted(&file.display().to_string()))
            }
            None => args.join(" "),
        }
    }
}

/// The command of a workload of the build in `out`. Missing inputs are made first.
///
/// # Errors
/// When they cannot be made, with the end of what the script said.
pub fn prepare(
    suite: &Suite,
    program: &Program,
    workload: &Workload,
    out: &Path,
    size: Size,
    cache: &Cache,
) -> Result<Prepared> {
    let files = program.files(suite);
    let inputs = inputs(program, &files, &suite.shared(), out, size, cache)?;
    Ok(substituted(workload, out, &files, &inputs, program.size.get(&size).copied()))
}

/// The same with another folder in place of the build's.
pub fn substituted(
    workload: &Workload,
    out: &Path,
    files: &Path,
    inputs: &Path,
    size: Option<u64>,
) -> Prepared {
    let fill = |word: &String| {
        word.replace("{out}", &out.display().to_string())
            .replace("{files}", &files.display().to_string())
            .replace("{inputs}", &inputs.display().to_string())
            .replace("{size}", &size.unwrap_or_default().to_string())
    };
    Prepared {
        args: workload.run.get_ref().iter().map(fill).collect(),
        stdin: workload.stdin.as_ref().map(|word| PathBuf::from(fill(word.get_ref()))),
    }
}

/// The folder of a program's input. It depends on the program's own files and on the size alone, so
/// that all builds share it.
fn inputs(
    program: &Program,
    files: &Path,
    shared: &Path,
    out: &Path,
    size: Size,
    cache: &Cache,
) -> Result<PathBuf> {
    let number = program.size.get(&size).copied().unwrap_or_default().to_string();
    let key = Key::default()
        .with(&program.inputs)
        .with(&program.version)
        .with(&number)
        .with_files(files)?
        .with_files(shared)?
        .digits();
    let place = cache.place("inputs", &format!("{}-{}-{key}", program.name(), size.name()))?;
    if place.is_dir() {
        return Ok(place);
    }
    let _lock = files::lock(&place.with_extension("lock"))?;
    if place.is_dir() {
        return Ok(place);
    }
    let scratch = cache.scratch()?;
    let output = Command::new("sh")
        .args(["-euc", &program.inputs])
        .current_dir(scratch.path())
        .env("OUT", out)
        .env("FILES", files)
        .env("SHARED", shared)
        .env("SIZE", &number)
        .env("LC_ALL", "C")
        // Not under randomization: this is the input, not the test.
        .envs(["SZC_CODE", "SZC_STACK", "SZC_HEAP"].map(|name| (name, "0")))
        .stdin(Stdio::null())
        .output()
        .context("cannot run sh")?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        bail!("its input could not be made ({}): {}", output.status, last_lines(&said, 3));
    }
    files::publish(scratch, &place)?;
    Ok(place)
}

/// One word of a shell's command line.
pub fn quoted(text: &str) -> String {
    let plain =
        |character: char| character.is_ascii_alphanumeric() || "-_./+:,@%".contains(character);
    if !text.is_empty() && text.chars().all(plain) {
        return text.to_owned();
    }
    format!("'{}'", text.replace('\'', r"'\''"))
}

/// The end of a long text.
pub fn last_lines(text: &str, number: usize) -> String {
    let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
    lines[lines.len().saturating_sub(number)..].join("\n")
}

/// Makes a folder and those above it.
///
/// # Errors
/// When it cannot be made.
pub fn make_folder(path: &Path) -> Result<()> {
    fs::create_dir_all(path).with_context(|| format!("cannot make {}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_read_by_a_shell_as_the_words_it_was_made_of() {
        for word in ["plain", "two words", "it's", "$HOME", "", "{x}", "a\\b"] {
            let output =
                Command::new("sh").args(["-c", &format!("printf %s {}", quoted(word))]).output();
            assert_eq!(String::from_utf8(output.unwrap().stdout).unwrap(), word);
        }
    }

    #[test]
    fn standard_input_is_a_redirection_of_the_program_itself() {
        let prepared = Prepared {
            args: vec!["/x/chess".into(), "-f 1".into()],
            stdin: Some(PathBuf::from("/in/moves")),
        };
        assert_eq!(prepared.line(), "exec /x/chess '-f 1' < /in/moves");
    }
}
