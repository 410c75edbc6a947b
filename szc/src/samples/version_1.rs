//! Version 1 of the samples file: two programs A and B, a fixed number of blocks.
//!
//! Only what is needed to analyse the runs again is read. The results are left behind: they follow
//! from the runs, and were made by one rule that version 2 has, too.
#![forbid(unsafe_code)]

use serde::Deserialize;

use super::design::{Arrangement, Bases, Design, EnvironmentSize};
use super::form::{self, Command, DesignRecord, RuleRecord};
use super::machine::Machine;
use super::metric::Metric;
use super::program::{Executable, ProgramRecord};
use super::runtime_log::RuntimeLog;
use super::sample::Sample;
use super::verdict::EndedRecord;

/// A file of version 1.
#[derive(Deserialize)]
pub(super) struct SamplesFile {
    created: String,
    szc_version: String,
    command_line: Vec<String>,
    seed: u64,
    design: DesignV1,
    machine: Machine,
    programs: Vec<ProgramV1>,
    runs: Vec<RunV1>,
    ended: EndedRecord,
    result: Option<ResultV1>,
}

#[derive(Deserialize)]
struct DesignV1 {
    blocks: u32,
    complete_blocks: u32,
    runs_per_position: u32,
    warmup: u32,
    check_output: bool,
    timeout_s: Option<f64>,
}

#[derive(Clone, Copy, Deserialize)]
enum Side {
    A,
    B,
}

#[derive(Deserialize)]
struct ProgramV1 {
    label: Side,
    name: Option<String>,
    command: String,
    via_shell: bool,
    executable: Option<Executable>,
    randomized: bool,
    not_randomized_reason: Option<String>,
    randomization: Option<RuntimeLog>,
}

/// A run: as in version 2, but for the program.
#[derive(Deserialize)]
struct RunV1 {
    block: u32,
    position: u32,
    program: Side,
    seed: u64,
    wall_ns: u64,
    user_us: u64,
    sys_us: u64,
    max_rss_kib: u64,
    minor_faults: u64,
    major_faults: u64,
    voluntary_switches: u64,
    involuntary_switches: u64,
    stdout_sha256: String,
    relocations: Option<u64>,
    epochs: Option<u64>,
}

#[derive(Deserialize)]
struct ResultV1 {
    metric: Metric,
}

impl From<SamplesFile> for form::SamplesFile {
    fn from(old: SamplesFile) -> Self {
        let plan = Design {
            programs: old.programs.len(),
            arrangement: Arrangement::Mirrored,
            blocks: old.design.blocks,
            runs_per_position: old.design.runs_per_position,
            runs_per_layout: 1,
            warmup: old.design.warmup,
            shuffle: true,
            environment: EnvironmentSize::Fixed,
            coupled: false,
            bases: Bases::Kernel,
            by_turns: false,
            setups: None,
            seed: old.seed,
        };
        let metric = old.result.map_or(Metric::Cpu, |result| result.metric);
        let design = DesignRecord {
            complete_blocks: old.design.complete_blocks,
            check_output: old.design.check_output,
            timeout_s: old.design.timeout_s,
            ..DesignRecord::new(plan, RuleRecord::Fixed, metric)
        };
        let programs = old.programs.into_iter().map(ProgramRecord::from).collect();
        Self {
            created: old.created,
            szc_version: old.szc_version,
            runs: old.runs.into_iter().map(Sample::from).collect(),
            ended: old.ended,
            ..Self::new(Command::Compare, old.command_line, design, old.machine, programs)
        }
    }
}

impl Side {
    fn label(self) -> &'static str {
        match self {
            Self::A => "A",
            Self::B => "B",
        }
    }

    fn index(self) -> usize {
        match self {
            Self::A => 0,
            Self::B => 1,
        }
    }
}

impl From<ProgramV1> for ProgramRecord {
    fn from(old: ProgramV1) -> Self {
        Self {
            label: old.label.label().to_owned(),
            name: old.name,
            workload: None,
            level: None,
            machine: None,
            command: old.command,
            via_shell: old.via_shell,
            folder: None,
            executable: old.executable,
            orders: Vec::new(),
            randomized: old.randomized,
            not_randomized_reason: old.not_randomized_reason,
            randomization: old.randomization,
            schedule: None,
            shared: None,
        }
    }
}

impl From<RunV1> for Sample {
    fn from(old: RunV1) -> Self {
        Self {
            block: old.block,
            position: old.position,
            program: old.program.index(),
            seed: old.seed,
            wall_ns: old.wall_ns,
            user_us: old.user_us,
            sys_us: old.sys_us,
            max_rss_kib: old.max_rss_kib,
            minor_faults: old.minor_faults,
            major_faults: old.major_faults,
            voluntary_switches: old.voluntary_switches,
            involuntary_switches: old.involuntary_switches,
            stdout_sha256: old.stdout_sha256,
            relocations: old.relocations,
            epochs: old.epochs,
            ..Self::default()
        }
    }
}
