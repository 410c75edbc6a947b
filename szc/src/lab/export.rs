//! `szc export`: the runs of samples files for other programs, one row each.
#![forbid(unsafe_code)]

use std::path::PathBuf;

use anyhow::{Context, Result};
use clap::{ArgGroup, Parser};

use super::exit::EXIT_VERDICT;
use super::report::{put, read};
use crate::lab::failure::Failure;
use crate::lab::subcommand::Subcommand;
use crate::report::export::{csv, json, long_format, r};
use crate::report::view::Experiment;

const LONG_ABOUT: &str = "\
Writes every run of samples files as one row: experiment, program, block, position, \
seed, and a column for each metric. Times keep the unit that was measured, which the \
name of the column says (wall_ns, user_us, sys_us, max_rss_kib).";

const AFTER_HELP: &str = "\
Examples:
  szc export o3.json --csv runs.csv         pandas.read_csv(\"runs.csv\"), or a spreadsheet
  szc export o3.json --json runs.json       pandas.read_json(\"runs.json\")
  szc export o3.json --r runs.R             runs <- dget(\"runs.R\") in R
  szc export lua.json sqlite.json --csv -   to standard output, both files in one table

Columns: experiment (the file's name), workload, program, name, complete (1 unless the
run belongs to a block that was cut off), block, position, seed, the metrics, machine
(host name), and one column figure_NAME for each further figure. What was not measured is empty in \
CSV,
null in JSON, NA in R.

Exit status: 0 all was written; 1 something could not be written; 2 usage error, or a
file that is no samples file of this or an older version.";

/// Options of `szc export`.
#[derive(Debug, Parser)]
#[command(
    name = "szc export",
    bin_name = "szc export",
    override_usage = "szc export FILE… [--csv OUT] [--json OUT] [--r OUT]",
    no_binary_name = true,
    about = "Writes the runs of samples files as CSV, JSON or R",
    long_about = LONG_ABOUT,
    after_long_help = AFTER_HELP,
    after_help = "Example: szc export samples.json --csv runs.csv\nMore with --help.",
    group = ArgGroup::new("form").args(["csv", "json", "r"]).required(true).multiple(true)
)]
pub(crate) struct Options {
    /// Samples files, as --json of the measuring subcommands writes them
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,

    /// Write CSV with a header
    #[arg(long, value_name = "OUT")]
    csv: Option<PathBuf>,

    /// Write a JSON array of objects
    #[arg(long, value_name = "OUT")]
    json: Option<PathBuf>,

    /// Write an R script whose value is a data frame, for dget
    #[arg(long, value_name = "OUT")]
    r: Option<PathBuf>,
}

impl Subcommand for Options {
    const NAME: &'static str = "export";

    fn carry_out(self, _command_line: Vec<String>) -> Result<u8, Failure> {
        write(&self, &read(&self.files).map_err(Failure::Usage)?)?;
        Ok(EXIT_VERDICT)
    }
}

fn write(options: &Options, experiments: &[Experiment]) -> Result<()> {
    let table = long_format(experiments);
    if let Some(path) = &options.csv {
        put(path, "CSV", &csv::csv(&table))?;
    }
    if let Some(path) = &options.json {
        put(path, "JSON", &json::json(&table).context("cannot write the runs as JSON")?)?;
    }
    if let Some(path) = &options.r {
        put(path, "R", &r::r(&table))?;
    }
    Ok(())
}
