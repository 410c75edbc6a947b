//! How often each subpath is executed, from how often the sample has it.
#![forbid(unsafe_code)]

use szc_paths::{STARTS, inverse_probability};
use szc_stats::counts::poisson_interval;
use szc_stats::fixed::Interval;

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
    /// Its 95 % interval; the number itself if all were counted.
    pub interval: Interval,
    /// What rows are ordered by: of the lower end, since a long subpath that was seen once stands
    /// for many, if it stands for any.
    weight: f64,
}

/// All subpaths that have at least so many blocks, the heaviest first.
pub(super) fn rows(merged: &Merged, weight: Weight, min_length: u32) -> Vec<Row<'_>> {
    let wanted = merged.counts.iter().filter(|(key, _)| key.blocks.len() >= min_length as usize);
    let mut rows: Vec<Row> = wanted.map(|(key, &seen)| row(merged, key, seen, weight)).collect();
    rows.sort_by(|a, b| b.weight.total_cmp(&a.weight).then_with(|| a.key.cmp(b.key)));
    rows
}

fn row<'a>(merged: &Merged, key: &'a Key, seen: u64, weight: Weight) -> Row<'a> {
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
    let weight = match weight {
        Weight::Count => interval.lower,
        Weight::Blocks => interval.lower * key.blocks.len() as f64,
    };
    Row { key, seen, count, interval, weight }
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
#[derive(Clone, Copy, Debug, PartialEq)]
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
    let mut lengths: Vec<u32> = Vec::new();
    let mut length = 2;
    while length <= merged.longest {
        lengths.push(length);
        length *= 2;
    }
    let of_length = |length: u32| {
        let is_of_it = |(key, _): &(&Key, &u64)| key.blocks.len() == length as usize;
        let mut seen: Vec<u64> =
            merged.counts.iter().filter(is_of_it).map(|(_, &seen)| seen).collect();
        seen.sort_unstable_by(|a, b| b.cmp(a));
        let total: u64 = seen.iter().sum();
        let share = |top: usize| seen.iter().take(top).sum::<u64>() as f64 / total as f64;
        let shares = COVERING.map(share);
        (total != 0).then_some(Coverage { length, different: seen.len(), shares })
    };
    lengths.into_iter().filter_map(of_length).collect()
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
        let rows = rows(&merged, Weight::Count, 2);
        let counts: Vec<f64> = rows.iter().map(|row| row.count).collect();
        assert_eq!(counts, [320_000.0, 200_000.0, 8_000.0]);
        let [low, high] = [rows[1].interval.lower, rows[1].interval.upper];
        assert!((low - 162_727.0).abs() < 2.0 && (high - 243_254.0).abs() < 2.0, "{low} {high}");
        assert_eq!(super::rows(&merged, Weight::Count, 8).len(), 1);
    }

    #[test]
    fn intervals_of_loops_are_those_of_counts_that_vary_more() {
        let mut merged = merged(1000, &[(&[1, 2], 90)]);
        let width = |merged: &Merged| {
            let interval = rows(merged, Weight::Count, 2)[0].interval;
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
        let by_count = rows(&merged, Weight::Count, 2);
        assert_eq!((by_count[0].count, by_count[0].interval.upper), (100.0, 100.0));
        assert_eq!(rows(&merged, Weight::Blocks, 2)[0].count, 60.0);
    }

    #[test]
    fn coverage_is_a_share_of_the_subpaths_of_one_length() {
        let merged = merged(128, &[(&[1, 2], 3), (&[2, 3], 1), (&[1; 4], 5)]);
        let found = coverage(&merged);
        assert_eq!(found[0], Coverage { length: 2, different: 2, shares: [0.75, 1.0, 1.0] });
        assert_eq!((found.len(), found[1].length), (2, 4));
    }
}
