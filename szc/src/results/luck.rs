//! Whose placement explains how long a program takes: from runs that say where functions lay.
#![forbid(unsafe_code)]

pub mod fix;

use std::collections::{BTreeMap, BTreeSet};

use szc_stats::attribution::{Explained, explain};
use szc_stats::describe::mean;
use szc_stats::groups::one_way;

use crate::measure::places::PLACE_PREFIX;
use crate::samples::luck::{
    Confirmation, FORMAT, Feature, InterventionRecord, LuckRecord, NamedRecord, OffsetRecord,
};
use crate::samples::{Sample, SamplesFile, Verdict};

/// Error rate that all functions and features share.
const ALPHA: f64 = 0.05;

/// Permutations of the values: the least adjusted p is 0.001.
const PERMUTATIONS: usize = 999;

/// Fewest layouts that say anything.
pub const MIN_LAYOUTS: usize = 20;

/// The layouts of a file: logarithms of the runs of each, and places of functions.
struct Layouts<'a> {
    values: Vec<Vec<f64>>,
    places: Vec<BTreeMap<&'a str, u32>>,
}

impl<'a> Layouts<'a> {
    fn of(file: &'a SamplesFile) -> Self {
        let mut by_block: BTreeMap<u32, Vec<&Sample>> = BTreeMap::new();
        for run in file.runs.iter().filter(|run| run.block < file.design.complete_blocks) {
            by_block.entry(run.block).or_default().push(run);
        }
        let values = by_block.values().map(|runs| {
            runs.iter().map(|run| run.value(&file.design.metric).ln()).collect::<Vec<f64>>()
        });
        let places = by_block.values().map(|runs| runs.first().map(|run| places(run)));
        Self { values: values.collect(), places: places.map(Option::unwrap_or_default).collect() }
    }

    /// Functions that have a place in all layouts.
    fn functions(&self) -> Vec<&'a str> {
        let Some((first, others)) = self.places.split_first() else { return Vec::new() };
        let in_all = |name: &&&str| others.iter().all(|places| places.contains_key(**name));
        first.keys().filter(in_all).copied().collect()
    }
}

/// Functions by name, and their places in a page.
fn places(run: &Sample) -> BTreeMap<&str, u32> {
    let names = run.figures.keys().filter_map(|figure| figure.strip_prefix(PLACE_PREFIX));
    names.map(|name| (name, place(run.figures[&format!("{PLACE_PREFIX}{name}")]))).collect()
}

/// The instrument made it a whole number below a page's bytes.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "as it says")]
fn place(figure: f64) -> u32 {
    figure as u32
}

/// What the layouts of a file say; none if they are too few, or nothing varies.
#[must_use]
pub fn luck(file: &SamplesFile) -> Option<LuckRecord> {
    let layouts = Layouts::of(file);
    let functions = layouts.functions();
    let n = layouts.values.len();
    if n < MIN_LAYOUTS || functions.is_empty() {
        return None;
    }
    let means: Vec<f64> = layouts.values.iter().filter_map(|values| mean(values)).collect();
    let hypotheses: Vec<(&str, Feature)> = functions
        .iter()
        .flat_map(|function| Feature::ALL.into_iter().map(move |feature| (*function, feature)))
        .collect();
    let class = |function: &str, feature: Feature| {
        layouts.places.iter().map(|places| feature.class(places[function])).collect()
    };
    let classes: Vec<Vec<usize>> =
        hypotheses.iter().map(|(function, feature)| class(function, *feature)).collect();
    let found = explain(&means, &classes, PERMUTATIONS, file.design.plan.seed).ok()?;
    let lists: Vec<&[f64]> = layouts.values.iter().map(Vec::as_slice).collect();
    let between = one_way(&lists);
    let sd_layouts = between.map(|found| found.sd_between);
    let centre = mean(&means)?;
    let mut explained: Vec<((&str, Feature), Explained)> = hypotheses
        .into_iter()
        .zip(found)
        .filter_map(|(hypothesis, found)| Some((hypothesis, found?)))
        .filter(|(_, found)| found.adjusted_p <= ALPHA)
        .collect();
    explained.sort_by(|one, other| one.1.p.total_cmp(&other.1.p));
    // Of one function the feature that explains most.
    let mut seen = BTreeSet::new();
    explained.retain(|((function, _), _)| seen.insert(*function));
    let named = explained.into_iter().map(|((function, feature), found)| {
        let share = sd_layouts.filter(|sd| *sd > 0.0).map(|sd| found.variance / (sd * sd));
        NamedRecord {
            function: function.to_owned(),
            feature,
            adjusted_p: found.adjusted_p,
            share: share.map(|share| share.min(1.0)),
            offsets: offsets(feature, &found, centre),
            places: layouts.places.iter().map(|places| places[function]).collect(),
        }
    });
    let values = layouts.values.iter();
    Some(LuckRecord {
        format: FORMAT.to_owned(),
        command: file.programs.first().map(|program| program.command.clone()).unwrap_or_default(),
        seed: file.design.plan.seed,
        metric: file.design.metric.clone(),
        layouts: n,
        runs: layouts.values.iter().map(Vec::len).sum(),
        functions: functions.len(),
        values: values.map(|runs| runs.iter().map(|run| run.exp()).collect()).collect(),
        p_layouts: between.map(|found| found.p),
        sd_layouts,
        named: named.collect(),
        intervention: None,
        fix: None,
    })
}

fn offsets(feature: Feature, found: &Explained, centre: f64) -> Vec<OffsetRecord> {
    let (_, width) = feature.bytes();
    (0..)
        .step_by(width as usize)
        .zip(&found.classes)
        .filter_map(|(offset, class)| {
            let (mean, layouts) = (*class)?;
            Some(OffsetRecord { offset, layouts, ratio: (mean - centre).exp() })
        })
        .collect()
}

/// The best and the worst offset of a function.
#[must_use]
pub fn extremes(named: &NamedRecord) -> Option<[u32; 2]> {
    let by_ratio = |one: &&OffsetRecord, other: &&OffsetRecord| one.ratio.total_cmp(&other.ratio);
    let best = named.offsets.iter().min_by(by_ratio)?;
    let worst = named.offsets.iter().max_by(by_ratio)?;
    (best.offset != worst.offset).then_some([best.offset, worst.offset])
}

/// What holding a function at two offsets did: the comparison of the worst, B, with the best, A.
#[must_use]
pub fn intervention(
    named: &NamedRecord,
    offsets: [u32; 2],
    file: &SamplesFile,
) -> Option<InterventionRecord> {
    let result = file.deciding_results().next()?;
    // A figure of the user's is neither faster nor slower, so the interval says it.
    let [lower, upper] = result.interval;
    let verdict = if lower > 1.0 {
        Confirmation::Confirmed
    } else if upper < 1.0 || result.verdict == Verdict::Equivalent {
        Confirmation::Rejected
    } else {
        Confirmation::Undecided
    };
    Some(InterventionRecord {
        function: named.function.clone(),
        offsets,
        modulus: held_in(named.feature),
        n: result.n,
        ratio: result.ratio,
        interval: result.interval,
        verdict,
    })
}

/// What a function is held in, so that a feature of it is: a line or a page.
#[must_use]
pub const fn held_in(feature: Feature) -> u32 {
    match feature {
        Feature::Half | Feature::Line => 64,
        Feature::Page => 4096,
    }
}

#[cfg(test)]
mod tests;
