//! How often each subpath is executed, from how often the sample has it.
#![forbid(unsafe_code)]

use std::collections::BTreeMap;

use szc_paths::{STARTS, inverse_probability};
use szc_stats::counts::poisson_interval;
use szc_stats::fixed::Interval;

use super::code::Code;
use super::merge::{Key, Merged};
use super::options::Weight;

/// The probability that an interval misses.
const ALPHA: f64 = 0.05;

/// A subpath and how often it is executed.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Row<'a> {
    pub key: &'a Key,
    /// How often the sample has it.
    pub seen: u64,
    /// Executions.
    pub count: f64,
    /// About how many cycles one execution takes.
    pub cycles: u64,
    /// Its 95 % interval; the number itself if all were counted.
    pub interval: Interval,
    /// What rows are ordered by: of the lower end, since a long subpath that was seen once stands
    /// for many, if it stands for any.
    weight: f64,
}

/// All subpaths that have at least so many blocks, the heaviest first.
pub(super) fn rows<'a>(
    merged: &'a Merged,
    weight: Weight,
    min_length: u32,
    code: &mut Code,
) -> Vec<Row<'a>> {
    let wanted = merged.counts.iter().filter(|(key, _)| key.blocks.len() >= min_length as usize);
    let mut rows: Vec<Row> =
        wanted.map(|(key, &seen)| row(merged, key, seen, weight, code)).collect();
    rows.sort_by(|a, b| b.weight.total_cmp(&a.weight).then_with(|| a.key.cmp(b.key)));
    rows
}

fn row<'a>(merged: &Merged, key: &'a Key, seen: u64, weight: Weight, code: &mut Code) -> Row<'a> {
    let scale = scale(merged, key.blocks.len());
    let count = seen as f64 * scale;
    let interval = if merged.is_exact() {
        Interval { lower: count, upper: count }
    } else {
        let interval = |seen| poisson_interval(seen, ALPHA).expect("a probability of 0 to 1");
        let (most, least) = spread(key);
        let scale = scale * most as f64 / least as f64;
        let lower = interval(seen * least / most);
        let upper = interval((seen * least).div_ceil(most));
        Interval { lower: lower.lower * scale, upper: upper.upper * scale }
    };
    let path = merged.programs.get(key.program).map(String::as_str).unwrap_or_default();
    let cycles = key.blocks.iter().map(|&block| u64::from(code.cost(path, block))).sum();
    let weight = match weight {
        Weight::Count => interval.lower,
        Weight::Blocks => interval.lower * key.blocks.len() as f64,
        Weight::Time => interval.lower * cycles as f64,
    };
    Row { key, seen, count, cycles, interval, weight }
}

/// The largest variance of a count in the sample, over that of a Poisson number, as a fraction: a
/// loop of m blocks may begin at each of them in one window, hence 1 + (1 − 1 / m) / STARTS.
fn spread(key: &Key) -> (u64, u64) {
    let (blocks, starts) = (key.blocks.len() as u64, u64::from(STARTS));
    if key.is_loop { (blocks * (starts + 1) - 1, blocks * starts) } else { (1, 1) }
}

/// Executions that one subpath of the sample stands for.
fn scale(merged: &Merged, length: usize) -> f64 {
    if merged.is_exact() {
        return 1.0;
    }
    let length = u32::try_from(length).unwrap_or(u32::MAX);
    f64::from(merged.spacing) * f64::from(inverse_probability(length, merged.longest))
}

/// Which share of all executed subpaths of a length the most frequent ones are.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub(super) struct Coverage {
    pub length: u32,
    /// Different ones in the sample.
    pub different: usize,
    /// Shares of the most frequent 1, 10 and 100.
    pub shares: [f64; 3],
}

/// How many subpaths [`Coverage::shares`] speak of.
pub(super) const COVERING: [usize; 3] = [1, 10, 100];

/// By length.
pub(super) fn coverage(merged: &Merged) -> Vec<Coverage> {
    let of_length = |(length, seen): (u32, Vec<u64>)| {
        let total: u64 = seen.iter().sum();
        let share = |top: usize| seen.iter().take(top).sum::<u64>() as f64 / total as f64;
        Coverage { length, different: seen.len(), shares: COVERING.map(share) }
    };
    by_length(merged).into_iter().map(of_length).collect()
}

/// How the share of all subpaths of a length grows with the number of the most frequent ones.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Curve {
    pub length: u32,
    /// So many, and their share: all of the first ten, then ever fewer.
    pub points: Vec<(usize, f64)>,
}

/// By length.
pub(super) fn curves(merged: &Merged) -> Vec<Curve> {
    let of_length = |(length, seen): (u32, Vec<u64>)| {
        let total = seen.iter().sum::<u64>() as f64;
        let (mut points, mut sum, mut next) = (Vec::new(), 0, 1);
        for (index, count) in seen.iter().enumerate() {
            sum += count;
            let rank = index + 1;
            if rank >= next || rank == seen.len() {
                points.push((rank, sum as f64 / total));
                next = rank + rank.div_ceil(10);
            }
        }
        Curve { length, points }
    };
    by_length(merged).into_iter().map(of_length).collect()
}

/// The lengths of which there are subpaths, with how often each was seen, the most frequent first.
fn by_length(merged: &Merged) -> Vec<(u32, Vec<u64>)> {
    let mut lengths: BTreeMap<u32, Vec<u64>> = BTreeMap::new();
    for (key, &seen) in &merged.counts {
        let length = u32::try_from(key.blocks.len()).unwrap_or(u32::MAX);
        lengths.entry(length).or_default().push(seen);
    }
    for seen in lengths.values_mut() {
        seen.sort_unstable_by(|a, b| b.cmp(a));
    }
    lengths.into_iter().collect()
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    pub(in crate::paths) fn merged(spacing: u32, counts: &[(&[u32], u64)]) -> Merged {
        let key = |blocks: &[u32]| Key { program: 0, blocks: blocks.to_vec(), is_loop: false };
        Merged {
            programs: vec!["/nowhere/p".into()],
            threads: 1,
            blocks: 1_000_000,
            spacing,
            longest: 8,
            counts: counts.iter().map(|&(blocks, seen)| (key(blocks), seen)).collect(),
            ..Merged::default()
        }
    }

    #[test]
    fn a_subpath_counts_for_the_spacing_and_for_how_rarely_its_length_is_drawn() {
        let merged = merged(1000, &[(&[1, 2], 100), (&[1; 4], 80), (&[1; 8], 2)]);
        let rows = rows(&merged, Weight::Count, 2, &mut Code::default());
        let counts: Vec<f64> = rows.iter().map(|row| row.count).collect();
        assert_eq!(counts, [320_000.0, 200_000.0, 8_000.0]);
        let [low, high] = [rows[1].interval.lower, rows[1].interval.upper];
        assert!((low - 162_727.0).abs() < 2.0 && (high - 243_254.0).abs() < 2.0, "{low} {high}");
        assert_eq!(super::rows(&merged, Weight::Count, 8, &mut Code::default()).len(), 1);
    }

    #[test]
    fn intervals_of_loops_are_those_of_counts_that_vary_more() {
        let mut merged = merged(1000, &[(&[1, 2], 90)]);
        let width = |merged: &Merged| {
            let interval = rows(merged, Weight::Count, 2, &mut Code::default())[0].interval;
            interval.upper - interval.lower
        };
        let apart = width(&merged);
        merged.counts = [(Key { program: 0, blocks: vec![1, 2], is_loop: true }, 90)].into();
        // The square root of 1 + ½ · ¼, as far as 90 is large.
        let ratio = width(&merged) / apart;
        assert!((ratio - 1.125f64.sqrt()).abs() < 0.02, "{ratio}");
    }

    #[test]
    fn exact_counts_are_what_they_are() {
        let merged = merged(1, &[(&[1, 2], 100), (&[1; 8], 60)]);
        let by_count = rows(&merged, Weight::Count, 2, &mut Code::default());
        assert_eq!((by_count[0].count, by_count[0].interval.upper), (100.0, 100.0));
        assert_eq!(rows(&merged, Weight::Blocks, 2, &mut Code::default())[0].count, 60.0);
        // Of code that cannot be read a block counts as a cycle.
        let by_time = rows(&merged, Weight::Time, 2, &mut Code::default());
        assert_eq!((by_time[0].count, by_time[0].cycles), (60.0, 8));
    }

    #[test]
    fn coverage_is_a_share_of_the_subpaths_of_one_length() {
        let merged = merged(128, &[(&[1, 2], 3), (&[2, 3], 1), (&[1; 4], 5)]);
        let found = coverage(&merged);
        assert_eq!(found[0], Coverage { length: 2, different: 2, shares: [0.75, 1.0, 1.0] });
        assert_eq!((found.len(), found[1].length), (2, 4));
    }

    #[test]
    fn curves_have_every_rank_at_first_and_end_with_all() {
        let paths: Vec<[u32; 2]> = (0..100).map(|at| [at, at + 1]).collect();
        let counts: Vec<(&[u32], u64)> = paths.iter().map(|path| (&path[..], 1)).collect();
        let found = curves(&merged(128, &counts));
        let [curve] = &found[..] else { panic!("one length") };
        let ranks: Vec<usize> = curve.points.iter().map(|point| point.0).collect();
        assert_eq!(ranks[..11], [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]);
        assert!(ranks.len() < 40 && curve.points.last() == Some(&(100, 1.0)), "{ranks:?}");
    }
}
