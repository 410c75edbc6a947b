//! What the variance of one program's runs is made of: the machine, the places of code, the pads of
//! frames, the heap, the bases.
//!
//! Each block has a pair of runs for each part, alike but for that part. What their squared
//! difference is larger by than that of pairs in which nothing was drawn is the part's: its share
//! as long as the others stay, so that shares sum to more than 1 where parts act together.
#![forbid(unsafe_code)]

use szc_stats::fixed::CONFIDENCE;
use szc_stats::random_effects::{MeanSquare, combination, share};

use crate::samples::design::{Arrangement, Part};
use crate::samples::{Metric, PartRecord, Sample, SamplesFile, SplitRecord};

/// The split of one program's variance by one metric; `None` where parts were not drawn one at a
/// time, or too seldom, and where nothing varies.
#[must_use]
pub fn split(file: &SamplesFile, program: usize, metric: &Metric) -> Option<SplitRecord> {
    if file.design.plan.arrangement != Arrangement::Parts {
        return None;
    }
    let blocks = file.design.complete_blocks;
    let runs: Vec<&Sample> =
        file.runs.iter().filter(|run| run.program == program && run.block < blocks).collect();
    let sets: Vec<Vec<[f64; 2]>> = Part::ALL.map(|part| pairs(&runs, part, metric)).to_vec();
    let squares: Vec<MeanSquare> =
        sets.iter().map(|pairs| MeanSquare::of_pairs(pairs).ok()).collect::<Option<_>>()?;
    let all = squares.len() - 1;
    let total = unit(all);
    let parts = (0..all).map(|place| {
        let mut factors = unit(place);
        if place > 0 {
            factors[0] = -1.0;
        }
        let terms: Vec<(f64, MeanSquare)> =
            factors.iter().copied().zip(squares.iter().copied()).collect();
        let found = share(&squares, &factors, &total, CONFIDENCE).ok()??;
        Some(PartRecord {
            part: Part::ALL[place],
            variance: combination(&terms, CONFIDENCE).ok()?.value,
            share: found.value,
            interval: [found.interval.lower, found.interval.upper],
        })
    });
    let parts = parts.collect::<Option<Vec<PartRecord>>>()?;
    let largest_pair = Part::ALL.into_iter().zip(sets.iter().map(|pairs| largest_share(pairs)));
    let largest_pair = largest_pair.max_by(|one, other| one.1.total_cmp(&other.1))?;
    Some(SplitRecord { pairs: sets[0].len(), largest_pair, total: squares[all].value, parts })
}

/// The share of the largest in the squared differences.
fn largest_share(pairs: &[[f64; 2]]) -> f64 {
    let squares = pairs.iter().map(|[one, other]| (one - other).powi(2));
    let largest = squares.clone().fold(0.0, f64::max);
    let sum: f64 = squares.sum();
    if sum > 0.0 { largest / sum } else { 0.0 }
}

/// 1 at a place of the sets, 0 elsewhere.
fn unit(place: usize) -> Vec<f64> {
    (0..Part::ALL.len()).map(|other| if other == place { 1.0 } else { 0.0 }).collect()
}

/// Log values of the pairs that are about a part.
fn pairs(runs: &[&Sample], part: Part, metric: &Metric) -> Vec<[f64; 2]> {
    let about: Vec<&&Sample> = runs.iter().filter(|run| Part::at(run.position) == part).collect();
    let blocks = about.chunk_by(|one, next| one.block == next.block);
    let pair = |runs: &[&&Sample]| match runs {
        [one, other] => Some([one.value(metric).ln(), other.value(metric).ln()]),
        _ => None,
    };
    blocks.filter_map(pair).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::examples::parts_of;

    #[test]
    fn a_part_that_doubles_what_the_machine_does_has_half_of_what_it_varies_by() {
        // Pairs differ by 1 % by the machine, and by 3 % if code is drawn, alone or with all else.
        let file = parts_of(20, |part| match part {
            Part::Code | Part::All => 1030,
            _ => 1010,
        });
        let found = split(&file, 0, &Metric::Cpu).unwrap();
        assert_eq!((found.pairs, found.parts.len()), (20, 5));
        let [machine, code] = [found.parts[0], found.parts[1]];
        assert!((found.total - 1.03_f64.ln().powi(2) / 2.0).abs() < 1e-9, "{found:?}");
        let expected = (1.01_f64.ln() / 1.03_f64.ln()).powi(2);
        assert!((machine.share - expected).abs() < 1e-9, "{machine:?}");
        assert!((code.share - (1.0 - expected)).abs() < 1e-9, "{code:?}");
        assert!(code.interval[0] > 0.2 && code.interval[1] <= 1.0, "{code:?}");
        for other in &found.parts[2..] {
            assert!(other.share.abs() < 1e-9 && other.variance.abs() < 1e-12, "{other:?}");
        }
    }

    #[test]
    fn a_disturbed_pair_is_found_by_its_part() {
        let mut file = parts_of(20, |_| 1010);
        let run = file.runs.iter_mut().find(|run| Part::at(run.position) == Part::Heap).unwrap();
        (run.user_us, run.sys_us) = (3_000_000, 0);
        let found = split(&file, 0, &Metric::Cpu).unwrap();
        assert!(found.largest_pair.0 == Part::Heap && found.largest_pair.1 > 0.99, "{found:?}");
        let found = split(&parts_of(20, |_| 1010), 0, &Metric::Cpu).unwrap();
        assert!((found.largest_pair.1 - 0.05).abs() < 1e-9, "{found:?}");
    }

    #[test]
    fn few_pairs_and_other_experiments_are_not_split() {
        assert_eq!(split(&parts_of(5, |_| 1010), 0, &Metric::Cpu), None);
        let mut other = parts_of(20, |_| 1010);
        other.design.plan.arrangement = Arrangement::Layouts;
        assert_eq!(split(&other, 0, &Metric::Cpu), None);
        assert_eq!(split(&parts_of(20, |_| 1000), 0, &Metric::Cpu), None);
    }
}
