//! Profiles of traces whose subpaths are known exactly.

use crate::random::next;
use crate::*;
use std::collections::HashMap;

/// A subpath, as an exact count knows it.
type Key = (Vec<u32>, bool);

const KIB: u32 = 64;

/// In front of these blocks there is a check: the entry of a region and of its loop.
fn has_check(id: u32) -> bool {
    id % 100 < 2
}

fn profile(shape: Shape, seed: u64, trace: &[u32]) -> Vec<u32> {
    let mut words = vec![0; shape.words];
    begin(&mut words, shape, seed).unwrap();
    let mut left = 0u32;
    for &id in trace {
        if has_check(id) {
            left = left.saturating_sub(1);
            if left == 0 {
                left = check(&mut words);
            }
        }
        if left == 0 {
            left = block(&mut words, id);
        }
    }
    words
}

fn sampled(spacing: u32) -> Shape {
    Shape { words: words_of(KIB), length: 1024, mode: Mode::Sampled { spacing } }
}

/// All subpaths of a trace, counted by a method of its own.
fn exact(trace: &[u32], longest: usize) -> HashMap<Key, u64> {
    let mut counts = HashMap::new();
    let mut length = 2;
    while length <= longest {
        for window in trace.windows(length + 1) {
            let (blocks, is_loop) = (&window[..length], window[0] == window[length]);
            let rotated = |at| [&blocks[at..], &blocks[..at]].concat();
            let rotations = (0..if is_loop { length } else { 1 }).map(rotated);
            let key = rotations.min().unwrap();
            *counts.entry((key, is_loop)).or_default() += 1;
        }
        length *= 2;
    }
    counts
}

fn found(words: &[u32]) -> HashMap<Key, u64> {
    let view = View::of(words).unwrap();
    let entry = |path: Subpath<'_>| ((path.blocks.to_vec(), path.is_loop), u64::from(path.count));
    view.subpaths().map(entry).collect()
}

/// A program: loops with branches, called with skewed probabilities.
fn trace(seed: u64, blocks: usize) -> Vec<u32> {
    let mut state = seed;
    let mut draw = |below: u64| next(&mut state) % below;
    let mut trace = Vec::new();
    while trace.len() < blocks {
        let region = (draw(1000) * draw(1000) / 100_000) as u32 * 100;
        trace.push(region);
        for _ in 0..draw(40) {
            trace.push(region + 1);
            let branch = if draw(10) < 7 { 2 } else { 3 };
            trace.extend([region + branch, region + 4]);
        }
        trace.push(region + 5);
    }
    trace.truncate(blocks);
    trace
}

#[test]
fn an_exact_profile_has_the_count_of_every_subpath() {
    let trace = trace(5, 20_000);
    let shape = Shape { words: words_of(8 << 10), length: 32, mode: Mode::Exact };
    let words = profile(shape, 1, &trace);
    let view = View::of(&words).unwrap();
    assert_eq!((view.blocks(), view.lost(), view.is_exact()), (20_000, 0, true));
    assert_eq!(found(&words), exact(&trace, 32));
}

#[test]
fn an_exact_profile_without_room_says_so() {
    let shape = Shape { words: words_of(16), length: 32, mode: Mode::Exact };
    let words = profile(shape, 1, &trace(5, 20_000));
    assert!(View::of(&words).unwrap().lost() > 0);
}

/// Estimated counts, and how far from the truth they are in standard deviations of a binomial
/// count.
fn deviations(words: &[u32], truth: &HashMap<Key, u64>, at_least: f64) -> Vec<f64> {
    let (view, found) = (View::of(words).unwrap(), found(words));
    let mut deviations = Vec::new();
    for (key, &count) in truth {
        let weight = inverse_probability(key.0.len() as u32, view.longest());
        let rate = 1.0 / (f64::from(view.spacing()) * f64::from(weight));
        let expected = count as f64 * rate;
        if expected >= at_least {
            let seen = found.get(key).copied().unwrap_or_default() as f64;
            deviations.push((seen - expected) / expected.sqrt());
        }
    }
    deviations
}

/// Samples with many seeds, judged together.
struct Judged {
    mean: f64,
    square: f64,
    inside: f64,
    /// Standard error of the mean, if counts of one seed say no more than one of them.
    error: f64,
}

fn judge(seeds: u64, trace: &[u32], shape: Shape, check: impl Fn(View<'_>)) -> Judged {
    let truth = exact(trace, shape.length as usize);
    let mut all = Vec::new();
    for seed in 0..seeds {
        let words = profile(shape, seed, trace);
        check(View::of(&words).unwrap());
        all.extend(deviations(&words, &truth, 10.0));
    }
    let n = all.len() as f64;
    assert!(all.len() as u64 > 2 * seeds);
    Judged {
        mean: all.iter().sum::<f64>() / n,
        square: all.iter().map(|d| d * d).sum::<f64>() / n,
        inside: all.iter().filter(|d| d.abs() < 1.96).count() as f64 / n,
        error: (seeds as f64).sqrt().recip(),
    }
}

impl Judged {
    /// False alarms: 4 standard errors, less than once in 10,000 choices of seeds.
    fn assert_binomial(&self) {
        assert!(self.mean.abs() < 4.0 * self.error, "{}", self.mean);
        // The square of a standard normal number has variance 2.
        assert!((self.square - 1.0).abs() < 4.0 * self.error * 2f64.sqrt(), "{}", self.square);
        assert!(self.inside > 0.93, "{}", self.inside);
    }
}

#[test]
fn counts_of_a_sample_vary_about_the_truth_as_binomial_ones_do() {
    let shape = Shape { words: words_of(1 << 10), length: 64, ..sampled(256) };
    let is_whole = |view: View<'_>| assert_eq!((view.spacing(), view.lost()), (256, 0));
    judge(200, &trace(9, 300_000), shape, is_whole).assert_binomial();
}

/// Loops of four blocks, entered again and again: those of one window go together.
fn loops(laps: usize) -> Vec<u32> {
    let lap = |index: usize| if index.is_multiple_of(50) { [1, 102, 103, 5] } else { [1, 2, 3, 4] };
    (0..laps).flat_map(lap).collect()
}

#[test]
fn counts_of_loops_vary_by_no_more_than_their_blocks_in_a_window_allow() {
    let (trace, mut counts) = (loops(50_000), Vec::new());
    let key = (vec![1, 2, 3, 4], true);
    let shape = Shape { words: words_of(256), length: 16, ..sampled(256) };
    for seed in 0..400 {
        counts.push(found(&profile(shape, seed, &trace))[&key] as f64);
    }
    let expected = exact(&trace, 4)[&key] as f64 / 256.0 / 4.0;
    let n = counts.len() as f64;
    let mean = counts.iter().sum::<f64>() / n;
    let variance = counts.iter().map(|count| (count - mean).powi(2)).sum::<f64>() / (n - 1.0);
    // 4 standard errors each.
    assert!((mean - expected).abs() < 4.0 * (variance / n).sqrt(), "{mean} {expected}");
    let factor = 1.0 + 3.0 / 4.0 / f64::from(STARTS);
    let error = 4.0 * (2.0 / n).sqrt();
    let found = variance / expected;
    assert!(found > 1.0 - error && found < factor + factor * error, "{found} {factor}");
}

#[test]
fn blocks_are_estimated_without_bias() {
    let trace = trace(9, 100_000);
    let blocks = |seed| View::of(&profile(sampled(256), seed, &trace)).unwrap().blocks() as f64;
    let estimates: Vec<f64> = (0..200).map(blocks).collect();
    let mean = estimates.iter().sum::<f64>() / 200.0;
    let variance = estimates.iter().map(|one| (one - mean).powi(2)).sum::<f64>() / 199.0;
    assert!((mean - 100_000.0).abs() < 4.0 * (variance / 200.0).sqrt(), "{mean}");
}

#[test]
fn a_full_list_is_thinned_and_stays_a_sample_of_the_same_kind() {
    let shape = Shape { words: words_of(32), length: 16, ..sampled(128) };
    let is_thinned = |view: View<'_>| {
        assert!(view.thinned() > 0 && view.spacing() == 128 << view.thinned());
        assert_eq!(view.lost(), 0);
    };
    judge(200, &trace(11, 300_000), shape, is_thinned).assert_binomial();
}

#[test]
fn the_ten_most_frequent_are_found_in_64_kib() {
    let trace = trace(3, 2_000_000);
    let all = Shape { words: words_of(64 << 10), length: 16, mode: Mode::Exact };
    let all = profile(all, 1, &trace);
    assert_eq!(View::of(&all).unwrap().lost(), 0);
    let mut truth: Vec<_> = found(&all).into_iter().collect();
    truth.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    let words = profile(Shape { length: 16, ..sampled(128) }, 4, &trace);
    let view = View::of(&words).unwrap();
    // A long subpath that was seen rarely stands for many, if it stands for any: by the lower end.
    let mut estimates: Vec<_> = view
        .subpaths()
        .map(|path| {
            let weight = inverse_probability(path.blocks.len() as u32, view.longest());
            let count = f64::from(path.count);
            let estimate = (count - 2.0 * count.sqrt()) * f64::from(weight);
            ((path.blocks.to_vec(), path.is_loop), estimate)
        })
        .collect();
    estimates.sort_by(|a, b| b.1.total_cmp(&a.1));
    let top: Vec<_> = estimates.iter().take(40).map(|(key, _)| key).collect();
    let missed = truth[..10].iter().filter(|(key, _)| !top.contains(&key));
    assert_eq!(missed.count(), 0, "spacing {}: {:?}", view.spacing(), &truth[..10]);
}

#[test]
fn shapes_that_cannot_be_are_refused() {
    let mut words = vec![0; words_of(KIB)];
    let longest = |length| Shape { length, ..sampled(128) };
    for shape in [
        longest(0),
        longest(1),
        longest(3),
        longest(1 << 17),
        longest(1 << 15),
        Shape { words: 100, ..sampled(128) },
        Shape { words: usize::MAX, ..sampled(128) },
        sampled(MIN_SPACING - 1),
    ] {
        assert_eq!(begin(&mut words, shape, 1), Err(TooSmall), "{shape:?}");
    }
    assert!(!has_begun(&words));
    assert!(View::of(&words).is_none() && View::of(&[]).is_none());
}

#[test]
fn words_that_are_no_profile_are_read_without_harm() {
    let words =
        profile(Shape { words: words_of(16), length: 32, ..sampled(128) }, 1, &trace(1, 100_000));
    let mut state = 5;
    for _ in 0..2000 {
        let mut damaged = words.clone();
        for _ in 0..3 {
            let at = next(&mut state) as usize;
            let (at, value) = (at % damaged.len(), next(&mut state) as u32);
            damaged[at] = value;
            damaged[at % 16] = value;
        }
        let cut = &damaged[..next(&mut state) as usize % damaged.len()];
        for words in [&damaged[..], cut] {
            let sum = View::of(words).map_or(0, |view| view.subpaths().count());
            assert!(sum <= words.len());
        }
    }
}
