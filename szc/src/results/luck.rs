//! Whose placement explains how long a program takes: from runs that say where functions lay.
#![forbid(unsafe_code)]

pub mod fix;

use std::collections::{BTreeMap, BTreeSet};

use szc_stats::attribution::{Explained, explain};
use szc_stats::describe::mean;
use szc_stats::groups::one_way;

use crate::measure::places::{ASKED_PREFIX, BLOCKS_PREFIX, FRAME_PREFIX, PAD_PREFIX, PLACE_PREFIX};
use crate::samples::luck::{
    Confirmation, DRAWS, FORMAT, Feature, HotRecord, InterventionRecord, LuckRecord, NamedRecord,
    OffsetRecord, Part,
};
use crate::samples::{Sample, SamplesFile, Verdict};

/// Error rate that all functions and features share.
const ALPHA: f64 = 0.05;

/// Permutations of the values: the least adjusted p is 0.001.
const PERMUTATIONS: usize = 999;

const PAGE_BYTES: u32 = 4096;

const LINE_BYTES: u32 = 64;

/// Functions that are told to ask for blocks.
const MAX_ASKING: usize = 3;

/// Fewest layouts that say anything.
pub const MIN_LAYOUTS: usize = 20;

/// The layouts of a file: logarithms of the runs of each, and figures of where functions or their
/// frames lay.
struct Layouts<'a> {
    values: Vec<Vec<f64>>,
    figures: Vec<&'a BTreeMap<String, f64>>,
}

impl<'a> Layouts<'a> {
    fn of(file: &'a SamplesFile) -> Self {
        let mut by_block: BTreeMap<u32, Vec<&Sample>> = BTreeMap::new();
        let mut references: BTreeMap<u32, Vec<f64>> = BTreeMap::new();
        let value = |run: &Sample| run.value(&file.design.metric).ln();
        for run in file.runs.iter().filter(|run| run.block < file.design.complete_blocks) {
            if run.program == 0 {
                by_block.entry(run.block).or_default().push(run);
            } else {
                references.entry(run.block).or_default().push(value(run));
            }
        }
        let usual = mean(&references.values().flatten().copied().collect::<Vec<_>>());
        let values = by_block.iter().map(|(block, runs)| {
            // By how much the machine was slower than usual, as the run beside each one says.
            let slower = |at: usize| Some(references.get(block)?.get(at)? - usual?);
            let own = |(at, run): (usize, &&Sample)| value(run) - slower(at).unwrap_or(0.0);
            runs.iter().enumerate().map(own).collect::<Vec<f64>>()
        });
        let figures = by_block.values().filter_map(|runs| Some(&runs.first()?.figures));
        Self { values: values.collect(), figures: figures.collect() }
    }

    /// Functions that have such a figure in all layouts.
    fn functions(&self, prefix: &str) -> Vec<&'a str> {
        let Some((first, others)) = self.figures.split_first() else { return Vec::new() };
        let in_all = |figure: &&String| others.iter().all(|figures| figures.contains_key(*figure));
        let with_prefix = first.keys().filter(|figure| figure.starts_with(prefix));
        with_prefix.filter(in_all).map(|figure| &figure[prefix.len()..]).collect()
    }

    /// The figure of a function that has it in all layouts.
    fn places(&self, function: &str, prefix: &str) -> Vec<u32> {
        let figure = format!("{prefix}{function}");
        self.figures.iter().filter_map(|figures| Some(place(*figures.get(&figure)?))).collect()
    }

    /// The functions that asked for the most blocks of these sizes, with their shares of the first
    /// layout's.
    fn asked_by(&self, sizes: &str) -> Vec<HotRecord> {
        let Some(figures) = self.figures.first() else { return Vec::new() };
        let prefix = format!("{ASKED_PREFIX}{sizes}:");
        let all = figures.get(&prefix).copied().unwrap_or_default();
        let of_function = figures.iter().filter_map(|(figure, count)| {
            let function = figure.strip_prefix(&prefix).filter(|name| !name.is_empty())?;
            Some(HotRecord { function: function.to_owned(), share: (count / all).min(1.0) })
        });
        let mut found: Vec<HotRecord> = of_function.collect();
        found.sort_by(|one, other| other.share.total_cmp(&one.share));
        found.truncate(MAX_ASKING);
        found
    }

    /// Whether a function's frame is at one place but for its pad, so that the pad says nothing
    /// more than the frame.
    fn begins_at_one_place(&self, function: &str) -> bool {
        let [pads, frames] = [PAD_PREFIX, FRAME_PREFIX].map(|prefix| self.places(function, prefix));
        let mut starts = pads.iter().zip(&frames).map(|(pad, frame)| (pad + frame) % PAGE_BYTES);
        let first = starts.next();
        first.is_some() && starts.all(|start| Some(start) == first)
    }

    /// What is asked: whether that of the address of a function, or of its frame, goes with the
    /// values.
    fn hypotheses(&self, part: Part) -> Vec<Hypothesis<'a>> {
        let mut hypotheses = Vec::new();
        for &feature in part.features() {
            for function in self.functions(figure(feature)) {
                if !(feature.is_of_pad() && self.begins_at_one_place(function)) {
                    let places = self.places(function, figure(feature));
                    hypotheses.push(Hypothesis { function, from: None, feature, places });
                }
            }
        }
        hypotheses
    }

    /// The same of the distances of each two of these functions.
    fn of_pairs(&self, functions: &'a [String]) -> Vec<Hypothesis<'a>> {
        let pairs = functions.iter().enumerate().flat_map(|(at, from)| {
            functions[at + 1..].iter().map(move |function| (from.as_str(), function.as_str()))
        });
        let hypotheses = pairs.flat_map(|(from, function)| {
            let [starts, ends] = [from, function].map(|name| self.places(name, PLACE_PREFIX));
            let gap = |(end, start): (&u32, &u32)| (end + PAGE_BYTES - start) % PAGE_BYTES;
            let gaps: Vec<u32> = ends.iter().zip(&starts).map(gap).collect();
            Feature::OF_PAIRS.map(|feature| Hypothesis {
                function,
                from: Some(from),
                feature,
                places: gaps.clone(),
            })
        });
        // Functions that did not run in all layouts have too few.
        hypotheses.filter(|one| one.places.len() == self.values.len()).collect()
    }
}

struct Hypothesis<'a> {
    function: &'a str,
    /// Of a pair, the other one.
    from: Option<&'a str>,
    feature: Feature,
    places: Vec<u32>,
}

/// The figures that a feature is of.
const fn figure(feature: Feature) -> &'static str {
    if matches!(feature, Feature::Draw) {
        BLOCKS_PREFIX
    } else if feature.is_of_pad() {
        PAD_PREFIX
    } else if feature.is_of_frame() {
        FRAME_PREFIX
    } else {
        PLACE_PREFIX
    }
}

/// The instrument made it a whole number below a page's bytes.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "as it says")]
fn place(figure: f64) -> u32 {
    figure as u32
}

/// What the layouts of a file, of code, frames or blocks, say; none if they are too few, or nothing
/// varies. Of `together` each two functions are looked at, too.
#[must_use]
pub fn luck(file: &SamplesFile, part: Part, together: &[String]) -> Option<LuckRecord> {
    let layouts = Layouts::of(file);
    let mut hypotheses = layouts.hypotheses(part);
    let of_pairs = layouts.of_pairs(together);
    let pairs = of_pairs.len() / Feature::OF_PAIRS.len();
    hypotheses.extend(of_pairs);
    let n = layouts.values.len();
    if n < MIN_LAYOUTS || hypotheses.is_empty() {
        return None;
    }
    let functions: BTreeSet<&str> = hypotheses.iter().map(|one| one.function).collect();
    let means: Vec<f64> = layouts.values.iter().filter_map(|values| mean(values)).collect();
    let class = |one: &Hypothesis<'_>| {
        one.places.iter().map(|place| one.feature.class(*place)).collect::<Vec<usize>>()
    };
    let classes: Vec<Vec<usize>> = hypotheses.iter().map(class).collect();
    let found = explain(&means, &classes, PERMUTATIONS, file.design.plan.seed).ok()?;
    let lists: Vec<&[f64]> = layouts.values.iter().map(Vec::as_slice).collect();
    let between = one_way(&lists);
    let sd_layouts = between.map(|found| found.sd_between);
    // A share of what may be noise says nothing.
    let told = between.filter(|found| found.p < ALPHA).map(|found| found.sd_between);
    let centre = mean(&means)?;
    let mut explained: Vec<(Hypothesis<'_>, Explained)> = hypotheses
        .into_iter()
        .zip(found)
        .filter_map(|(hypothesis, found)| Some((hypothesis, found?)))
        .filter(|(_, found)| found.adjusted_p <= ALPHA)
        .collect();
    explained.sort_by(|one, other| one.1.p.total_cmp(&other.1.p));
    // Of one function, and of one pair, the feature that explains most.
    let mut seen = BTreeSet::new();
    explained.retain(|(one, _)| seen.insert((one.function, one.from)));
    let named = explained.into_iter().map(|(one, found)| {
        let share = told.filter(|sd| *sd > 0.0).map(|sd| found.variance / (sd * sd));
        NamedRecord {
            asked_by: layouts.asked_by(one.function),
            function: one.function.to_owned(),
            from: one.from.map(str::to_owned),
            feature: one.feature,
            adjusted_p: found.adjusted_p,
            share: share.map(|share| share.min(1.0)),
            offsets: offsets(one.feature, &found, centre),
            places: one.places,
        }
    });
    let values = layouts.values.iter();
    Some(LuckRecord {
        format: FORMAT.to_owned(),
        command: file.programs.first().map(|program| program.command.clone()).unwrap_or_default(),
        seed: file.design.plan.seed,
        part,
        metric: file.design.metric.clone(),
        layouts: n,
        runs: layouts.values.iter().map(Vec::len).sum(),
        functions: functions.len(),
        hottest: Vec::new(),
        pairs,
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

/// Where a function is held that is best and worst at these offsets: there, or where a class has
/// several places, where it was in the class's fastest layout, and in its slowest.
#[must_use]
pub fn places_held(found: &LuckRecord, named: &NamedRecord, offsets: [u32; 2]) -> [u32; 2] {
    let layouts: Vec<(u32, f64)> = named
        .places
        .iter()
        .zip(&found.values)
        .filter_map(|(place, runs)| Some((*place, mean(runs)?)))
        .collect();
    let (modulus, _) = named.feature.bytes();
    let of_class = |offset: u32| {
        let class = named.feature.class(offset);
        layouts.iter().filter(move |(place, _)| named.feature.class(*place) == class)
    };
    let by_time = |one: &&(u32, f64), other: &&(u32, f64)| one.1.total_cmp(&other.1);
    let at = |found: Option<&(u32, f64)>, offset| {
        let place = found.map_or(offset, |one| one.0 % modulus);
        // Of a pair the first begins a line, so that only the distance differs if both do.
        if named.from.is_some() { line_within(named.feature, place) } else { place }
    };
    let [best, worst] = offsets;
    [at(of_class(best).min_by(by_time), best), at(of_class(worst).max_by(by_time), worst)]
}

/// The line of a place of the same class, and where there are several not the class's first one,
/// unless that is where the place was: what makes a class differ may begin just behind its edge.
fn line_within(feature: Feature, place: u32) -> u32 {
    let (modulus, _) = feature.bytes();
    let down = place - place % LINE_BYTES;
    let is_inside = |line: u32| feature.class(line % modulus) == feature.class(place);
    let is_edge = place != down && !is_inside(down + modulus - LINE_BYTES);
    let up = down + LINE_BYTES;
    if is_edge && is_inside(up) { up } else { down }
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
        from: named.from.clone(),
        feature: (!Part::Code.features().contains(&named.feature)).then_some(named.feature),
        offsets,
        modulus: held_in(named.feature),
        n: result.n,
        ratio: result.ratio,
        interval: result.interval,
        verdict,
    })
}

/// What a function is held in, so that a feature of it is: a line or a page; or the draws that
/// blocks have.
#[must_use]
pub const fn held_in(feature: Feature) -> u32 {
    match feature {
        Feature::Half | Feature::Line | Feature::FrameLine => 64,
        Feature::Draw => DRAWS,
        Feature::Page
        | Feature::FramePage
        | Feature::FrameSet
        | Feature::PadPage
        | Feature::PadSet
        | Feature::GapPage
        | Feature::GapSet => 4096,
    }
}

#[cfg(test)]
mod tests;
