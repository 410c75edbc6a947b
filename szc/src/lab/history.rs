//! `szc history`: since when a program takes what it takes, from the samples files of many
//! experiments.
//!
//! Each file gives one value to each of its series: the log ratio of a program to its reference, or
//! the log mean of a program measured alone. Files of different machines are different series. The
//! change points are those of `szc_stats::change_points`.
#![forbid(unsafe_code)]

mod series;

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use clap::Parser;
use serde::Serialize;
use szc_stats::change_points::Search;

use self::series::{Series, series_of};
use super::baseline::store::Store;
use super::exit::EXIT_VERDICT;
use super::metric;
use super::output::{complain, say};
use crate::lab::failure::Failure;
use crate::lab::subcommand::Subcommand;
use crate::samples::{SamplesFile, io};

const AFTER_HELP: &str = "\
Examples:
  szc history results/                     all samples files of a folder
  szc history gate-*.json --metric wall
  szc history                              the baselines of szc baseline

Series: the ratio of a program to its reference in files of compare, gate and sweep; the
mean of a program in files of run and baseline. Programs are told apart by their labels,
commands and workloads, machines by host name, processor and number of CPUs. Order is that of the \
dates in the files.

Change points: E-divisive (Matteson and James 2014), judged by Welch's t test of the values
before and after; p is multiplied by the number of places where the change could have been.
A series needs twice --least values.

Exit status: 0 read, whatever was found; 1 szc could not do its work; 2 usage error, or a
file that cannot be used.";

/// Options of `szc history`.
#[derive(Debug, Parser)]
#[command(
    name = "szc history",
    bin_name = "szc history",
    no_binary_name = true,
    about = "Finds since when a program is faster or slower, over stored samples",
    after_help = AFTER_HELP
)]
pub(crate) struct Options {
    /// Fewest experiments between two change points
    #[arg(
        long,
        value_name = "N",
        default_value = "3",
        value_parser = clap::value_parser!(u32).range(2..=10_000)
    )]
    least: u32,

    /// Largest p of a change point
    #[arg(long, value_name = "P", default_value = "0.05", value_parser = parse_significance)]
    significance: f64,

    /// The metric [default: that of each file's verdict]
    #[arg(long, value_name = "METRIC", value_parser = parse_metric)]
    metric: Option<String>,

    /// Where baselines are stored [default: $XDG_DATA_HOME/szc, or ~/.local/share/szc]
    #[arg(long, value_name = "DIR")]
    store: Option<PathBuf>,

    /// Write series and change points to a file
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,

    /// Print only the change points
    #[arg(long, short)]
    quiet: bool,

    /// Samples files, and folders of them
    #[arg(value_name = "FILE|DIR")]
    places: Vec<PathBuf>,
}

fn parse_significance(text: &str) -> Result<f64, String> {
    let number = text.parse().ok().filter(|p: &f64| *p > 0.0 && *p < 1.0);
    number.ok_or_else(|| "a probability between 0 and 1 such as 0.05 is needed".to_owned())
}

/// The name under which files have the metric.
fn parse_metric(text: &str) -> Result<String, String> {
    if text == "user" {
        return Ok(text.to_owned());
    }
    metric::check(text)?;
    Ok(if text.starts_with(metric::USER_PREFIX) { "user".to_owned() } else { text.to_owned() })
}

/// What `--json` writes.
#[derive(Debug, Serialize)]
struct HistoryFile<'a> {
    format: &'static str,
    version: u64,
    least: u32,
    significance: f64,
    series: &'a [Series],
}

impl Subcommand for Options {
    const NAME: &'static str = "history";

    fn carry_out(self, _command_line: Vec<String>) -> Result<u8, Failure> {
        let series = read_series(&self).map_err(Failure::Usage)?;
        tell(&self, &series)?;
        Ok(EXIT_VERDICT)
    }
}

fn read_series(options: &Options) -> Result<Vec<Series>> {
    let mut files = Vec::new();
    if options.places.is_empty() {
        let store = Store::new(options.store.as_deref())?;
        read_folder(store.folder(), &mut files)
            .context("no files are named, and there are no baselines")?;
    }
    for place in &options.places {
        if place.is_dir() {
            read_folder(place, &mut files)?;
        } else {
            files.push((place.clone(), io::read(place)?));
        }
    }
    let search = Search { least: options.least as usize, significance: options.significance };
    let series = series_of(&files, options.metric.as_deref(), &search)?;
    if series.is_empty() {
        bail!(
            "{} samples files, and none has a result{}: give files of szc run, compare, gate or \
             sweep",
            files.len(),
            options.metric.as_ref().map_or(String::new(), |metric| format!(" by {metric}"))
        );
    }
    Ok(series)
}

/// Reads all samples files below a folder; others are left out, and said to be.
fn read_folder(folder: &Path, files: &mut Vec<(PathBuf, SamplesFile)>) -> Result<()> {
    let context = || format!("cannot read the folder {}", folder.display());
    let mut paths: Vec<PathBuf> = Vec::new();
    for entry in std::fs::read_dir(folder).with_context(context)? {
        paths.push(entry.with_context(context)?.path());
    }
    paths.sort();
    for path in paths {
        if path.is_dir() && !path.is_symlink() {
            read_folder(&path, files)?;
        } else if path.extension().is_some_and(|extension| extension == "json") {
            match io::read(&path) {
                Ok(file) => files.push((path, file)),
                Err(error) => complain("history", &format!("left out: {error:#}")),
            }
        }
    }
    Ok(())
}

fn tell(options: &Options, series: &[Series]) -> Result<()> {
    let mut text = String::new();
    for one in series {
        text.push_str(&one.title());
        text.push('\n');
        if !options.quiet {
            text.push_str(&one.table());
        }
        for sentence in one.sentences(options.least) {
            text.push_str(&sentence);
            text.push('\n');
        }
        text.push('\n');
    }
    say(text.trim_end_matches('\n'))?;
    say("\n")?;
    if let Some(path) = &options.json {
        let file = HistoryFile {
            format: "szc-history",
            version: 1,
            least: options.least,
            significance: options.significance,
            series,
        };
        let text = serde_json::to_string_pretty(&file)? + "\n";
        std::fs::write(path, text).with_context(|| format!("cannot write {}", path.display()))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests;
