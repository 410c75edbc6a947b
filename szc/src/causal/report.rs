//! `szc causal report`: what a causal profile says, as a table, a page, or in coz's form.
#![forbid(unsafe_code)]

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use clap::Args;

use super::analysis::{MIN_SPEEDUPS, Question, analyse};
use super::diagnosis::{Remark, remarks};
use super::file::{self, CausalProfile};
use super::finding::Analysis;
use super::page::{Data, page};
use super::{coz, text};
use crate::lab::exit::EXIT_VERDICT;
use crate::lab::failure::Failure;
use crate::lab::output::say;
use crate::lab::report::put;
use crate::lab::values::parse_share;

/// How a profile is shown, also by what records it.
#[derive(Debug, Clone, Args)]
pub(crate) struct Shown {
    /// How many places the table has for each progress point
    #[arg(long, value_name = "N", default_value_t = 20)]
    pub(super) top: usize,

    /// A place whose interval lies within ± this is called no effect
    #[arg(long, value_name = "SHARE", default_value = "5%", value_parser = parse_share)]
    pub(super) no_effect: f64,

    /// Fewest different speedups of a place that is shown
    #[arg(long, value_name = "N", default_value_t = MIN_SPEEDUPS)]
    pub(super) min_speedups: usize,

    /// Write one self-contained HTML page with plots
    #[arg(long, value_name = "OUT")]
    pub(super) html: Option<PathBuf>,

    /// Write the profile in coz's form, for its viewer
    #[arg(long, value_name = "OUT")]
    pub(super) coz: Option<PathBuf>,

    /// Write what was found as JSON
    #[arg(long, value_name = "OUT")]
    pub(super) json: Option<PathBuf>,
}

/// Options of `szc causal report`.
#[derive(Debug, Args)]
#[command(override_usage = "szc causal report [FILE] [OPTIONS]")]
pub(super) struct Options {
    /// A causal profile, of szc or of coz
    #[arg(value_name = "FILE", default_value = "szc-causal.jsonl")]
    file: PathBuf,

    #[command(flatten)]
    shown: Shown,
}

/// Carries it out. The exit code is one of [`crate::lab::exit`].
///
/// # Errors
/// The file is no profile, or something cannot be written.
pub(super) fn report(options: &Options) -> Result<u8, Failure> {
    let profile = read(&options.file).map_err(Failure::Usage)?;
    show(&profile, &options.shown)?;
    Ok(EXIT_VERDICT)
}

/// Reads a profile of szc or of coz.
///
/// # Errors
/// It cannot be read, or is neither.
pub fn read(path: &Path) -> Result<CausalProfile> {
    let shown = path.display().to_string();
    let bytes = fs::read(path).with_context(|| format!("cannot read {shown}"))?;
    let text = String::from_utf8_lossy(&bytes);
    if coz::is_coz(&text) { coz::read(&text, &shown) } else { file::read_from(&*bytes, &shown) }
}

/// Shows a profile: the table on standard output, unless one of the other forms goes there. What
/// records a profile calls this at its end, with what it wrote read again.
///
/// # Errors
/// Something cannot be written.
pub(crate) fn show(profile: &CausalProfile, shown: &Shown) -> Result<(), Failure> {
    let question = Question { min_speedups: shown.min_speedups, tolerance: shown.no_effect };
    let analysis = analyse(profile, &question);
    let remarks = remarks(profile, &analysis);
    forms(profile, &analysis, &remarks, shown)?;
    let outputs = [&shown.html, &shown.coz, &shown.json];
    if !outputs.into_iter().flatten().any(|path| path == Path::new("-")) {
        say(&text::text(profile, &analysis, &remarks, shown.top))?;
    }
    Ok(())
}

fn forms(
    profile: &CausalProfile,
    analysis: &Analysis,
    remarks: &[Remark],
    shown: &Shown,
) -> Result<()> {
    let data = Data::new(profile, analysis, remarks, shown.no_effect);
    if let Some(path) = &shown.html {
        let text = page(profile, &data).context("cannot write the findings into the page")?;
        put(path, "the page", &text)?;
    }
    if let Some(path) = &shown.coz {
        put(path, "the profile", &coz::text(profile))?;
    }
    if let Some(path) = &shown.json {
        let json = serde_json::to_string_pretty(&data).context("cannot write the findings")?;
        put(path, "the findings", &(json + "\n"))?;
    }
    Ok(())
}
