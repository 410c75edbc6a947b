//! How much of the time goes into what: shares with intervals.
#![forbid(unsafe_code)]

use std::collections::{BTreeMap, BTreeSet};

use super::model::{Profile, Sample};
use super::share::{Share, over_blocks};

/// What samples are put together by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum By {
    /// Functions as they are in the program, with what was inlined into them
    Function,
    /// Functions of the source, also where they were inlined
    Inlined,
    /// Lines of the source
    Line,
    /// Programs and libraries
    Library,
    /// Threads, by name
    Thread,
}

/// One of them.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// What it is.
    pub name: String,
    /// Where that is.
    pub library: String,
    /// Samples that it was innermost in.
    pub hits: u64,
    /// Share of the samples.
    pub own: Share,
    /// Share of the samples that it was anywhere in.
    pub total: f64,
}

/// The blocks over which intervals are taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Blocks {
    /// Layouts of the program.
    Layouts(usize),
    /// Stretches of time.
    Times(usize),
}

/// Fewest layouts that are a sample of layouts.
const MIN_LAYOUTS: usize = 10;
/// Stretches of time that a profile is divided into, and fewest samples of one.
const TIMES: usize = 20;
const MIN_SAMPLES: usize = 10;

/// The shares, the greatest first.
#[must_use]
pub fn rows(profile: &Profile, by: By) -> (Vec<Row>, Blocks) {
    let (blocks, block_of) = blocks(profile);
    let count = match blocks {
        Blocks::Layouts(count) | Blocks::Times(count) => count,
    };
    let mut sizes = vec![0u64; count];
    let mut hits: BTreeMap<(String, String), (Vec<u64>, u64)> = BTreeMap::new();
    for (sample, &block) in profile.samples.iter().zip(&block_of) {
        sizes[block] += 1;
        let keys = keys(profile, sample, by);
        if let Some(first) = keys.first() {
            hits.entry(first.clone()).or_insert_with(|| (vec![0; count], 0)).0[block] += 1;
        }
        for key in keys.into_iter().collect::<BTreeSet<_>>() {
            hits.entry(key).or_insert_with(|| (vec![0; count], 0)).1 += 1;
        }
    }
    let row = |((name, library), (own, total)): ((String, String), (Vec<u64>, u64))| {
        let blocks: Vec<(u64, u64)> = own.iter().copied().zip(sizes.iter().copied()).collect();
        Row {
            name,
            library,
            hits: own.iter().sum(),
            own: over_blocks(&blocks),
            total: total as f64 / profile.samples.len() as f64,
        }
    };
    let mut rows: Vec<Row> = hits.into_iter().map(row).collect();
    rows.sort_by(|a, b| {
        b.hits.cmp(&a.hits).then(b.total.total_cmp(&a.total)).then(a.name.cmp(&b.name))
    });
    (rows, blocks)
}

/// What a sample counts for, innermost first.
#[must_use]
pub fn keys(profile: &Profile, sample: &Sample, by: By) -> Vec<(String, String)> {
    if by == By::Thread {
        let name = profile.threads.get(&sample.thread).cloned().unwrap_or_default();
        return vec![(name, String::new())];
    }
    let frames = sample.stack.iter().map(|&frame| &profile.frames[frame]);
    let frames = frames.filter(|frame| by != By::Function || !frame.is_inlined);
    let key = |frame: &super::symbols::Frame| match by {
        By::Library => (frame.library.clone(), String::new()),
        By::Line => {
            let place = frame.file.as_ref().zip(frame.line);
            let name = place.map_or_else(
                || format!("{} (no line)", frame.function),
                |(file, line)| format!("{file}:{line}"),
            );
            (name, frame.library.clone())
        }
        By::Function | By::Inlined | By::Thread => (frame.function.clone(), frame.library.clone()),
    };
    frames.map(key).collect()
}

/// The block of each sample. Samples outside of copies belong to the layout in which the program
/// was then.
fn blocks(profile: &Profile) -> (Blocks, Vec<usize>) {
    let samples = &profile.samples;
    let mut epochs: Vec<u64> = samples.iter().filter_map(|sample| sample.epoch).collect();
    epochs.sort_unstable();
    epochs.dedup();
    if epochs.len() >= MIN_LAYOUTS {
        let mut current = 0;
        let block = |sample: &Sample| {
            if let Some(epoch) = sample.epoch {
                // A long-running function goes on in an old layout; the newest one is current.
                current = current.max(epochs.partition_point(|&known| known < epoch));
            }
            current
        };
        return (Blocks::Layouts(epochs.len()), samples.iter().map(block).collect());
    }
    let count = TIMES.min(samples.len() / MIN_SAMPLES).max(1);
    // Blocks of equally many samples are stretches of the program's own time.
    let block = |index: usize| index * count / samples.len();
    (Blocks::Times(count), (0..samples.len()).map(block).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::model::tests::profile;

    #[test]
    fn a_function_has_its_own_samples_and_those_of_what_it_called() {
        let samples: Vec<(u64, Option<u64>, &[&str])> = (0..40)
            .map(|time| (time, None, if time % 4 == 0 { &["b", "a"][..] } else { &["a"] }))
            .collect();
        let (rows, blocks) = rows(&profile(&samples), By::Function);
        assert_eq!(blocks, Blocks::Times(4));
        let found: Vec<_> = rows.iter().map(|row| (row.name.as_str(), row.hits)).collect();
        assert_eq!(found, [("a", 30), ("b", 10)]);
        assert!((rows[0].total - 1.0).abs() < 1e-9 && (rows[1].total - 0.25).abs() < 1e-9);
        assert!(rows[0].own.low < 0.75 && rows[0].own.high > 0.75);
    }

    #[test]
    fn a_recursive_function_is_counted_once_in_a_sample() {
        let (rows, _) = rows(&profile(&[(0, None, &["a", "a", "a"])]), By::Function);
        assert!((rows[0].total - 1.0).abs() < 1e-9);
    }

    #[test]
    fn with_many_layouts_a_function_that_only_some_make_slow_has_a_wide_interval() {
        // In every other layout the function takes all of the time.
        let of = |slow: fn(u64) -> bool| {
            let samples: Vec<(u64, Option<u64>, &[&str])> = (0..400)
                .map(|time| (time, Some(time / 20), if slow(time) { &["a"][..] } else { &["b"] }))
                .collect();
            let (rows, blocks) = rows(&profile(&samples), By::Function);
            assert_eq!(blocks, Blocks::Layouts(20));
            rows[0].own.high - rows[0].own.low
        };
        let by_layout = of(|time| time / 20 % 2 == 0);
        let within_layouts = of(|time| time % 2 == 0);
        assert!(by_layout > 4.0 * within_layouts, "{by_layout} {within_layouts}");
    }

    #[test]
    fn a_profile_without_samples_has_no_rows() {
        assert_eq!(rows(&profile(&[]), By::Line).0, []);
    }
}
