//! `szc report`: samples files as a page for people, and as what build servers show.
#![forbid(unsafe_code)]

use std::fs::OpenOptions;
use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use clap::{ArgGroup, Parser};

use super::exit::EXIT_VERDICT;
use super::output::{complain, say};
use crate::lab::failure::Failure;
use crate::lab::subcommand::Subcommand;
use crate::report::ci::{annotations, junit, markdown};
use crate::report::html::page;
use crate::report::view::Experiment;
use crate::samples::io;

/// The file that GitHub Actions shows as the summary of a job.
const SUMMARY_VARIABLE: &str = "GITHUB_STEP_SUMMARY";

const LONG_ABOUT: &str = "\
Shows what samples files say: as one HTML page with verdicts, plots and all data in \
it, which needs no network; and in the forms that build servers show.";

const AFTER_HELP: &str = "\
Examples:
  szc compare --json o3.json -- './bench-O2 input' './bench-O3 input'
  szc report o3.json --html o3.html
  szc report lua.json sqlite.json --html suite.html
  szc report gate.json --github --junit gate.xml

--github writes the summary to the file named by $GITHUB_STEP_SUMMARY and prints
one annotation for each verdict: an error for a failed gate or program, a warning
where there is no verdict, a notice otherwise. `-` as OUT is standard output.

Files of older versions, and of experiments that were cut off, are analysed again.

Exit status: 0 all was written, whatever the verdicts are; 1 something could not be
written; 2 usage error, or a file that is no samples file of this or an older version.";

/// Options of `szc report`.
#[derive(Debug, Parser)]
#[command(
    name = "szc report",
    bin_name = "szc report",
    override_usage = "szc report FILE… [--html OUT] [--markdown OUT] [--junit OUT] [--github]",
    no_binary_name = true,
    about = "Shows what samples files say, as a page or for a build server",
    long_about = LONG_ABOUT,
    after_long_help = AFTER_HELP,
    after_help = "Example: szc report samples.json --html report.html\nMore with --help.",
    group = ArgGroup::new("form")
        .args(["html", "markdown", "junit", "github"])
        .required(true)
        .multiple(true)
)]
pub(crate) struct Options {
    /// Samples files, as --json writes them
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,

    /// Write one self-contained HTML page
    #[arg(long, value_name = "OUT")]
    html: Option<PathBuf>,

    /// Write a summary in GitHub's Markdown
    #[arg(long, value_name = "OUT")]
    markdown: Option<PathBuf>,

    /// Write JUnit XML, as GitLab and Jenkins read it
    #[arg(long, value_name = "OUT")]
    junit: Option<PathBuf>,

    /// Write the job summary and the annotations of GitHub Actions
    #[arg(long)]
    github: bool,
}

impl Subcommand for Options {
    const NAME: &'static str = "report";

    fn carry_out(self, _command_line: Vec<String>) -> Result<u8, Failure> {
        write(&self, &read(&self.files).map_err(Failure::Usage)?)?;
        Ok(EXIT_VERDICT)
    }
}

/// The experiments of samples files, in their order.
///
/// # Errors
/// When one of them cannot be read or is no samples file.
pub(super) fn read(files: &[PathBuf]) -> Result<Vec<Experiment>> {
    files
        .iter()
        .map(|path| Ok(Experiment::new(path.display().to_string(), io::read(path)?)))
        .collect()
}

/// Writes `text` to `path`, to standard output for `-`.
///
/// # Errors
/// When that cannot be written to.
pub(crate) fn put(path: &Path, what: &str, text: &str) -> Result<()> {
    if path == Path::new("-") { say(text) } else { io::write_whole(path, what, text.as_bytes()) }
}

fn write(options: &Options, experiments: &[Experiment]) -> Result<()> {
    if let Some(path) = &options.html {
        let text = page(experiments).context("cannot write the samples into the page")?;
        put(path, "the page", &text)?;
    }
    if let Some(path) = &options.markdown {
        put(path, "the summary", &markdown::markdown(experiments))?;
    }
    if let Some(path) = &options.junit {
        put(path, "JUnit XML", &junit::junit(experiments))?;
    }
    if options.github {
        say(&annotations::annotations(experiments))?;
        match std::env::var_os(SUMMARY_VARIABLE).filter(|path| !path.is_empty()) {
            Some(path) => append(Path::new(&path), &markdown::markdown(experiments))?,
            None => complain(
                "report",
                &format!(
                    "{SUMMARY_VARIABLE} is not set, so only annotations were written; outside \
                     GitHub Actions use --markdown OUT"
                ),
            ),
        }
    }
    Ok(())
}

/// Steps of a job share the summary, so it is added to.
fn append(path: &Path, text: &str) -> Result<()> {
    OpenOptions::new()
        .create(true)
        .append(true)
        .open(path)
        .and_then(|mut file| file.write_all(text.as_bytes()))
        .with_context(|| {
            format!(
                "cannot add the job summary to {}, which {SUMMARY_VARIABLE} names",
                path.display()
            )
        })
}
