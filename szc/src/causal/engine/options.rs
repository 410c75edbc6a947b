//! Options of a causal profile's recording.
#![forbid(unsafe_code)]

use std::path::PathBuf;

use anyhow::{Result, bail};
use clap::Args;

use super::load;
use super::scope::{Pattern, Scope};
use crate::causal::arrivals::Load;

/// Options of `szc causal -- CMD`.
#[derive(Debug, Args)]
pub(crate) struct RecordOptions {
    /// Programs and libraries in which something may be sped up; % stands for anything [default:
    /// the program of each process]
    #[arg(short, long, value_name = "PATTERN")]
    binary_scope: Vec<String>,

    /// Sources in which something may be sped up [default: all]
    #[arg(short, long, value_name = "PATTERN")]
    source_scope: Vec<String>,

    /// Sources that are left out
    #[arg(long, value_name = "PATTERN")]
    source_exclude: Vec<String>,

    /// Functions that are left out
    #[arg(long, value_name = "PATTERN")]
    function_exclude: Vec<String>,

    /// Speed functions up, not lines: needs symbols, and no debug information
    #[arg(short = 'F', long)]
    functions: bool,

    /// A progress point: counts how often a function, or a line as FILE:LINE, is reached
    #[arg(short, long, value_name = "PLACE")]
    pub progress: Vec<String>,

    /// Speed up one thing throughout each run, and let the run be the progress point
    #[arg(long)]
    pub end_to_end: bool,

    /// What is sped up: a line as FILE:LINE, or with -F a function [default: what is sampled
    /// first]
    #[arg(long, value_name = "PLACE")]
    pub fixed_line: Option<String>,

    /// By how much percent, always
    #[arg(long, value_name = "PERCENT", conflicts_with = "speedups")]
    fixed_speedup: Option<u32>,

    /// Speedups that are drawn from, such as 0,5,10-50:10; 0 is drawn half of the time
    #[arg(long, value_name = "LIST", default_value = "0-100:5")]
    speedups: String,

    /// What would be under so many times the load: arrivals come so much more often
    #[arg(long, value_name = "FACTOR", value_parser = load::parse)]
    load: Option<f64>,

    /// What would be if each arrival came so much sooner
    #[arg(long, value_name = "NS", conflicts_with = "load",
          value_parser = clap::value_parser!(u64).range(1..))]
    arrival_speedup: Option<u64>,

    /// Where something arrives: a function, or a line as FILE:LINE [default: COZ_ARRIVAL and
    /// COZ_BEGIN of szc's coz.h]
    #[arg(long, value_name = "PLACE")]
    pub arrival: Option<String>,

    /// How often the program is run [default: 1; 20 with --end-to-end, or with a load alone]
    #[arg(short = 'n', long, value_name = "RUNS")]
    #[arg(value_parser = clap::value_parser!(u32).range(1..))]
    runs: Option<u32>,

    /// Shortest time of an experiment; it doubles while there are fewer than 5 visits
    #[arg(long, value_name = "MS", default_value_t = 500,
          value_parser = clap::value_parser!(u64).range(20..=600_000))]
    experiment_ms: u64,

    /// What speedups are drawn by [default: the time]
    #[arg(long, value_name = "SEED")]
    pub seed: Option<u64>,

    /// Where the profile is written
    #[arg(short, long, value_name = "FILE", default_value = "szc-causal.jsonl")]
    pub output: PathBuf,

    /// The program and its arguments
    #[arg(last = true, value_name = "CMD", required = true)]
    pub command: Vec<String>,
}

impl RecordOptions {
    /// What may be selected.
    pub fn scope(&self) -> Scope {
        let patterns = |texts: &[String]| texts.iter().map(|text| Pattern::new(text)).collect();
        Scope {
            binaries: patterns(&self.binary_scope),
            sources: patterns(&self.source_scope),
            source_excludes: patterns(&self.source_exclude),
            function_excludes: patterns(&self.function_exclude),
        }
    }

    /// Whether functions are sped up.
    pub fn by_function(&self) -> bool {
        self.functions
    }

    /// How often the program is run.
    pub fn runs(&self) -> u32 {
        self.runs.unwrap_or(if self.end_to_end || self.is_load_alone() { 20 } else { 1 })
    }

    /// The load that there is to be instead of the own one.
    pub fn load(&self) -> Option<Load> {
        self.load.map(Load::Factor).or(self.arrival_speedup.map(Load::ArrivalSpeedupNs))
    }

    /// Whether nothing but the load is to differ between runs.
    pub fn is_load_alone(&self) -> bool {
        self.load().is_some() && self.fixed_speedup == Some(0)
    }

    /// The shortest time of an experiment.
    pub fn shortest_ns(&self) -> u64 {
        self.experiment_ms * 1_000_000
    }

    /// Speedups in percent, in ascending order.
    ///
    /// # Errors
    /// They are none.
    pub fn speedups(&self) -> Result<Vec<u32>> {
        match self.fixed_speedup {
            None => parse(&self.speedups),
            Some(fixed) => parse(&fixed.to_string()),
        }
    }
}

/// Percentages and ranges of them, as 0,5,10-50:10.
fn parse(text: &str) -> Result<Vec<u32>> {
    let mut all = Vec::new();
    for part in text.split(',') {
        let (range, step) = part.split_once(':').unwrap_or((part, "5"));
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        let (first, last, step) =
            (first.trim().parse::<u32>(), last.trim().parse::<u32>(), step.trim().parse::<usize>());
        let (Ok(first), Ok(last), Ok(step @ 1..)) = (first, last, step) else {
            bail!("'{part}' is no speedup; numbers and ranges are needed, such as 0,5,10-50:10");
        };
        if first > last || last > 100 {
            bail!("'{part}': speedups are from 0 to 100 percent, in ascending order");
        }
        all.extend((first..=last).step_by(step));
    }
    all.sort_unstable();
    all.dedup();
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn speedups_are_numbers_and_ranges_with_a_step() {
        assert_eq!(parse("0,50,10-20:5").unwrap(), [0, 10, 15, 20, 50]);
        assert_eq!(parse("0-100:5").unwrap().len(), 21);
        assert_eq!(parse("25").unwrap(), [25]);
        for wrong in ["", "a", "10-5", "0-101", "5:0", "-5", "1,,2"] {
            assert!(parse(wrong).is_err(), "{wrong}");
        }
    }
}
