//! Options that all measuring subcommands share.
#![forbid(unsafe_code)]

use std::io::Read;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context, Result, bail};

use super::experiment::{Experiment, Measurement};
use super::metric;
use super::session::Conditions;
use crate::measure::child::usable_cpus;
use crate::measure::instrument::Instrument;
use crate::measure::program::Program;
use crate::measure::user_figure;
use crate::samples::design::{Design, EnvironmentSize, MOST_BLOCKS, MOST_RUNS_PER_POSITION};
use crate::samples::{Command, Metric};

/// What an interrupted experiment has in its file: options that cannot be given again to go on with
/// it.
pub(super) const FIXED_BY_A_FILE: [&str; 23] = [
    "commands",
    "seed",
    "json",
    "metric",
    "warmup",
    "shuffle",
    "no_shuffle",
    "prepare",
    "cleanup",
    "cpu",
    "timeout",
    "env_size",
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

    /// Kill a run that takes longer, and refuse the program
    #[arg(long, value_name = "SECONDS", value_parser = parse_timeout)]
    pub timeout: Option<Duration>,

    /// Pad the environment by a variable of random length, which moves the stack, or leave it
    #[arg(long, value_enum, default_value = "random")]
    pub env_size: EnvironmentSize,

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
    /// Most blocks, or time such as 90s, 5m, 1h [default: 100]
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
        value_parser = clap::value_parser!(u32).range(1..=i64::from(MOST_RUNS_PER_POSITION))
    )]
    pub runs_per_block: u32,

    /// Compare samples of different machines as if they were one
    #[arg(long)]
    pub across_machines: bool,
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
                || !(self.no_check_output || metric.name() == user_figure::NAME),
            metric,
            timeout: self.timeout,
            cpu: self.cpu,
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
            seed: self.seed.map_or_else(draw_seed, Ok)?,
            ..design
        })
    }
}

fn list(numbers: &[usize]) -> String {
    let words: Vec<String> = numbers.iter().map(usize::to_string).collect();
    words.join(", ")
}

/// A seed that is exact in JSON readers that know only doubles.
pub(super) fn draw_seed() -> Result<u64> {
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

/// When measuring stops in any case.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Budget {
    /// After as many blocks.
    Blocks(u32),
    /// With the block in which this time is over.
    Time(Duration),
}

impl Budget {
    /// Most blocks; enough for any time if it is a time.
    #[must_use]
    pub fn blocks(self) -> u32 {
        match self {
            Self::Blocks(blocks) => blocks,
            Self::Time(_) => MOST_BLOCKS,
        }
    }

    /// The time, if it is one.
    #[must_use]
    pub fn time(self) -> Option<Duration> {
        match self {
            Self::Blocks(_) => None,
            Self::Time(time) => Some(time),
        }
    }
}

/// "100" is blocks; "90s", "5m", "1h" and "500ms" are times.
pub(super) fn parse_budget(text: &str) -> Result<Budget, String> {
    if let Ok(blocks) = text.parse() {
        return if (10..=MOST_BLOCKS).contains(&blocks) {
            Ok(Budget::Blocks(blocks))
        } else {
            Err(format!("10 to {MOST_BLOCKS} blocks are needed: fewer decide nothing"))
        };
    }
    parse_time(text).map(Budget::Time).map_err(|_| {
        "a number of blocks such as 100, or a time such as 90s, 5m or 1h is needed".to_owned()
    })
}

/// A time with its unit: "500ms", "90s", "1.5m", "1h".
pub(super) fn parse_time(text: &str) -> Result<Duration, String> {
    let units = [("ms", 1e-3), ("s", 1.0), ("m", 60.0), ("h", 3600.0)];
    units
        .iter()
        .find_map(|(unit, seconds)| Some((text.strip_suffix(unit)?, seconds)))
        .and_then(|(number, seconds)| Some(number.parse::<f64>().ok()? * seconds))
        .filter(|seconds| *seconds > 0.0)
        .and_then(|seconds| Duration::try_from_secs_f64(seconds).ok())
        .ok_or_else(|| "a time such as 500ms, 90s, 5m or 1h is needed".to_owned())
}

/// A share such as "1%" or "0.01".
pub(super) fn parse_share(text: &str) -> Result<f64, String> {
    let share = match text.strip_suffix('%') {
        Some(percent) => percent.trim().parse::<f64>().map(|number| number / 100.0),
        None => text.parse::<f64>(),
    };
    share
        .ok()
        .filter(|share| (1e-6..=1.0).contains(share))
        .ok_or_else(|| "a share up to 100 % such as 1% or 0.01 is needed".to_owned())
}

/// A name for a program: "A=old".
pub(super) fn parse_name(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((label, name))
            if !name.trim().is_empty()
                && label.len() == 1
                && label.chars().all(|letter| letter.is_ascii_uppercase()) =>
        {
            Ok((label.to_owned(), name.trim().to_owned()))
        }
        _ => Err("A=…, B=… and so on is needed; put -- before the commands".to_owned()),
    }
}

fn parse_timeout(text: &str) -> Result<Duration, String> {
    let seconds = text.parse().ok().filter(|seconds: &f64| *seconds > 0.0);
    seconds
        .and_then(|seconds| Duration::try_from_secs_f64(seconds).ok())
        .or_else(|| parse_time(text).ok())
        .ok_or_else(|| "a positive number of seconds is needed".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn budgets_are_blocks_or_times() {
        assert_eq!(parse_budget("100"), Ok(Budget::Blocks(100)));
        assert_eq!(parse_budget("90s"), Ok(Budget::Time(Duration::from_secs(90))));
        assert_eq!(parse_budget("1.5m"), Ok(Budget::Time(Duration::from_secs(90))));
        assert_eq!(parse_budget("1h"), Ok(Budget::Time(Duration::from_secs(3600))));
        assert_eq!(parse_time("500ms"), Ok(Duration::from_millis(500)));
        for wrong in ["", "9", "2000000", "-5s", "0s", "1e400s", "NaNs", "soon", "5 d", "5x"] {
            assert!(parse_budget(wrong).is_err(), "{wrong:?}");
        }
    }

    #[test]
    fn shares_are_percents_or_fractions() {
        assert_eq!(parse_share("1%"), Ok(0.01));
        assert_eq!(parse_share("0.5 %"), Ok(0.005));
        assert_eq!(parse_share("0.03"), Ok(0.03));
        for wrong in ["", "%", "0", "-1%", "101%", "NaN", "inf", "1e-9"] {
            assert!(parse_share(wrong).is_err(), "{wrong:?}");
        }
    }

    #[test]
    fn drawn_seeds_differ_and_are_exact_as_doubles() {
        let (one, two) = (draw_seed().unwrap(), draw_seed().unwrap());
        assert_ne!(one, two);
        assert!(one < 1 << 53 && two < 1 << 53);
    }
}
