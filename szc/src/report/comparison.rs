//! The result of a comparison in the terms in which it is reported.
//!
//! All statements are about B relative to A. Ratios are B/A: below 1, B takes less.
#![forbid(unsafe_code)]

use serde::{Deserialize, Serialize};

use crate::measure::sample::{Metric, Sample, Side, block_log_ratios, values_of};
use crate::stats::describe::median;
use crate::stats::fixed::{Direction, FixedAnalysis, Interval, analyse, blocks_to_resolve};

/// The difference whose price in blocks is named when a verdict stays out.
pub const NAMED_RATIO: f64 = 1.01;

/// What is said about B.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// B takes less time.
    Faster,
    /// B takes more time.
    Slower,
    /// B takes less memory.
    Smaller,
    /// B takes more memory.
    Larger,
    /// Not known; never to be printed as "the same".
    Unresolved,
}

impl Verdict {
    /// The verdict that a direction of log ratios B/A means for a metric.
    #[must_use]
    pub fn new(metric: Metric, direction: Direction) -> Self {
        match (direction, metric) {
            (Direction::Unresolved, _) => Self::Unresolved,
            (Direction::Lower, Metric::Rss) => Self::Smaller,
            (Direction::Higher, Metric::Rss) => Self::Larger,
            (Direction::Lower, _) => Self::Faster,
            (Direction::Higher, _) => Self::Slower,
        }
    }

    /// One word for a sentence or JSON.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Faster => "faster",
            Self::Slower => "slower",
            Self::Smaller => "smaller",
            Self::Larger => "larger",
            Self::Unresolved => "unresolved",
        }
    }
}

/// One metric compared.
#[derive(Clone, Debug, PartialEq)]
pub struct MetricResult {
    /// The metric.
    pub metric: Metric,
    /// Medians over all runs of A and of B: seconds or bytes.
    pub medians: [f64; 2],
    /// Statistics of the log ratios of the blocks.
    pub analysis: FixedAnalysis,
}

impl MetricResult {
    /// Compares one metric over the first `blocks` blocks.
    ///
    /// Returns `None` below six blocks, or when a value is zero.
    #[must_use]
    pub fn new(samples: &[Sample], blocks: u32, metric: Metric) -> Option<Self> {
        let analysis = analyse(&block_log_ratios(samples, blocks, metric)?)?;
        let complete: Vec<Sample> =
            samples.iter().filter(|sample| sample.block < blocks).cloned().collect();
        let median_of = |side| median(&values_of(&complete, side, metric));
        Some(Self { metric, medians: [median_of(Side::A)?, median_of(Side::B)?], analysis })
    }

    /// What the t interval says about B.
    #[must_use]
    pub fn verdict(&self) -> Verdict {
        Verdict::new(self.metric, self.analysis.direction)
    }

    /// Geometric mean ratio B/A.
    #[must_use]
    pub fn ratio(&self) -> f64 {
        self.analysis.mean.exp()
    }

    /// 95 % interval of the ratio B/A.
    #[must_use]
    pub fn ratio_interval(&self) -> Interval {
        exponential(self.analysis.interval)
    }

    /// Sign interval of the median ratio B/A.
    #[must_use]
    pub fn median_ratio_interval(&self) -> Interval {
        exponential(self.analysis.median_check.interval)
    }

    /// Whether the metric came out alike to the last digit in every block.
    #[must_use]
    pub fn never_differed(&self) -> bool {
        self.analysis.mean == 0.0 && self.analysis.standard_deviation == 0.0
    }

    /// Blocks it would take to resolve [`NAMED_RATIO`].
    #[must_use]
    pub fn blocks_to_resolve_named_ratio(&self) -> u64 {
        blocks_to_resolve(self.analysis.standard_deviation, NAMED_RATIO)
    }
}

fn exponential(interval: Interval) -> Interval {
    Interval { lower: interval.lower.exp(), upper: interval.upper.exp() }
}

/// A finished comparison.
#[derive(Clone, Debug, PartialEq)]
pub struct Comparison {
    /// How sentences call A and B, such as "A (-O2)".
    pub titles: [String; 2],
    /// Complete blocks.
    pub blocks: u32,
    /// Blocks planned, more than `blocks` after an interruption.
    pub blocks_planned: u32,
    /// Runs of each program in a block.
    pub runs_per_block: u32,
    /// The metric that decides.
    pub deciding: Metric,
    /// Metrics that could be compared, in the order of [`Metric::ALL`].
    pub results: Vec<MetricResult>,
    /// Whether A and B had a random layout in every run.
    pub randomized: [bool; 2],
}

impl Comparison {
    /// The result of the metric that decides; `None` when there were too few
    /// blocks or a value was zero.
    #[must_use]
    pub fn deciding_result(&self) -> Option<&MetricResult> {
        self.results.iter().find(|result| result.metric == self.deciding)
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::measure::sample::tests::sample_of;

    /// Twenty blocks, A and B twice each, with about 1 % noise that is no function of the side.
    pub(crate) fn comparison(milliseconds_a: u64, milliseconds_b: u64) -> Comparison {
        let mut samples = Vec::new();
        for block in 0..20 {
            let noise = |position: u32| u64::from((block * 7 + position * 5) % 11);
            for (position, side) in (0..).zip([Side::A, Side::B, Side::B, Side::A]) {
                let base = [milliseconds_a, milliseconds_b][side.index()];
                samples.push(sample_of(block, position, side, base + noise(position)));
            }
        }
        Comparison {
            titles: ["A (-O2)".to_owned(), "B (-O3)".to_owned()],
            blocks: 20,
            blocks_planned: 20,
            runs_per_block: 2,
            deciding: Metric::Cpu,
            results: Metric::ALL
                .iter()
                .filter_map(|metric| MetricResult::new(&samples, 20, *metric))
                .collect(),
            randomized: [true, true],
        }
    }

    #[test]
    fn less_time_is_faster_and_less_memory_is_smaller() {
        let verdicts = |comparison: Comparison| -> Vec<Verdict> {
            comparison.results.iter().map(MetricResult::verdict).collect()
        };
        assert_eq!(
            verdicts(comparison(1000, 900)),
            [Verdict::Faster, Verdict::Faster, Verdict::Smaller]
        );
        assert_eq!(
            verdicts(comparison(900, 1000)),
            [Verdict::Slower, Verdict::Slower, Verdict::Larger]
        );
        assert_eq!(verdicts(comparison(1000, 1000)), [Verdict::Unresolved; 3]);
    }

    #[test]
    fn the_ratio_is_b_over_a() {
        let result = &comparison(1000, 900).results[0];
        assert!((result.ratio() - 0.9).abs() < 0.01, "{}", result.ratio());
        let interval = result.ratio_interval();
        assert!(interval.lower < result.ratio() && result.ratio() < interval.upper);
        assert!(result.medians[0] > result.medians[1]);
    }

    #[test]
    fn five_blocks_give_no_result() {
        let samples: Vec<Sample> = (0..5)
            .flat_map(|block| [sample_of(block, 0, Side::A, 5), sample_of(block, 1, Side::B, 6)])
            .collect();
        assert_eq!(MetricResult::new(&samples, 5, Metric::Wall), None);
    }
}
