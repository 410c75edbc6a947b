//! What setups do to the answer: each factor by itself, setups drawn at random.
//!
//! The value of a block is the log ratio of the second program to the first, or the logarithm of
//! the only one's metric. What a run's setup was follows from the design, so that no run needs to
//! say it.
#![forbid(unsafe_code)]

mod causes;
pub mod suite;

use std::collections::BTreeMap;

use szc_stats::describe::{mean, standard_deviation};
use szc_stats::groups::one_way;
use szc_stats::sequential::{MIN_BLOCKS, mean_sequence};
use szc_stats::tail::normal_upper;

pub use self::causes::{GONE, REMAINS};
use super::tolerance::USUAL_TOLERANCE;
use crate::samples::bias::{
    BiasRecord, CausalRecord, DrawnRecord, Factor, FactorRecord, PartRecord, SetupRecord,
};
use crate::samples::design::{Design, PlannedRun};
use crate::samples::setups::{Contrast, Setup, Setups};
use crate::samples::{DesignRecord, Sample, SamplesFile};

/// The plan of a file, which knows whether its programs took turns.
fn plan_of(file: &SamplesFile) -> Design {
    Design { by_turns: file.was_by_turns(), ..file.design.plan }
}

/// All results of an experiment on bias; none if its file does not say which setups it had.
#[must_use]
pub fn bias(file: &SamplesFile) -> Option<BiasRecord> {
    let design = plan_of(file);
    let setups = design.setups?;
    let blocks = file.design.complete_blocks;
    if setups.drawn {
        let drawn = drawn(&file.design, &design, blocks, &file.runs);
        let split = split(&file.design, &design, &setups, blocks, &file.runs);
        return Some(BiasRecord { drawn, split, ..BiasRecord::default() });
    }
    let of_factor = |factor| {
        let values = values_of_setups(&file.design, &design, &setups, blocks, &file.runs, factor);
        factor_record(factor, &values, design.programs)
    };
    Some(BiasRecord {
        factors: Factor::ALL.into_iter().filter_map(of_factor).collect(),
        drawn: None,
        split: Vec::new(),
        causal: causal(&file.design, &design, blocks, &file.runs),
        simulated: Vec::new(),
    })
}

/// Whether the blocks so far answer what the experiment is to end with: its precision, or each
/// cause.
#[must_use]
pub fn is_answered(record: &DesignRecord, design: &Design, blocks: u32, runs: &[Sample]) -> bool {
    let Some(setups) = design.setups else { return false };
    if setups.drawn {
        let found = drawn(record, design, blocks, runs);
        return found
            .zip(record.precision)
            .is_some_and(|(found, precision)| found.precision <= precision);
    }
    causal(record, design, blocks, runs).is_some_and(|found| causes::is_decided(&found))
}

/// The two sizes that seem to differ most, by the lowest values that each program had in them:
/// what disturbs a run makes it slower.
#[must_use]
pub fn extreme_sizes(file: &SamplesFile) -> Option<[u32; 2]> {
    let design = plan_of(file);
    let setups = design.setups?;
    let mut lowest: BTreeMap<u32, Vec<f64>> = BTreeMap::new();
    for block in 0..file.design.complete_blocks.min(setups.blocks()) {
        let setup = setups.at(design.seed, block);
        if setup.order != 0 || setup.layouts != [0; 3] {
            continue;
        }
        let least =
            lowest.entry(setup.size_bytes).or_insert_with(|| vec![f64::INFINITY; design.programs]);
        for run in runs_of(&file.runs, block) {
            least[run.program] = least[run.program].min(run.value(&file.design.metric));
        }
    }
    let value = |least: &[f64]| match least {
        [one] => *one,
        [first, second, ..] => second / first,
        [] => f64::NAN,
    };
    let sizes: Vec<(u32, f64)> = lowest.iter().map(|(size, least)| (*size, value(least))).collect();
    let by_value = |one: &&(u32, f64), other: &&(u32, f64)| one.1.total_cmp(&other.1);
    let (low, high) = (sizes.iter().min_by(by_value)?, sizes.iter().max_by(by_value)?);
    (low.0 != high.0).then_some([low.0, high.0])
}

/// The factor that matters most, its setups with the lowest value and with the highest, and a block
/// that has each; of setups drawn at random, those of the size of the environment.
#[must_use]
pub fn extreme_setups(file: &SamplesFile) -> Option<(Factor, Vec<SetupRecord>, [u32; 2])> {
    let design = plan_of(file);
    let setups = design.setups?;
    let found = file.bias.as_ref()?;
    let by_height =
        |one: &&FactorRecord, other: &&FactorRecord| one.height.total_cmp(&other.height);
    let most = found.factors.iter().max_by(by_height);
    let (factor, list) = match (most, &found.drawn) {
        (Some(most), _) => (most.factor, &most.setups),
        (None, Some(drawn)) => (Factor::Env, &drawn.setups),
        (None, None) => return None,
    };
    let by_value = |one: &&SetupRecord, other: &&SetupRecord| one.value.total_cmp(&other.value);
    let ends = [list.iter().min_by(by_value)?, list.iter().max_by(by_value)?];
    let block_of = |record: &SetupRecord| {
        let fits = |block: &u32| {
            let setup = setups.at(design.seed, *block);
            let part = factor.of_layout().map(|part| setup.layouts[part]);
            let others = setups.drawn
                || Factor::ALL
                    .into_iter()
                    .all(|other| other == factor || level_of(&setup, other) == 0);
            let order = record.order.is_none_or(|order| setup.order == order);
            others && setup.size_bytes == record.size_bytes && order && record.layout == part
        };
        (0..file.design.complete_blocks).find(fits)
    };
    let blocks = [block_of(ends[0])?, block_of(ends[1])?];
    (ends[0].value < ends[1].value).then(|| (factor, ends.map(Clone::clone).to_vec(), blocks))
}

fn runs_of(runs: &[Sample], block: u32) -> &[Sample] {
    let start = runs.partition_point(|run| run.block < block);
    let end = runs.partition_point(|run| run.block <= block);
    &runs[start..end]
}

/// The values of the runs of a block that `is_wanted`, by the order in which each program had them.
fn values_of_block(
    record: &DesignRecord,
    planned: &[PlannedRun],
    runs: &[Sample],
    is_wanted: impl Fn(&Setup) -> bool,
) -> Vec<f64> {
    let of = |program: usize| {
        planned
            .iter()
            .filter(|plan| plan.program == program)
            .filter(|plan| plan.setup.as_ref().is_some_and(&is_wanted))
            .filter_map(|plan| runs.iter().find(|run| run.position == plan.position))
            .map(|run| run.value(&record.metric).ln())
            .collect::<Vec<f64>>()
    };
    let first = of(0);
    if planned.iter().all(|plan| plan.program == 0) {
        return first;
    }
    of(1).iter().zip(&first).map(|(second, first)| second - first).collect()
}

/// The mean value of each block by the level of a factor, all else being as it was built: sizes of
/// the environment in bytes, or orders of objects. Empty if the factor does not differ.
fn values_of_setups(
    record: &DesignRecord,
    design: &Design,
    setups: &Setups,
    blocks: u32,
    runs: &[Sample],
    factor: Factor,
) -> BTreeMap<u32, Vec<f64>> {
    let mut values: BTreeMap<u32, Vec<f64>> = BTreeMap::new();
    if levels(setups, factor) == 0 {
        return values;
    }
    for block in 0..blocks.min(setups.blocks()) {
        let setup = setups.at(design.seed, block);
        if Factor::ALL.into_iter().any(|other| other != factor && level_of(&setup, other) != 0) {
            continue;
        }
        let level = level_of(&setup, factor);
        let of_block =
            values_of_block(record, &design.block_runs(block), runs_of(runs, block), |_| true);
        values.entry(level).or_default().extend(mean(&of_block));
    }
    values
}

fn levels(setups: &Setups, factor: Factor) -> u32 {
    match factor {
        Factor::Env => setups.sizes,
        Factor::Link => setups.orders,
        _ => factor.of_layout().map_or(0, |part| setups.layouts[part]),
    }
}

/// The level of a factor: bytes of the environment, or which order or layout.
fn level_of(setup: &Setup, factor: Factor) -> u32 {
    match factor {
        Factor::Env => setup.size_bytes,
        Factor::Link => setup.order,
        _ => factor.of_layout().map_or(0, |part| setup.layouts[part]),
    }
}

/// How much of what drawn setups differ by is each factor's: blocks that have a level of it in
/// common, the other factors being drawn for each.
fn split(
    record: &DesignRecord,
    design: &Design,
    setups: &Setups,
    blocks: u32,
    runs: &[Sample],
) -> Vec<PartRecord> {
    let varied: Vec<Factor> =
        Factor::ALL.into_iter().filter(|factor| levels(setups, *factor) > 0).collect();
    if varied.len() < 2 {
        return Vec::new();
    }
    let of_factor = |factor| {
        let mut values: BTreeMap<u32, Vec<f64>> = BTreeMap::new();
        for block in 0..blocks {
            let setup = setups.at(design.seed, block);
            let level = level_of(&setup, factor);
            let of_block =
                values_of_block(record, &design.block_runs(block), runs_of(runs, block), |_| true);
            values.entry(level).or_default().extend(mean(&of_block));
        }
        let lists: Vec<&[f64]> = values.values().map(Vec::as_slice).collect();
        let found = one_way(&lists)?;
        let interval = found.sd_interval;
        Some(PartRecord { factor, sd: found.sd_between, interval, p: found.p })
    };
    varied.into_iter().filter_map(of_factor).collect()
}

fn factor_record(
    factor: Factor,
    values: &BTreeMap<u32, Vec<f64>>,
    programs: usize,
) -> Option<FactorRecord> {
    let setups: Vec<SetupRecord> = values
        .iter()
        .filter_map(|(level, list)| {
            Some(SetupRecord {
                size_bytes: if factor == Factor::Env { *level } else { 0 },
                order: (factor == Factor::Link).then_some(*level),
                layout: factor.of_layout().map(|_| *level),
                value: mean(list)?.exp(),
            })
        })
        .collect();
    let lowest = setups.iter().map(|setup| setup.value).reduce(f64::min)?;
    let highest = setups.iter().map(|setup| setup.value).reduce(f64::max)?;
    let lists: Vec<&[f64]> = values.values().map(Vec::as_slice).collect();
    let between = one_way(&lists);
    Some(FactorRecord {
        factor,
        setups,
        lowest,
        highest,
        height: highest / lowest - 1.0,
        straddles: (programs > 1).then_some(lowest < 1.0 && highest > 1.0),
        p: between.map(|found| found.p),
        sd_setups: between.map(|found| found.sd_between),
    })
}

fn drawn(
    record: &DesignRecord,
    design: &Design,
    blocks: u32,
    runs: &[Sample],
) -> Option<DrawnRecord> {
    let setups = design.setups?;
    let lists: Vec<Vec<f64>> = (0..blocks)
        .map(|block| {
            values_of_block(record, &design.block_runs(block), runs_of(runs, block), |_| true)
        })
        .collect();
    let means: Vec<f64> = lists.iter().filter_map(|list| mean(list)).collect();
    if means.len() < MIN_BLOCKS {
        return None;
    }
    let found = mean_sequence(&means).ok()?;
    let slices: Vec<&[f64]> = lists.iter().map(Vec::as_slice).collect();
    let sd_setups = match one_way(&slices) {
        Some(found) => found.sd_between,
        // Without two runs of each in a setup the two cannot be told apart.
        None => standard_deviation(&means)?,
    };
    let beyond = |distance: f64| {
        if sd_setups > 0.0 { normal_upper(distance / sd_setups) } else { 0.0 }
    };
    let tolerance = record.tolerance.unwrap_or(USUAL_TOLERANCE);
    let setup_record = |(block, list): (u32, &Vec<f64>)| {
        let setup = setups.at(design.seed, block);
        let order = (setups.orders > 0).then_some(setup.order);
        let value = mean(list)?.exp();
        Some(SetupRecord { size_bytes: setup.size_bytes, order, layout: None, value })
    };
    let half = (found.interval.upper - found.interval.lower) / 2.0;
    Some(DrawnRecord {
        n: means.len(),
        value: found.mean.exp(),
        interval: [found.interval.lower.exp(), found.interval.upper.exp()],
        precision: half.exp_m1(),
        sd_setups,
        wrong_side: (design.programs > 1).then(|| beyond(found.mean.abs())),
        off: 2.0 * beyond(tolerance.ln_1p()),
        setups: (0..blocks).zip(&lists).filter_map(setup_record).collect(),
    })
    .filter(|found| found.interval.iter().chain([&found.value]).all(|value| value.is_finite()))
}

/// What holding things does to the difference of the two sizes of the contrast.
fn causal(
    record: &DesignRecord,
    design: &Design,
    blocks: u32,
    runs: &[Sample],
) -> Option<CausalRecord> {
    let setups = design.setups?;
    let contrast = setups.chosen_contrast()?;
    let conditions = contrast.conditions();
    let mut differences = vec![Vec::new(); conditions.len()];
    for block in setups.blocks()..blocks {
        let planned = design.block_runs(block);
        let of_block = runs_of(runs, block);
        for (list, condition) in differences.iter_mut().zip(&conditions) {
            let at = |size_bytes| {
                mean(&values_of_block(record, &planned, of_block, |setup| {
                    setup.condition == *condition && setup.size_bytes == size_bytes
                }))
            };
            let Contrast { sizes_bytes: [low, high], .. } = contrast;
            list.push(at(high)? - at(low)?);
        }
    }
    let held = &conditions[1..];
    causes::record(contrast.sizes_bytes, &differences[0], held, &differences[1..])
}

#[cfg(test)]
mod tests;
