//! `szc profile report`: what a profile says, as a table or in the form of another tool.
#![forbid(unsafe_code)]

use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, anyhow};
use clap::Args;

use super::diagnostics::{intervals, remarks};
use super::export::{firefox, folded, pprof, script};
use super::hotness::By;
use super::model::Profile;
use super::off_cpu;
use super::text::table;
use crate::lab::exit::EXIT_VERDICT;
use crate::lab::failure::Failure;

/// Options of `szc profile report`.
#[derive(Debug, Args)]
#[command(override_usage = "szc profile report [FILE] [OPTIONS]")]
pub(super) struct Options {
    /// A profile, as `szc profile record` writes it
    #[arg(value_name = "FILE", default_value = "szc-profile.jsonl")]
    file: PathBuf,

    /// What samples are put together by
    #[arg(long, value_enum, value_name = "WHAT", default_value = "function")]
    by: By,

    /// How many rows the table has
    #[arg(long, value_name = "N", default_value_t = 20)]
    top: usize,

    /// Print the autocorrelation of the intervals between samples, lag by lag
    #[arg(long)]
    intervals: bool,

    /// Show where threads waited, of a profile that was recorded with --off-cpu
    #[arg(long, conflicts_with_all = ["intervals", "firefox", "pprof", "perf_script"])]
    off_cpu: bool,

    /// Write a flame graph as SVG
    #[arg(long, value_name = "OUT")]
    flame: Option<PathBuf>,

    /// Write folded stacks, for flamegraph.pl and speedscope
    #[arg(long, value_name = "OUT")]
    folded: Option<PathBuf>,

    /// Write JSON for the Firefox profiler
    #[arg(long, value_name = "OUT")]
    firefox: Option<PathBuf>,

    /// Write a profile for pprof
    #[arg(long, value_name = "OUT")]
    pprof: Option<PathBuf>,

    /// Write the text of perf script
    #[arg(long, value_name = "OUT")]
    perf_script: Option<PathBuf>,
}

/// Makes the bytes of a form.
type Form = fn(&Profile) -> Result<Vec<u8>>;

/// Carries it out. The exit code is one of [`crate::lab::exit`].
///
/// # Errors
/// The file is no profile, or something cannot be written.
pub(super) fn report(options: &Options) -> Result<u8, Failure> {
    let profile = Profile::read(&options.file).map_err(Failure::Usage)?;
    let mut is_exported = false;
    let (flame, folded): (Form, Form) = if options.off_cpu {
        (folded::flame_of_waits, |profile| Ok(folded::folded_waits(profile).into_bytes()))
    } else {
        (folded::flame, |profile| Ok(folded::folded(profile).into_bytes()))
    };
    let forms: [(&Option<PathBuf>, Form); 5] = [
        (&options.flame, flame),
        (&options.folded, folded),
        (&options.firefox, firefox::firefox),
        (&options.pprof, |profile| Ok(pprof::pprof(profile))),
        (&options.perf_script, |profile| Ok(script::script(profile).into_bytes())),
    ];
    for (path, form) in forms {
        let Some(path) = path else { continue };
        if profile.samples.is_empty() && !options.off_cpu {
            return Err(Failure::Usage(anyhow!("{}", remarks(&profile).join(" "))));
        }
        put(path, &form(&profile)?)?;
        is_exported = true;
    }
    if options.off_cpu && !is_exported {
        put(Path::new("-"), off_cpu::table(&profile, options.by, options.top).as_bytes())?;
    } else if options.intervals {
        put(Path::new("-"), by_lag(&profile).as_bytes())?;
    } else if !is_exported {
        put(Path::new("-"), table(&profile, options.by, options.top).as_bytes())?;
    }
    Ok(EXIT_VERDICT)
}

/// The autocorrelation as a plot of characters.
fn by_lag(profile: &Profile) -> String {
    let found = intervals(profile);
    if found.lags.is_empty() {
        return "No autocorrelation: it needs more than 160 intervals of clocks of processors.\n"
            .to_owned();
    }
    let bound = found.bound();
    let mut text = format!("{} intervals, 2/√n = {bound:.4}\n lag\n", found.count);
    for (index, lag) in found.lags.iter().enumerate() {
        // A bound is ten characters wide.
        let length = (lag.abs() / bound * 10.0).round().min(40.0);
        // From 0 to 40.
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
        let bar = "▒".repeat(length as usize);
        let mark = if lag.abs() > bound { "  outside" } else { "" };
        text += &format!("{:>4} {lag:>8.4} {bar}{mark}\n", index + 1);
    }
    text
}

fn put(path: &Path, bytes: &[u8]) -> Result<()> {
    if path != Path::new("-") {
        return fs::write(path, bytes).with_context(|| format!("cannot write {}", path.display()));
    }
    match io::stdout().lock().write_all(bytes) {
        // A pager that was left.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        result => result.context("cannot write to standard output"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::model::tests::profile;

    #[test]
    fn intervals_that_follow_from_one_another_are_marked() {
        let samples: Vec<(u64, Option<u64>, &[&str])> =
            (0..200).map(|index| (index * 1_000 + index % 2 * 300, None, &["a"][..])).collect();
        let text = by_lag(&profile(&samples));
        assert_eq!(text.matches("outside").count(), 40, "{text}");
        assert!(by_lag(&profile(&[])).starts_with("No autocorrelation"));
    }
}
