//! gprof: a program built with `-pg` takes its own profile, and gprof writes a flat one.
//!
//! Source: gprof's manual, "The Flat Profile"; glibc's `GMON_OUT_PREFIX`.
#![forbid(unsafe_code)]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, bail};

use super::hotness::Hotness;

/// What the names of its files begin with; a process id follows.
pub const PREFIX: &str = "gmon";

/// Reads what a run has left.
pub fn read(words: &[String], folder: &Path, program: &Path) -> Result<Hotness> {
    let file = left_in(folder, PREFIX)
        .context("the program has left no gmon.out: build it with -pg, in all steps")?;
    let output = Command::new(&words[0])
        .args(&words[1..])
        .args(["--flat-profile", "--brief", "--no-demangle"])
        .args([program, &file])
        .output()
        .with_context(|| format!("cannot run {}", words[0]))?;
    if !output.status.success() {
        bail!("gprof: {}", String::from_utf8_lossy(&output.stderr).trim());
    }
    Ok(parse(&String::from_utf8_lossy(&output.stdout)))
}

/// Reads a flat profile: share, cumulative seconds, own seconds, up to three numbers of calls, and
/// the name.
fn parse(text: &str) -> Hotness {
    let mut hotness = Hotness { in_seconds: true, ..Hotness::default() };
    for line in text.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        let numbers = words.iter().take(6).take_while(|word| word.parse::<f64>().is_ok()).count();
        if numbers < 3 || words.len() <= numbers {
            continue;
        }
        let own = words[2].parse().unwrap_or_default();
        hotness.add(&words[numbers..].join(" "), own);
    }
    hotness
}

/// The only file of a folder whose name begins so.
fn left_in(folder: &Path, prefix: &str) -> Result<PathBuf> {
    let entries = fs::read_dir(folder).context("cannot read the folder of the run")?;
    let mut found = entries
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.file_name().is_some_and(|it| it.to_string_lossy().starts_with(prefix)));
    found.next().context("it has left no file")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flat_profile_gives_own_seconds_with_and_without_counts_of_calls() {
        let text = "Flat profile:\n\nEach sample counts as 0.01 seconds.\n\
            \x20 %   cumulative   self              self     total           \n\
            \x20time   seconds   seconds    calls  ms/call  ms/call  name    \n\
            \x2075.00      0.30     0.30    10000     0.03     0.03  hot\n\
            \x2025.00      0.40     0.10                             _init\n\
            \x20 0.00      0.40     0.00        1     0.00     0.40  main\n";
        let hotness = parse(text);
        assert!((hotness.seconds("hot", 9.0) - 0.3).abs() < 1e-12, "{hotness:?}");
        assert!((hotness.share("_init") - 0.25).abs() < 1e-12);
        assert_eq!(hotness.hottest(), ["hot", "_init", "main"]);
    }
}
