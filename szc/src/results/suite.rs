//! Levels over a suite of programs: the analysis of variance, and the table of speedups.
//!
//! The programs are the subjects, the levels the treatment, and the value of a program at a level
//! is its mean log value over blocks: so a program counts as much as any other, however long it
//! runs, and differences are ratios. After section 4.5 of the STABILIZER paper.
//!
//! Of several machines, the value of a program is the mean over those that measured it, and
//! programs of the same machines are a block of the analysis.
#![forbid(unsafe_code)]

use szc_stats::anova::{Contrast, contrasts_in_blocks, within_subjects_in_blocks};
use szc_stats::describe::mean;
use szc_stats::family;
use szc_stats::fixed::CONFIDENCE;

use crate::samples::sample::block_mean_logarithms;
use crate::samples::{ByBlockRecord, LevelRecord, Metric, SamplesFile, SuiteRecord};

/// Share of false statements that is accepted.
const ERROR_RATE: f64 = 1.0 - CONFIDENCE;

/// The analysis of the deciding metric. `None` without two programs that have values at all
/// levels, or if the levels differ by exactly the same in all of them.
#[must_use]
pub fn suite(file: &SamplesFile) -> Option<SuiteRecord> {
    let metric = file.metrics().into_iter().next()?;
    let levels = file.levels();
    let mut workloads = Vec::new();
    let mut rows = Vec::new();
    for workload in file.workloads() {
        let row: Option<Vec<f64>> =
            levels.iter().map(|level| mean_over_machines(file, workload, level, &metric)).collect();
        if let Some(row) = row {
            workloads.push(workload.to_owned());
            rows.push(row);
        }
    }
    let block_of = blocks_of(file, &workloads);
    // With one program in each block nothing would be left to be the error.
    let blocks = if count(&block_of) < rows.len() { block_of.clone() } else { vec![0; rows.len()] };
    let analysis = within_subjects_in_blocks(&rows, &blocks, CONFIDENCE).ok()?;
    let grand = mean(&analysis.means)?;
    let against_reference = against_reference(&rows, &blocks)?;
    let records = levels.iter().enumerate().map(|(index, level)| {
        let found = against_reference.iter().find(|(contrast, _)| contrast.level == index);
        let contrast = found.map(|(contrast, _)| contrast);
        let center = analysis.means[index] - grand;
        let ends = |center: f64, half: f64| [(center - half).exp(), (center + half).exp()];
        LevelRecord {
            level: (*level).to_owned(),
            ratio_to_mean: center.exp(),
            interval_to_mean: ends(center, analysis.half_width),
            ratio: contrast.map_or(1.0, |contrast| contrast.difference.exp()),
            interval: contrast
                .map(|contrast| [contrast.interval.lower.exp(), contrast.interval.upper.exp()]),
            confidence: found.map_or(CONFIDENCE, |(_, confidence)| *confidence),
            p_holm: contrast.map(|contrast| contrast.p_holm),
        }
    });
    let record = SuiteRecord {
        metric,
        workloads,
        levels: records.collect(),
        f: analysis.f,
        degrees_of_freedom: analysis.degrees_of_freedom,
        p: analysis.p,
        epsilon: analysis.epsilon,
        p_corrected: analysis.p_corrected,
        partial_eta_squared: analysis.partial_eta_squared,
        generalized_eta_squared: analysis.generalized_eta_squared,
        block_of: if file.machines.is_empty() { Vec::new() } else { block_of },
        by_block: analysis.by_block.map(|found| ByBlockRecord {
            f: found.f,
            degrees_of_freedom: found.degrees_of_freedom,
            p: found.p,
        }),
    };
    let numbers = record.levels.iter().flat_map(|level| {
        let ends = level.interval.unwrap_or_default();
        [level.ratio, level.ratio_to_mean, level.interval_to_mean[1], ends[1]]
    });
    let by_block = record.by_block.map_or(0.0, |found| found.f);
    numbers.chain([record.f, by_block]).all(f64::is_finite).then_some(record)
}

/// Each level against the first, with an interval that agrees with Holm's p, and the confidence of
/// that.
fn against_reference(rows: &[Vec<f64>], blocks: &[usize]) -> Option<Vec<(Contrast, f64)>> {
    let alone = contrasts_in_blocks(rows, blocks, 0, CONFIDENCE).ok()?;
    let p: Vec<f64> = alone.iter().map(|contrast| contrast.p).collect();
    let widened = family::holm_divisors(&p).into_iter().enumerate().map(|(place, divisor)| {
        let confidence = 1.0 - ERROR_RATE / divisor as f64;
        let all = contrasts_in_blocks(rows, blocks, 0, confidence).ok()?;
        Some((*all.get(place)?, confidence))
    });
    widened.collect()
}

/// The block of each program: programs that the same machines measured are in the same.
fn blocks_of(file: &SamplesFile, workloads: &[String]) -> Vec<usize> {
    let mut known: Vec<Vec<usize>> = Vec::new();
    workloads
        .iter()
        .map(|workload| {
            let machines = file.machines_of(workload);
            known.iter().position(|other| *other == machines).unwrap_or_else(|| {
                known.push(machines);
                known.len() - 1
            })
        })
        .collect()
}

fn count(blocks: &[usize]) -> usize {
    blocks.iter().max().map_or(0, |last| last + 1)
}

/// Every machine counts the same.
fn mean_over_machines(
    file: &SamplesFile,
    workload: &str,
    level: &str,
    metric: &Metric,
) -> Option<f64> {
    let means: Option<Vec<f64>> = file
        .series_of(workload)
        .into_iter()
        .map(|machine| mean_log(file, file.program_at(workload, level, machine)?, metric))
        .collect();
    mean(&means?)
}

fn mean_log(file: &SamplesFile, program: usize, metric: &Metric) -> Option<f64> {
    let runs = file.runs.iter().filter(|run| run.program == program);
    let blocks = runs.map(|run| run.block.saturating_add(1)).max()?;
    // A program that was cut off counts from where it has a result of its own.
    if (blocks as usize) < file.design.min_blocks() {
        return None;
    }
    mean(&block_mean_logarithms(&file.runs, blocks, program, metric)?)
}

#[cfg(test)]
mod tests;
