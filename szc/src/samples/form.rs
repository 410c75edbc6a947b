//! The newest version of the samples file.
//!
//! Version 2 holds any number of programs and the results of every command. Fields may be added
//! without a new version, and readers skip those they do not know; a change of meaning takes a new
//! version. Version 3 is a file of several machines, whose programs must not be read as if one had
//! measured them; all others are written as version 2.
//!
//! All numbers are finite: JSON has no others.
#![forbid(unsafe_code)]

use serde::{Deserialize, Serialize};
use szc_stats::{fixed, sequential};

use super::bias::BiasRecord;
use super::design::Design;
use super::machine::Machine;
use super::metric::Metric;
use super::program::ProgramRecord;
use super::result::{ResultRecord, SummaryRecord};
use super::row_tolerance::RowTolerance;
use super::sample::{Sample, metrics_of};
use super::shard::Shard;
use super::suite::{OverMachinesRecord, SuiteRecord};
use super::verdict::EndedRecord;

/// Value of the field `format`.
pub const FORMAT: &str = "szc-samples";
/// The version that is written of what one machine measured.
pub const VERSION: u64 = 2;
/// The version of a file of several machines, and the newest that this reader knows.
pub const VERSION_OF_MACHINES: u64 = 3;

/// A samples file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SamplesFile {
    /// [`FORMAT`].
    pub format: String,
    /// [`VERSION`], or [`VERSION_OF_MACHINES`].
    pub version: u64,
    /// Start of the experiment, ISO 8601, UTC.
    pub created: String,
    /// Version of szc.
    pub szc_version: String,
    /// The subcommand that measured.
    pub command: Command,
    /// The command line, word by word.
    pub command_line: Vec<String>,
    /// Plan of the experiment.
    pub design: DesignRecord,
    /// The machine at the start.
    pub machine: Machine,
    /// All machines, if there are several; `machine` is the first of them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub machines: Vec<Machine>,
    /// What makes this machine noisy, each with what to do; as printed at the start.
    #[serde(default)]
    pub advice: Vec<String>,
    /// The programs; all other fields name them by their place here, from 0.
    pub programs: Vec<ProgramRecord>,
    /// Measured runs in the order of time.
    pub runs: Vec<Sample>,
    /// How the experiment ended.
    pub ended: EndedRecord,
    /// Each program against its reference, for each metric, the deciding one first.
    #[serde(default)]
    pub results: Vec<ResultRecord>,
    /// Each program by itself, for each metric.
    #[serde(default)]
    pub summaries: Vec<SummaryRecord>,
    /// All levels of a sweep over all its programs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub suite: Option<SuiteRecord>,
    /// Levels of the programs that several machines measured, with the machines as blocks.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub over_machines: Vec<OverMachinesRecord>,
    /// What setups do to the answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bias: Option<BiasRecord>,
}

impl SamplesFile {
    /// A file of this szc on one machine, without runs.
    #[must_use]
    pub fn new(
        command: Command,
        command_line: Vec<String>,
        design: DesignRecord,
        machine: Machine,
        programs: Vec<ProgramRecord>,
    ) -> Self {
        Self {
            format: FORMAT.to_owned(),
            version: VERSION,
            created: String::new(),
            szc_version: env!("CARGO_PKG_VERSION").to_owned(),
            command,
            command_line,
            design,
            machine,
            machines: Vec::new(),
            advice: Vec::new(),
            programs,
            runs: Vec::new(),
            ended: EndedRecord::Unfinished,
            results: Vec::new(),
            summaries: Vec::new(),
            suite: None,
            over_machines: Vec::new(),
            bias: None,
        }
    }

    /// The results of the metric that decides.
    pub fn deciding_results(&self) -> impl Iterator<Item = &ResultRecord> {
        self.results.iter().filter(|result| result.deciding)
    }

    /// The machine that measured a program.
    #[must_use]
    pub fn machine_of(&self, program: usize) -> &Machine {
        let place = self.programs.get(program).and_then(|record| record.machine);
        place.and_then(|place| self.machines.get(place)).unwrap_or(&self.machine)
    }

    /// The metrics, the deciding one first.
    #[must_use]
    pub fn metrics(&self) -> Vec<Metric> {
        let deciding = self.design.metric.clone();
        let others = metrics_of(&self.runs)
            .into_iter()
            .filter(|metric| *metric != deciding && self.is_meaningful(metric));
        std::iter::once(deciding.clone()).chain(others).collect()
    }

    /// Whether a metric tells of the programs. Elapsed time does not where they had a processor by
    /// turns: it passed while others ran.
    #[must_use]
    pub fn is_meaningful(&self, metric: &Metric) -> bool {
        *metric != Metric::Wall || !self.was_by_turns()
    }

    /// Whether any of its programs shared a processor by turns.
    #[must_use]
    pub fn was_by_turns(&self) -> bool {
        self.programs.iter().any(ProgramRecord::was_by_turns)
    }

    /// Runs of each program in a mirrored block: there and back, or a round of turns.
    #[must_use]
    pub fn runs_per_block(&self) -> u32 {
        let places = if self.was_by_turns() { 1 } else { 2 };
        places * self.design.plan.runs_per_position
    }

    /// The levels of a sweep in the order of the file, the reference first.
    #[must_use]
    pub fn levels(&self) -> Vec<&str> {
        each_once(self.programs.iter().filter_map(|program| program.level.as_deref()))
    }

    /// The programs of a suite in the order of the file.
    #[must_use]
    pub fn workloads(&self) -> Vec<&str> {
        each_once(self.programs.iter().filter_map(|program| program.workload.as_deref()))
    }

    /// The place of a workload at a level, measured by that machine of a file of several.
    #[must_use]
    pub fn program_at(&self, workload: &str, level: &str, machine: Option<usize>) -> Option<usize> {
        self.programs.iter().position(|program| {
            program.workload.as_deref() == Some(workload)
                && program.level.as_deref() == Some(level)
                && program.machine == machine
        })
    }

    /// The machines that measured a workload, in the order of their list; none if the file is of
    /// one machine.
    #[must_use]
    pub fn machines_of(&self, workload: &str) -> Vec<usize> {
        let of_workload =
            self.programs.iter().filter(|record| record.workload.as_deref() == Some(workload));
        let mut machines: Vec<usize> = of_workload.filter_map(|record| record.machine).collect();
        machines.sort_unstable();
        machines.dedup();
        machines
    }

    /// As [`Self::machines_of`]; `None` alone if the file is of one machine.
    #[must_use]
    pub fn series_of(&self, workload: &str) -> Vec<Option<usize>> {
        match self.machines_of(workload) {
            machines if machines.is_empty() => vec![None],
            machines => machines.into_iter().map(Some).collect(),
        }
    }

    /// Whether the command that wrote it ran the programs: szc merge and szc import make files of
    /// others.
    #[must_use]
    pub fn was_measured(&self) -> bool {
        !self.command_line.get(1).is_some_and(|word| word == "merge" || word == "import")
    }
}

/// Each text once, in the order of its first appearance.
fn each_once<'a>(texts: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let mut found = Vec::new();
    for text in texts {
        if !found.contains(&text) {
            found.push(text);
        }
    }
    found
}

/// A subcommand that measures.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Command {
    /// One program over layouts.
    Run,
    /// Programs against the first.
    Compare,
    /// A candidate against a baseline.
    Gate,
    /// Levels of a parameter over a suite of programs.
    Sweep,
    /// Setups of the same programs.
    Bias,
}

impl Command {
    /// Name of the subcommand.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Run => "run",
            Self::Compare => "compare",
            Self::Gate => "gate",
            Self::Sweep => "sweep",
            Self::Bias => "bias",
        }
    }
}

/// When a verdict was reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RuleRecord {
    /// After a number of blocks fixed before the first.
    Fixed,
    /// By looking after every block.
    Sequential,
}

/// Plan of an experiment.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DesignRecord {
    /// Which runs when, the seed included.
    #[serde(flatten)]
    pub plan: Design,
    /// When a verdict is reached.
    pub rule: RuleRecord,
    /// Tolerated change as a share, 0.01 for 1 %; absent where the command has none.
    pub tolerance: Option<f64>,
    /// Tolerances of rows of a harness; the first whose pattern fits a row's name is the row's.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub row_tolerances: Vec<RowTolerance>,
    /// How many times slower than the others a layout is assumed to be at most; absent where
    /// nobody said so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slowest_layout: Option<f64>,
    /// Precision asked for, half the width of the interval as a share.
    #[serde(default)]
    pub precision: Option<f64>,
    /// Time after which no further block was begun.
    #[serde(default)]
    pub budget_s: Option<f64>,
    /// Blocks that were completed; later runs belong to none.
    pub complete_blocks: u32,
    /// The metric that decides.
    pub metric: Metric,
    /// The value of --metric, where it says more than the metric's name.
    #[serde(default)]
    pub metric_option: Option<String>,
    /// Whether stdout had to be identical.
    pub check_output: bool,
    /// Longest time for a run.
    pub timeout_s: Option<f64>,
    /// The value of --turns; none in files from before, which had none.
    #[serde(default)]
    pub turns: Option<String>,
    /// The CPU that the programs were pinned to.
    #[serde(default)]
    pub cpu: Option<usize>,
    /// Shell command in front of each run.
    #[serde(default)]
    pub prepare: Option<String>,
    /// Shell command behind each run.
    #[serde(default)]
    pub cleanup: Option<String>,
    /// The part of a suite that was measured, if not all of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shard: Option<Shard>,
}

impl DesignRecord {
    /// A plan judged by a rule on a metric, of which nothing is measured, and what is usual
    /// otherwise.
    #[must_use]
    pub fn new(plan: Design, rule: RuleRecord, metric: Metric) -> Self {
        Self {
            plan,
            rule,
            tolerance: None,
            row_tolerances: Vec::new(),
            slowest_layout: None,
            precision: None,
            budget_s: None,
            complete_blocks: 0,
            metric,
            metric_option: None,
            check_output: true,
            timeout_s: None,
            turns: None,
            cpu: None,
            prepare: None,
            cleanup: None,
            shard: None,
        }
    }

    /// Blocks below which the rule allows no verdict.
    #[must_use]
    pub fn min_blocks(&self) -> usize {
        match self.rule {
            RuleRecord::Fixed => fixed::MIN_BLOCKS,
            RuleRecord::Sequential => sequential::MIN_BLOCKS,
        }
    }
}
