//! Programs that several machines measured: the machines are blocks, never one pool.
//!
//! A level is compared with its reference within each machine, in whose interleaved blocks both
//! ran. What is said over machines is the mean of those comparisons, each machine counting the
//! same, beside a test of whether the machines agree.
#![forbid(unsafe_code)]

use szc_stats::family;
use szc_stats::fixed::CONFIDENCE;
use szc_stats::multiplicity::holm;
use szc_stats::strata::stratified;

use crate::samples::sample::block_log_ratios;
use crate::samples::{AgreementRecord, Metric, OverMachinesRecord, Sample, SamplesFile};

/// The comparisons over machines of every program that more than one of them measured. Programs
/// whose blocks do not vary, or lack a level, are left out.
#[must_use]
pub fn over_machines(file: &SamplesFile) -> Vec<OverMachinesRecord> {
    let Some(metric) = file.metrics().into_iter().next() else {
        return Vec::new();
    };
    let levels = file.levels();
    let Some((reference, others)) = levels.split_first() else {
        return Vec::new();
    };
    let mut records = Vec::new();
    for workload in file.workloads() {
        let machines = file.machines_of(workload);
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
        for ((record, divisor), p_holm) in alone.iter().zip(family::holm_divisors(&p)).zip(adjusted)
        {
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
                [reference, level].map(|level| file.program_at(workload, level, Some(*machine)));
            let (reference, program) = (reference?, program?);
            let of_program = |run: &&Sample| run.program == program;
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

#[cfg(test)]
mod tests;
