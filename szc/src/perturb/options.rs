//! The command line of `szc perturb` and its help.
#![forbid(unsafe_code)]

use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Result, bail};
use clap::Parser;

use super::experiment::{Experiment, MIN_INTERVAL_MS, progress};
use super::metric::Metric;
use super::record::Record;
use super::trace::Clock;
use crate::measure::program::Program;

const LONG_ABOUT: &str = "\
Says whether measuring disturbs what is measured: whether metrics of a program still go together as
they do without a probe inside it, or without a tool around it.

A run is a trace: metrics read at equal intervals. Runs with something added are held against runs
without (Mytkowicz et al. 2007).";

const AFTER_HELP: &str = "\
Examples:
  szc perturb --metrics cpu,faults,switches,heap-calls -- ./bench input
  szc perturb --metrics cpu,faults,rss,calls:f,writes:n --advise -- ./bench input
  szc perturb --with 'perf record -o /dev/null' -- ./bench input
  szc perturb --json t.json --resume --with env -- ./bench    goes on where it was stopped
  szc perturb --read traces.json --html page.html  the report of saved traces again, as a page

Metrics from outside, which cost a program next to nothing: cpu, queued, faults, major-faults,
switches, rss, read, written, read-calls, write-calls, threads. Metrics that need a probe inside:
heap-calls (malloc, free and their like), calls:FUNCTION and blocks:FUNCTION (uprobes),
writes:VARIABLE (a debug register), preload:LIBRARY[:COUNTER] (a library of yours that counts in a
variable of eight bytes, szc_count). Probes are added one by one, each on top of those before it.

Inner perturbation: Spearman's correlation of two outside metrics changes. Outer perturbation: a
metric follows itself less in another run (records aligned by dynamic time warping). Weak
correlations (below 0.3) and small changes (0.05) are left out. All by exact rank-sum tests
against the baselines, Holm over everything. Programs built by szc are measured with a new layout
for each run and with one layout for all, which tells perturbation from moved code.

Exit status: 0 it was measured, whatever it says; 1 szc could not do its work; 2 usage error, or a
file that cannot be read; 4 the program failed, or cannot be traced under the tool; 130 stopped by
Ctrl-C (traces so far are in --json).";

/// Options of `szc perturb`.
#[derive(Debug, Parser)]
#[command(
    name = "szc perturb",
    bin_name = "szc perturb",
    override_usage = "szc perturb [OPTIONS] -- CMD…\n       szc perturb --read FILE.json",
    no_binary_name = true,
    about = "Says whether measuring disturbs what is measured",
    long_about = LONG_ABOUT,
    after_long_help = AFTER_HELP,
    after_help = "Example: szc perturb --with 'perf record -o /dev/null' -- ./bench input\n\
                  More with --help."
)]
pub(crate) struct Options {
    /// Runs of the baseline, in which nothing is added
    #[arg(
        long,
        value_name = "N",
        default_value = "26",
        value_parser = clap::value_parser!(u16).range(5..=60)
    )]
    baseline: u16,

    /// Runs of each step
    #[arg(
        long,
        value_name = "N",
        default_value = "5",
        value_parser = clap::value_parser!(u16).range(1..=40)
    )]
    runs: u16,

    /// Metrics; those by probes are added in this order
    #[arg(
        long,
        value_name = "METRIC,…",
        value_delimiter = ',',
        value_parser = Metric::parse,
        default_value = "cpu,faults,switches,rss,read,written"
    )]
    metrics: Vec<Metric>,

    /// Time between two records, such as 10ms
    #[arg(long, value_name = "T", value_parser = parse_interval, default_value = "10ms")]
    interval: Duration,

    /// What an interval is of; CPU time is steadier where others use the machine, too
    #[arg(long, value_enum, default_value = "wall")]
    clock: Clock,

    /// A tool that starts the program: is it the tool that disturbs?
    #[arg(long, value_name = "TOOL …")]
    with: Option<String>,

    /// Find out how probes can be split over runs so that none is perturbed, by measuring
    #[arg(long)]
    pub(super) advise: bool,

    /// Seed of the order and of all layouts [default: drawn and printed]
    #[arg(long, value_name = "S")]
    pub(super) seed: Option<u64>,

    /// Write all traces to a file
    #[arg(long, value_name = "FILE")]
    pub(super) json: Option<PathBuf>,

    /// Go on with the traces that the file of --json has, if it is there; all else as it was
    #[arg(long, requires = "json")]
    resume: bool,

    /// Write one self-contained HTML page, with plots
    #[arg(long, value_name = "OUT")]
    pub(super) html: Option<PathBuf>,

    /// Report on the traces of a file
    #[arg(
        long,
        value_name = "FILE",
        conflicts_with_all = ["command", "baseline", "runs", "metrics", "interval", "clock", "with",
            "advise",
            "seed", "json", "resume"]
    )]
    pub(super) read: Option<PathBuf>,

    /// Print only sentences
    #[arg(long, short)]
    pub(super) quiet: bool,

    /// The program and its arguments
    #[arg(last = true, value_name = "CMD", required_unless_present = "read")]
    command: Vec<String>,
}

impl Options {
    /// The traces that are there to go on with.
    pub(super) fn earlier(&self) -> Result<Option<Record>> {
        let path = self.json.as_ref().filter(|path| self.resume && path.exists());
        let Some(path) = path else { return Ok(None) };
        let record = Record::read(path)?;
        if self.seed.is_some_and(|seed| seed != record.seed) {
            bail!("{} has the seed {}: --seed must not be another", path.display(), record.seed);
        }
        Ok(Some(record))
    }

    /// What is asked for.
    pub(super) fn experiment(&self) -> Result<Experiment> {
        let (mut outside, mut inside) = (Vec::new(), Vec::new());
        for metric in &self.metrics {
            match metric {
                Metric::Outside(one) if !outside.contains(one) => outside.push(*one),
                Metric::Inside(one) if !inside.contains(one) => inside.push(one.clone()),
                twice => bail!("--metrics: {twice} is there twice"),
            }
        }
        if outside.len() < 2 {
            bail!(
                "--metrics: two metrics from outside are needed, such as cpu,faults: only those \
                   are there with and without what is added"
            );
        }
        if inside.is_empty() && self.with.is_none() {
            bail!(
                "nothing is added that could disturb: give a metric by a probe (--metrics \
                 cpu,faults,heap-calls) or a tool (--with 'TOOL …')"
            );
        }
        if self.advise && inside.is_empty() {
            bail!("--advise splits metrics by probes, and there is none in --metrics");
        }
        let tool = match &self.with {
            None => None,
            Some(text) => {
                let program = Program::new(0, None, text)?;
                if program.via_shell {
                    bail!("--with '{text}': a shell would be needed; give a tool and its options");
                }
                Some(program.argv)
            }
        };
        Ok(Experiment {
            command: self.command.clone(),
            tool,
            outside,
            inside,
            clock: self.clock,
            interval: self.interval,
            baselines: self.baseline.into(),
            runs: self.runs.into(),
            json: self.json.clone(),
            progress: if self.quiet { |_, _| () } else { progress },
        })
    }
}

fn parse_interval(text: &str) -> Result<Duration, String> {
    let number = text.strip_suffix("ms").map(|number| (number, 1e-3));
    let number = number.or_else(|| text.strip_suffix('s').map(|number| (number, 1.0)));
    number
        .and_then(|(number, unit)| Some(number.trim().parse::<f64>().ok()? * unit))
        .filter(|seconds| (MIN_INTERVAL_MS / 1e3..=10.0).contains(seconds))
        .map(Duration::from_secs_f64)
        .ok_or_else(|| "a time from 0.5ms to 10s is needed".to_owned())
}
