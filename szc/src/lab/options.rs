//! Options that all measuring subcommands share.
#![forbid(unsafe_code)]

use std::io::Read;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context, Result, bail};

use super::experiment::{Experiment, Measurement};
use super::metric;
use super::session::Conditions;
use crate::lab::values::{
    Budget, parse_budget, parse_name, parse_row_tolerance, parse_slowest_layout, parse_timeout,
};
use crate::measure::child::usable_cpus;
use crate::measure::harness::Filter;
use crate::measure::instrument::Instrument;
use crate::measure::program::Program;
use crate::measure::turns::Turns;
use crate::measure::user_figure;
use crate::samples::design::{Bases, Design, EnvironmentSize, MAX_RUNS_PER_POSITION};
use crate::samples::{Command, Metric, RowTolerance};

/// What an interrupted experiment has in its file: options that cannot be given again to go on with
/// it.
pub(super) const FIXED_BY_A_FILE: [&str; 27] = [
    "commands",
    "seed",
    "json",
    "metric",
    "harness",
    "rows",
    "warmup",
    "shuffle",
    "no_shuffle",
    "prepare",
    "cleanup",
    "cpu",
    "timeout",
    "turns",
    "env_size",
    "bases",
    "check_output",
    "no_check_output",
    "build",
    "flags",
    "parameters",
    "revisions",
    "tree",
    "cache",
    "rebuild",
    "allow_dirty",
    "chosen_program",
];

/// Options of every subcommand that runs programs.
#[derive(Clone, Debug, clap::Args)]
pub struct CommonOptions {
    /// Seed of the order and of all layouts [default: drawn and printed]
    #[arg(long, value_name = "S")]
    pub seed: Option<u64>,

    /// Write all samples, metadata and the result to a file
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,

    /// Metric of the verdict: cpu, wall, rss, instructions, simulated-cycles, user:REGEX, or a
    /// hardware counter [default: cpu]
    #[arg(long, value_name = "METRIC", value_parser = metric::parse)]
    pub metric: Option<String>,

    /// Read the benchmarks that each command measures itself, and judge every one of them:
    /// google-benchmark, criterion, divan, nanobench, catch2, pytest, hyperfine, or auto
    #[arg(long, value_name = "FORMAT", value_parser = parse_harness, conflicts_with = "metric")]
    pub harness: Option<String>,

    /// Of a harness, or of samples of one: only benchmarks whose name matches, or with ! in front
    /// all others; several conditions with && between them
    #[arg(long, value_name = "REGEX", value_parser = parse_rows)]
    pub rows: Option<String>,

    /// Runs of each program before the first block, not recorded
    #[arg(long, value_name = "N", default_value = "1")]
    pub warmup: u32,

    /// Draw the order within each block at random (the default)
    #[arg(long, overrides_with = "no_shuffle")]
    pub shuffle: bool,

    /// Run the programs of each block in the order given, and then in reverse
    #[arg(long)]
    pub no_shuffle: bool,

    /// Shell command in front of each run, not measured
    #[arg(long, value_name = "CMD")]
    pub prepare: Option<String>,

    /// Shell command behind each run, not measured
    #[arg(long, value_name = "CMD")]
    pub cleanup: Option<String>,

    /// Run the programs on this CPU only
    #[arg(long, value_name = "N")]
    pub cpu: Option<usize>,

    /// Give the programs of a block one CPU by turns of such a length, as in 3ms; or never (off);
    /// or where a run alone shows that they compute and do not wait (auto)
    #[arg(
        long,
        value_name = "auto|off|T",
        default_value = "auto",
        value_parser = Turns::parse
    )]
    pub turns: Turns,

    /// Kill a run that takes longer, and refuse the program
    #[arg(long, value_name = "SECONDS", value_parser = parse_timeout)]
    pub timeout: Option<Duration>,

    /// Pad the environment by a variable of random length, which moves the stack, or leave it
    #[arg(long, value_enum, default_value = "random")]
    pub env_size: EnvironmentSize,

    /// Draw where stack and mappings begin, alike for the programs of a block, or leave that to
    /// the kernel
    #[arg(long, value_enum, default_value = "drawn")]
    pub bases: Bases,

    /// Refuse programs whose stdout differs (the default)
    #[arg(long, overrides_with = "no_check_output")]
    pub check_output: bool,

    /// Measure programs whose stdout differs
    #[arg(long)]
    pub no_check_output: bool,

    /// Print only the verdict
    #[arg(long, short)]
    pub quiet: bool,
}

/// Options of the subcommands that hold programs against each other, block by block.
#[derive(Clone, Debug, clap::Args)]
pub struct ComparisonOptions {
    /// Most blocks, or time such as 90s, 5m, 1h [default: 100; 200 by turns, which have half the
    /// runs]
    #[arg(long, value_name = "N|T", value_parser = parse_budget)]
    pub budget: Option<Budget>,

    /// Name a program in the report: A=…, B=… and so on (gate: A is the baseline)
    #[arg(long = "name", value_name = "A=…", num_args = 1..=2, value_parser = parse_name)]
    pub names: Vec<(String, String)>,

    /// Runs in each of the two positions of a program in a block
    #[arg(
        long,
        value_name = "M",
        default_value = "1",
        value_parser = clap::value_parser!(u32).range(1..=i64::from(MAX_RUNS_PER_POSITION))
    )]
    pub runs_per_block: u32,

    /// Give the programs of a block the same layout seeds, so that what they share lies alike in
    /// all of them (the default)
    #[arg(long, overrides_with = "independent")]
    pub coupled: bool,

    /// Give every run a layout seed of its own
    #[arg(long)]
    pub independent: bool,

    /// Assume that no layout is more than N times slower than the others: PASS and "equivalent" ask
    /// for as many layouts as would have shown one [default: 1.5]
    #[arg(long, value_name = "N", value_parser = parse_slowest_layout)]
    pub slowest_layout: Option<f64>,

    /// Of a harness: what a difference may be in rows with such names, in which * stands for any
    /// text and ? for one character; the first that fits a row counts
    #[arg(
        long = "row-tolerance",
        value_name = "NAME=SHARE",
        value_parser = parse_row_tolerance,
        action = clap::ArgAction::Append
    )]
    pub row_tolerances: Vec<RowTolerance>,

    /// Compare samples of different machines as if they were one
    #[arg(long)]
    pub across_machines: bool,
}

impl ComparisonOptions {
    /// `design` with what these options say about it.
    #[must_use]
    pub fn applied_to(&self, design: Design) -> Design {
        Design {
            coupled: self.coupled || !self.independent,
            runs_per_position: self.runs_per_block,
            ..design
        }
    }
}

/// The metric that decides where nobody says otherwise.
pub(super) const USUAL_METRIC: &str = "cpu";

/// What `--metric` stands for.
pub struct MetricChoice {
    /// The metric that decides.
    pub metric: Metric,
    /// The option's value where it says more than the metric's name.
    pub option: Option<String>,
    /// What measures it.
    pub instruments: Vec<Box<dyn Instrument>>,
}

impl MetricChoice {
    /// The metric of a value of `--metric`.
    ///
    /// # Errors
    /// When it names none.
    pub fn new(text: &str) -> Result<Self> {
        let (metric, instruments) = metric::choose(text).map_err(anyhow::Error::msg)?;
        let option = (metric.name() != text).then(|| text.to_owned());
        Ok(Self { metric, option, instruments })
    }
}

impl CommonOptions {
    /// The metric that was chosen, or CPU time.
    ///
    /// # Errors
    /// Those of [`MetricChoice::new`].
    pub fn metric_choice(&self) -> Result<MetricChoice> {
        if let Some(harness) = &self.harness {
            let rows = self.rows.as_ref().map_or(String::new(), |rows| format!(":{rows}"));
            return MetricChoice::new(&format!("{}{harness}{rows}", metric::HARNESS_PREFIX));
        }
        if let Some(rows) = &self.rows {
            bail!("--rows {rows} chooses rows of a harness: name it with --harness, as in auto");
        }
        MetricChoice::new(self.metric.as_deref().unwrap_or(USUAL_METRIC))
    }

    /// The conditions of the runs.
    ///
    /// # Errors
    /// When the CPU asked for cannot be used.
    pub fn conditions(&self, metric: Metric) -> Result<Conditions> {
        if let Some(cpu) = self.cpu {
            let usable = usable_cpus().context("cannot ask for the CPUs of this process")?;
            if !usable.contains(&cpu) {
                bail!(
                    "--cpu {cpu} cannot be used: this process may run on {}; choose one of them",
                    list(&usable)
                );
            }
        }
        Ok(Conditions {
            // Who prints a figure of its own prints another one in each run.
            check_output: self.check_output
                || !(self.no_check_output
                    || metric.name() == user_figure::NAME
                    || metric == Metric::Rows),
            metric,
            timeout: self.timeout,
            cpu: self.cpu,
            turns: self.turns,
            turn: None,
            prepare: self.prepare.clone(),
            cleanup: self.cleanup.clone(),
        })
    }

    /// How runs are measured: by the metric that was chosen, under the conditions asked for.
    ///
    /// # Errors
    /// Those of [`Self::metric_choice`] and [`Self::conditions`].
    pub fn measurement(&self) -> Result<Measurement> {
        let choice = self.metric_choice()?;
        let conditions = self.conditions(choice.metric)?;
        let (instruments, metric_option) = (choice.instruments, choice.option);
        Ok(Measurement { conditions, instruments, metric_option })
    }

    /// An experiment of all blocks of `design` with what these options say about it.
    ///
    /// # Errors
    /// Those of [`Self::measurement`] and [`Self::applied_to`].
    pub fn experiment(
        &self,
        command: Command,
        command_line: Vec<String>,
        programs: Vec<Program>,
        design: Design,
    ) -> Result<Experiment> {
        let measurement = self.measurement()?;
        let design = self.applied_to(design)?;
        Ok(Experiment {
            json: self.json.clone(),
            quiet: self.quiet,
            ..Experiment::new(command, command_line, programs, design, measurement)
        })
    }

    /// `design` with what these options say about it; draws a seed if none is given.
    ///
    /// # Errors
    /// When no seed can be drawn.
    pub fn applied_to(&self, design: Design) -> Result<Design> {
        Ok(Design {
            warmup: self.warmup,
            shuffle: !self.no_shuffle,
            environment: self.env_size,
            bases: self.bases,
            seed: self.seed.map_or_else(draw_seed, Ok)?,
            ..design
        })
    }
}

/// For clap: whether there is such a harness.
pub(super) fn parse_harness(text: &str) -> Result<String, String> {
    let name = if text.contains(':') { "" } else { text };
    metric::check(&format!("{}{name}", metric::HARNESS_PREFIX)).map(|()| text.to_owned())
}

/// For clap: whether it is a filter of rows.
pub(super) fn parse_rows(text: &str) -> Result<String, String> {
    Filter::new(text).map(|_| text.to_owned())
}

fn list(numbers: &[usize]) -> String {
    let texts: Vec<String> = numbers.iter().map(usize::to_string).collect();
    texts.join(", ")
}

/// A seed that is exact in JSON readers that know only doubles.
pub(crate) fn draw_seed() -> Result<u64> {
    let mut bytes = [0; 8];
    std::fs::File::open("/dev/urandom")
        .and_then(|mut file| file.read_exact(&mut bytes))
        .context("cannot draw a seed from /dev/urandom: give one with --seed")?;
    Ok(u64::from_le_bytes(bytes) >> 11)
}

/// The programs of a list of commands, with the names given as `A=…`, `B=…`.
///
/// # Errors
/// When a command is empty or badly quoted, or a name is given twice or to no program.
pub fn programs_of(commands: &[String], names: &[(String, String)]) -> Result<Vec<Program>> {
    let mut programs = Vec::new();
    for (index, command) in commands.iter().enumerate() {
        programs.push(Program::new(index, None, command)?);
    }
    name_programs(&mut programs, names)?;
    Ok(programs)
}

/// Names programs by the pairs of `--name A=…`.
///
/// # Errors
/// When a name is given twice or to no program.
pub fn name_programs(programs: &mut [Program], names: &[(String, String)]) -> Result<()> {
    for (position, (label, name)) in names.iter().enumerate() {
        let count = programs.len();
        let Some(program) = programs.iter_mut().find(|program| program.label == *label) else {
            bail!("--name {label}=… names no program: there are {count}");
        };
        if names[..position].iter().any(|(other, _)| other == label) {
            bail!("--name {label}=… is given twice: one name is needed");
        }
        program.name = Some(name.clone());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn drawn_seeds_differ_and_are_exact_as_doubles() {
        let (one, two) = (draw_seed().unwrap(), draw_seed().unwrap());
        assert_ne!(one, two);
        assert!(one < 1 << 53 && two < 1 << 53);
    }
}
