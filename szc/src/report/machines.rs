//! Programs that several machines measured: the machines are blocks, never one pool.
//!
//! A level is compared with its reference within each machine, in whose interleaved blocks both
//! ran. What is said over machines is the mean of those comparisons, each machine counting the
//! same, beside a test of whether the machines agree.
#![forbid(unsafe_code)]

use serde::{Deserialize, Serialize};

use super::comparison::metrics_in_order;
use super::json::{SamplesFile, printable};
use super::number::{decimals_for, range};
use super::sentence::interval_name;
use super::suite::{cell, levels_of, p_value, program_of, usual_confidence, workloads_of};
use crate::measure::metric::Metric;
use crate::measure::sample::block_log_ratios;
use szc_stats::family;
use szc_stats::fixed::{CONFIDENCE, Interval};
use szc_stats::multiplicity::holm;
use szc_stats::strata::stratified;

/// A level of one program against the reference, over the machines that measured it, by the
/// deciding metric. Below 1, the level takes less.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OverMachinesRecord {
    /// The program.
    pub workload: String,
    /// The level.
    pub level: String,
    /// The level it is compared with.
    pub reference: String,
    /// Places in the list of machines.
    pub machines: Vec<usize>,
    /// Blocks on all of them.
    pub n: usize,
    /// Geometric mean of the machines' ratios.
    pub ratio: f64,
    /// Its interval.
    pub interval: [f64; 2],
    /// Probability with which that covers: that of Holm's level, 95 % for all levels of the program
    /// together.
    #[serde(default = "usual_confidence")]
    pub confidence: f64,
    /// Degrees of freedom, after Satterthwaite.
    pub degrees_of_freedom: f64,
    /// p of "as the reference".
    pub p: f64,
    /// The same, adjusted by Holm for all levels of the program.
    pub p_holm: f64,
    /// Whether the machines agree.
    pub agreement: AgreementRecord,
}

/// Test of "the ratio is the same on all machines" (Welch's analysis of variance).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct AgreementRecord {
    /// F.
    pub f: f64,
    /// Machines − 1, and those of the error.
    pub degrees_of_freedom: [f64; 2],
    /// p.
    pub p: f64,
}

impl OverMachinesRecord {
    /// Whether the level takes more or less than the reference, at 5 % for all levels together.
    #[must_use]
    pub fn is_resolved(&self) -> bool {
        self.p_holm <= 1.0 - CONFIDENCE
    }

    /// As a cell of the table of speedups.
    #[must_use]
    pub fn speedup(&self) -> String {
        let mark = match (self.is_resolved(), self.ratio > 1.0) {
            (false, _) => "~",
            (true, true) => "*",
            (true, false) => " ",
        };
        cell(self.ratio, self.interval, mark)
    }

    /// The finding in a sentence.
    #[must_use]
    pub fn sentence(&self, metric: &Metric) -> String {
        let interval = Interval { lower: self.interval[0], upper: self.interval[1] };
        let decimals = decimals_for(self.ratio, interval);
        let [workload, level, reference] =
            [&self.workload, &self.level, &self.reference].map(|text| printable(text));
        let [of_machines, of_error] = self.agreement.degrees_of_freedom;
        let agreement = if self.agreement.p <= 1.0 - CONFIDENCE {
            "the machines do not agree, so read them one by one"
        } else {
            "no sign that the machines disagree"
        };
        let verdict = match (self.is_resolved(), self.ratio > 1.0) {
            (false, _) => format!("unresolved whether {level} takes more or less than {reference}"),
            (true, true) => format!("{level} takes more than {reference}"),
            (true, false) => format!("{level} takes less than {reference}"),
        };
        format!(
            "{workload} over {} machines as blocks: {verdict}: ratio {:.decimals$} of {}, {} {}, n = {} blocks, p = {} (Holm); {agreement}: F({of_machines}, {of_error:.1}) = {:.3}, p = {}.",
            self.machines.len(),
            self.ratio,
            metric.title(),
            interval_name(self.confidence, "levels"),
            range(interval, decimals),
            self.n,
            p_value(self.p_holm),
            self.agreement.f,
            p_value(self.agreement.p),
        )
    }
}

/// The comparisons over machines of every program that more than one of them measured. Programs
/// whose blocks do not vary, or lack a level, are left out.
#[must_use]
pub fn over_machines(file: &SamplesFile) -> Vec<OverMachinesRecord> {
    let Some(metric) = metrics_in_order(file).into_iter().next() else {
        return Vec::new();
    };
    let levels = levels_of(file);
    let Some((reference, others)) = levels.split_first() else {
        return Vec::new();
    };
    let mut records = Vec::new();
    for workload in workloads_of(file) {
        let machines = machines_of(file, workload);
        if machines.len() < 2 {
            continue;
        }
        let at = |level: &str, confidence| {
            compared(file, workload, [reference, level], &machines, &metric, confidence)
        };
        let alone: Vec<OverMachinesRecord> =
            others.iter().filter_map(|level| at(level, CONFIDENCE)).collect();
        let p: Vec<f64> = alone.iter().map(|record| record.p).collect();
        let Ok(adjusted) = holm(&p) else {
            continue;
        };
        // Intervals that agree with the adjusted p.
        for ((record, divisor), p_holm) in alone.iter().zip(family::levels(&p)).zip(adjusted) {
            let found = at(&record.level, 1.0 - (1.0 - CONFIDENCE) / divisor as f64);
            records.extend(found.map(|found| OverMachinesRecord { p_holm, ..found }));
        }
    }
    records
}

fn compared(
    file: &SamplesFile,
    workload: &str,
    [reference, level]: [&str; 2],
    machines: &[usize],
    metric: &Metric,
    confidence: f64,
) -> Option<OverMachinesRecord> {
    let lists: Vec<Vec<f64>> = machines
        .iter()
        .map(|machine| {
            let [reference, program] =
                [reference, level].map(|level| program_of(file, workload, level, Some(*machine)));
            let (reference, program) = (reference?, program?);
            let of_program = |run: &&crate::measure::sample::Sample| run.program == program;
            let blocks =
                file.runs.iter().filter(of_program).map(|run| run.block.saturating_add(1)).max()?;
            block_log_ratios(&file.runs, blocks, reference, program, metric)
        })
        .collect::<Option<_>>()?;
    let slices: Vec<&[f64]> = lists.iter().map(Vec::as_slice).collect();
    let found = stratified(&slices, confidence).ok()?;
    let record = OverMachinesRecord {
        workload: workload.to_owned(),
        level: level.to_owned(),
        reference: reference.to_owned(),
        machines: machines.to_vec(),
        n: lists.iter().map(Vec::len).sum(),
        ratio: found.mean.exp(),
        interval: [found.interval.lower.exp(), found.interval.upper.exp()],
        confidence,
        degrees_of_freedom: found.degrees_of_freedom,
        p: found.p,
        p_holm: found.p,
        agreement: AgreementRecord {
            f: found.agreement.f,
            degrees_of_freedom: found.agreement.degrees_of_freedom,
            p: found.agreement.p,
        },
    };
    let [lower, upper] = record.interval;
    [record.ratio, lower, upper].iter().all(|value| value.is_finite()).then_some(record)
}

/// The machines that measured a program, in the order of their list; none if the file is of one
/// machine.
#[must_use]
pub fn machines_of(file: &SamplesFile, workload: &str) -> Vec<usize> {
    let of_workload =
        file.programs.iter().filter(|record| record.workload.as_deref() == Some(workload));
    let mut machines: Vec<usize> = of_workload.filter_map(|record| record.machine).collect();
    machines.sort_unstable();
    machines.dedup();
    machines
}

/// One line for each machine of a file of several, and what is done about it.
#[must_use]
pub fn machines_text(file: &SamplesFile) -> String {
    if file.machines.is_empty() {
        return String::new();
    }
    let mut text = format!(
        "{} machines, which are blocks: levels are compared within each, and results of different machines are not pooled\n",
        file.machines.len()
    );
    for (place, machine) in file.machines.iter().enumerate() {
        let count = file.programs.iter().filter(|record| record.machine == Some(place));
        let mut programs: Vec<&str> =
            count.filter_map(|record| record.workload.as_deref()).collect();
        programs.dedup();
        text.push_str(&printable(&machine.identity()));
        text.push_str(": ");
        text.push_str(&printable(&programs.join(", ")));
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests;
