//! Samples that were measured before: one file read again, or two files as groups.
//!
//! Two files have no common blocks, so what they show is less: Welch's interval of the difference
//! of mean logarithms, which a drift of the machine between them goes into. Files of different
//! machines are not compared unless the user insists.
#![forbid(unsafe_code)]

use std::path::{Path, PathBuf};

use anyhow::{Result, bail};

use super::design::Arrangement;
use super::experiment::command_name;
use crate::measure::metric::Metric;
use crate::measure::sample::{Sample, metrics_of};
use crate::report::json::{self, Command, RuleRecord, SamplesFile};

/// What is asked of saved samples.
#[derive(Clone, Debug, PartialEq)]
pub struct SavedSamples {
    /// The subcommand that asks: compare or gate.
    pub command: Command,
    /// The metric to decide by, instead of the file's own.
    pub metric: Option<Metric>,
    /// The tolerance, instead of the file's own.
    pub tolerance: Option<f64>,
    /// Whether files may be of different machines.
    pub across_machines: bool,
}

/// Whether a word names a samples file rather than a command.
#[must_use]
pub fn is_samples_file(word: &str) -> bool {
    word.ends_with(".json") && Path::new(word).is_file()
}

/// The paths, if all words name samples files; none if none does.
///
/// # Errors
/// When some do and some do not.
pub fn samples_files(words: &[String]) -> Result<Option<Vec<PathBuf>>> {
    match words.iter().filter(|word| is_samples_file(word)).count() {
        0 => Ok(None),
        found if found == words.len() && found <= 2 => {
            Ok(Some(words.iter().map(PathBuf::from).collect()))
        }
        found => bail!(
            "{found} of {} words name samples files: one or two files, or commands, are needed",
            words.len()
        ),
    }
}

impl SavedSamples {
    /// Reads one or two files as one, without results yet.
    ///
    /// # Errors
    /// When a file cannot be read or does not hold what is asked for.
    pub fn read(&self, paths: &[PathBuf]) -> Result<SamplesFile> {
        let mut file = match paths {
            [one] => {
                let file = json::read(one)?;
                if file.programs.len() < 2 {
                    bail!(
                        "{} holds one program, measured by szc {}: give a second file to compare it with",
                        one.display(),
                        command_name(file.command)
                    );
                }
                file
            }
            [one, other] => self.joined((one, json::read(one)?), (other, json::read(other)?))?,
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
        if file.command != Command::Sweep {
            file.command = self.command;
        }
        if let Some(tolerance) = self.tolerance {
            file.design.tolerance = Some(tolerance);
        }
        if let Some(metric) = &self.metric {
            if !metrics_of(&file.runs).contains(metric) {
                bail!(
                    "the samples have no figure called {metric}: measure again with --metric {metric}"
                );
            }
            file.design.metric = metric.clone();
        }
        Ok(())
    }

    /// Two files as one with two programs whose runs have nothing in common.
    ///
    /// # Errors
    /// When a file holds more than one program, or they are of different machines.
    pub fn joined(
        &self,
        (path, one): (&Path, SamplesFile),
        (other_path, other): (&Path, SamplesFile),
    ) -> Result<SamplesFile> {
        for (path, file) in [(path, &one), (other_path, &other)] {
            if file.programs.len() != 1 {
                bail!(
                    "{} holds {} programs: two files are compared if each is of one program, as szc run measures",
                    path.display(),
                    file.programs.len()
                );
            }
        }
        let machines = [&one, &other].map(|file| file.machine.identity());
        if machines[0] != machines[1] && !self.across_machines {
            bail!(
                "{} and {} were measured on different machines ({} and {}): measure both on one, or add --across-machines if you know that they are alike",
                path.display(),
                other_path.display(),
                machines[0],
                machines[1]
            );
        }
        let mut joined = one;
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
        for (program, label) in joined.programs.iter_mut().zip(["A", "B"]) {
            label.clone_into(&mut program.label);
        }
        joined.design.plan.programs = 2;
        joined.design.plan.arrangement = Arrangement::Groups;
        joined.design.complete_blocks = first_blocks.max(blocks);
        joined.design.rule = RuleRecord::Fixed;
        joined.design.precision = None;
        Ok(joined)
    }
}
