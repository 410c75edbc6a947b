//! Samples that were measured before: one file read again, or two files as groups.
//!
//! Two files have no common blocks, so what they show is less: Welch's interval of the difference
//! of mean logarithms, which a drift of the machine between them goes into. Files of different
//! machines or of programs with different output are not compared unless the user insists, and
//! files that were measured in different ways not at all.
#![forbid(unsafe_code)]

use std::path::{Path, PathBuf};

use anyhow::{Result, bail};

use super::options::{CommonOptions, ComparisonOptions, MetricChoice};
use super::resume::metric_of;
use crate::measure::harness::Filter;
use crate::measure::user_figure;
use crate::samples::design::Arrangement;
use crate::samples::metric::ROW_PREFIX;
use crate::samples::sample::metrics_of;
use crate::samples::{
    Command, EndedRecord, Metric, RowTolerance, RuleRecord, Sample, SamplesFile,
    VERSION_OF_MACHINES, io,
};

/// What is asked of saved samples.
#[derive(Clone, Debug, PartialEq)]
pub struct SavedSamples {
    /// The subcommand that asks.
    command: Command,
    /// The metric to decide by, instead of the file's own, and the value of --metric if that says
    /// more.
    metric: Option<(Metric, Option<String>)>,
    /// The rows of a harness that count.
    rows: Option<String>,
    /// The tolerance, instead of the file's own.
    tolerance: Option<f64>,
    /// Those of rows, instead of the file's own.
    row_tolerances: Vec<RowTolerance>,
    /// The slowest layout that is assumed, instead of the file's own.
    slowest_layout: Option<f64>,
    /// Whether files may be of different machines.
    across_machines: bool,
    /// Whether programs with different output are refused.
    check_output: bool,
}

/// Why two measurements are not one.
#[derive(Debug)]
pub enum Apart {
    /// They do not belong together.
    Files(String),
    /// The programs do not do the same.
    Output(String),
}

impl std::fmt::Display for Apart {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (Self::Files(text) | Self::Output(text)) = self;
        f.write_str(text)
    }
}

impl std::error::Error for Apart {}

/// Whether an argument names a samples file rather than a command.
#[must_use]
pub fn is_samples_file(arg: &str) -> bool {
    arg.ends_with(".json") && Path::new(arg).is_file()
}

/// The paths, if all arguments name samples files; none if none does.
///
/// # Errors
/// When some do and some do not.
pub fn samples_files(args: &[String]) -> Result<Option<Vec<PathBuf>>> {
    match args.iter().filter(|arg| is_samples_file(arg)).count() {
        0 => Ok(None),
        found if found == args.len() && found <= 2 => {
            Ok(Some(args.iter().map(PathBuf::from).collect()))
        }
        found => bail!(
            "{found} of {} arguments name samples files: one or two files, or commands, are needed",
            args.len()
        ),
    }
}

/// Whether all arguments, of which there is at least one, name samples files.
#[must_use]
pub fn are_samples_files<'a>(args: impl IntoIterator<Item = &'a String>) -> bool {
    let mut args = args.into_iter().peekable();
    args.peek().is_some() && args.all(|arg| is_samples_file(arg))
}

impl SavedSamples {
    /// What the options of a subcommand ask of samples that are there.
    ///
    /// # Errors
    /// When there is no such metric.
    pub fn new(command: Command, common: &CommonOptions) -> Result<Self> {
        let choice = common.metric.as_deref().map(MetricChoice::new).transpose()?;
        Ok(Self {
            command,
            metric: choice.map(|choice| (choice.metric, choice.option)),
            rows: common.rows.clone(),
            tolerance: None,
            row_tolerances: Vec::new(),
            slowest_layout: None,
            across_machines: false,
            check_output: !common.no_check_output,
        })
    }

    /// The same with other tolerances and another slowest layout than the file's own, if they are
    /// given.
    #[must_use]
    pub fn tolerating(self, tolerance: Option<f64>, options: &ComparisonOptions) -> Self {
        let ComparisonOptions { row_tolerances, slowest_layout, .. } = options.clone();
        Self { tolerance, row_tolerances, slowest_layout, ..self }
    }

    /// The same, also if files are of different machines.
    #[must_use]
    pub fn across_machines(self, across_machines: bool) -> Self {
        Self { across_machines, ..self }
    }

    /// Reads one or two files as one, without results yet.
    ///
    /// # Errors
    /// When a file cannot be read or does not hold what is asked for.
    pub fn read(&self, paths: &[PathBuf]) -> Result<SamplesFile> {
        let mut file = match paths {
            [one] => {
                let file = io::read(one)?;
                if file.programs.len() < 2 {
                    bail!(
                        "{} holds one program, measured by szc {}: give a second file to compare \
                         it with",
                        one.display(),
                        file.command.name()
                    );
                }
                file
            }
            [one, other] => self.joined((one, io::read(one)?), (other, io::read(other)?))?,
            _ => bail!("one or two samples files are needed"),
        };
        self.apply_to(&mut file)?;
        Ok(file)
    }

    /// Asks the question of `file`.
    ///
    /// # Errors
    /// When its samples do not have the metric.
    pub fn apply_to(&self, file: &mut SamplesFile) -> Result<()> {
        if file.command != Command::Sweep && file.command != self.command {
            // What is tolerated by one question is no answer to the other.
            file.design.tolerance = None;
            file.design.row_tolerances = Vec::new();
            file.command = self.command;
        }
        if let Some(rows) = &self.rows {
            keep_rows(file, rows)?;
        }
        if let Some(tolerance) = self.tolerance {
            file.design.tolerance = Some(tolerance);
        }
        if !self.row_tolerances.is_empty() {
            file.design.row_tolerances.clone_from(&self.row_tolerances);
        }
        file.design.slowest_layout = self.slowest_layout.or(file.design.slowest_layout);
        if let Some((metric, option)) = &self.metric {
            let wanted = option.as_deref().unwrap_or(metric.name());
            if !metrics_of(&file.runs).contains(metric) {
                bail!(
                    "the samples have no figure called {metric}: measure again with --metric \
                     {wanted}"
                );
            }
            if !file.is_meaningful(metric) {
                bail!(
                    "the programs of these samples had one processor by turns, and {} passed \
                     during the turns of the others: ask for --metric cpu, or measure again with \
                     --turns off --metric {wanted}",
                    metric.title()
                );
            }
            // Figures of the program's own are called the same, whatever was looked for.
            if let (Some(option), Some(measured)) = (option, &file.design.metric_option)
                && metric.name() == user_figure::NAME
                && option != measured
            {
                bail!(
                    "the samples have the figure of --metric {measured}: measure again with \
                     --metric {wanted}"
                );
            }
            file.design.metric = metric.clone();
        }
        Ok(())
    }

    /// Two files as one with two programs whose runs have nothing in common.
    ///
    /// # Errors
    /// When a file holds more than one program or one that is unfit, when they are of different
    /// machines or were measured in different ways; and when the programs' output differs.
    pub fn joined(
        &self,
        (path, one): (&Path, SamplesFile),
        (other_path, other): (&Path, SamplesFile),
    ) -> Result<SamplesFile, Apart> {
        let pair = [(path, &one), (other_path, &other)];
        for (path, file) in pair {
            check_alone(path, file).map_err(Apart::Files)?;
        }
        self.check_together(pair)?;
        let several = one.machine.identity() != other.machine.identity();
        let mut joined = one;
        if several {
            joined.version = VERSION_OF_MACHINES;
            joined.machines = vec![joined.machine.clone(), other.machine];
        }
        let first_blocks = joined.design.complete_blocks;
        joined.runs.retain(|run| run.block < first_blocks);
        let blocks = other.design.complete_blocks;
        joined.runs.extend(
            other
                .runs
                .into_iter()
                .filter(|run| run.block < blocks)
                .map(|run| Sample { program: 1, ..run }),
        );
        joined.programs.extend(other.programs);
        for (place, (program, label)) in joined.programs.iter_mut().zip(["A", "B"]).enumerate() {
            label.clone_into(&mut program.label);
            program.machine = several.then_some(place);
        }
        joined.design.plan.programs = 2;
        joined.design.plan.arrangement = Arrangement::Groups;
        joined.design.complete_blocks = first_blocks.max(blocks);
        joined.design.rule = RuleRecord::Fixed;
        joined.design.precision = None;
        // Groups are what there is of them: no stop moves an end that nobody looked for.
        joined.ended = EndedRecord::Complete;
        Ok(joined)
    }

    /// Whether two measurements, each fit by itself, can be compared.
    fn check_together(&self, pair: [(&Path, &SamplesFile); 2]) -> Result<(), Apart> {
        let [(path, one), (other_path, other)] = pair;
        let paths = format!("{} and {}", path.display(), other_path.display());
        let machines = [one, other].map(|file| file.machine.identity());
        if machines[0] != machines[1] && !self.across_machines {
            return Err(Apart::Files(format!(
                "{paths} were measured on different machines ({} and {}): measure both on one, or \
                 add --across-machines if you know that they are alike",
                machines[0], machines[1]
            )));
        }
        let metrics = [one, other].map(|file| metric_of(&file.design));
        // What the kernel counts is there in any run, and asking for it changes nothing about the
        // run.
        let by_kernel = [one, other].iter().all(|file| file.design.metric.is_of_kernel());
        if metrics[0] != metrics[1] && !(by_kernel && self.metric.is_some()) {
            return Err(Apart::Files(format!(
                "{paths} were measured with different metrics ({} and {}): {}",
                metrics[0],
                metrics[1],
                if by_kernel {
                    "say with --metric which one decides"
                } else {
                    "measure both with the same --metric"
                }
            )));
        }
        let checks = self.check_output && [one, other].iter().all(|file| file.design.check_output);
        let outputs = [one, other].map(|file| file.runs.first().map(|run| &run.stdout_sha256));
        if checks && outputs[0] != outputs[1] {
            return Err(Apart::Output(format!(
                "the programs of {paths} do not print the same\n  needed: programs that do the \
                 same work, shown by the same stdout\n  next: look at what they print, or add \
                 --no-check-output if it may differ"
            )));
        }
        Ok(())
    }
}

/// Takes all other rows out of the samples.
fn keep_rows(file: &mut SamplesFile, rows: &str) -> Result<()> {
    let filter = Filter::new(rows).map_err(anyhow::Error::msg)?;
    for run in &mut file.runs {
        run.figures
            .retain(|name, _| name.strip_prefix(ROW_PREFIX).is_none_or(|row| filter.is_for(row)));
    }
    if !file.runs.iter().any(|run| run.figures.keys().any(|name| name.starts_with(ROW_PREFIX))) {
        bail!("--rows {rows}: the samples have no row with such a name");
    }
    Ok(())
}

fn check_alone(path: &Path, file: &SamplesFile) -> Result<(), String> {
    if file.programs.len() != 1 {
        return Err(format!(
            "{} holds {} programs: two files are compared if each is of one program, as szc run \
             measures",
            path.display(),
            file.programs.len()
        ));
    }
    if file.design.plan.arrangement == Arrangement::Parts {
        return Err(format!(
            "{} splits a variance: its runs have parts of layouts in common, and independent ones \
             are needed; measure without --split",
            path.display()
        ));
    }
    match &file.ended {
        EndedRecord::Refused { reason } => {
            Err(format!("{} ended because its program is unfit: {reason}", path.display()))
        }
        _ => Ok(()),
    }
}
