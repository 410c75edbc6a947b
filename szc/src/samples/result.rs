//! What the samples file says about results: pairs of programs, and programs by themselves.
#![forbid(unsafe_code)]

use serde::{Deserialize, Serialize};
use szc_stats::fixed::Interval;

use super::design::Part;
use super::metric::Metric;
use super::verdict::Verdict;

/// One program against its reference by one metric. Ratios are program/reference: below 1, the
/// program takes less.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ResultRecord {
    /// The program that the statement is about.
    pub program: usize,
    /// The program it is compared with.
    pub reference: usize,
    /// The metric.
    pub metric: Metric,
    /// Its unit: "s", "bytes", that of the figure, or "".
    pub unit: String,
    /// Whether the verdict of the experiment is on this metric.
    pub deciding: bool,
    /// The verdict.
    pub verdict: Verdict,
    /// Of a row of a harness: the tolerated change, as a share, by which it was judged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tolerance: Option<f64>,
    /// The verdict in words.
    pub sentence: String,
    /// The statistical method in words.
    pub method: String,
    /// Whether runs of both programs were made in common blocks.
    pub paired: bool,
    /// Blocks; for unpaired results the layouts of both programs together.
    pub n: usize,
    /// Median over all runs of the reference, then of the program, in the unit.
    pub medians: [f64; 2],
    /// Geometric mean ratio.
    pub ratio: f64,
    /// Interval of `ratio`: lower and upper end. The result is this, not the ratio.
    pub interval: [f64; 2],
    /// Level of `interval` by itself; higher than 0.95 where several programs share one error
    /// rate. The data choose it (Holm), so it is no promise for all intervals at once.
    pub confidence: f64,
    /// Mean log ratio.
    pub mean_log_ratio: f64,
    /// Standard deviation of the log ratio over blocks; of single layouts for unpaired results.
    pub sd_log_ratio: f64,
    /// p of "no difference"; valid at every look under the sequential rule.
    pub p: f64,
    /// Holm's adjustment of `p` where several programs are compared with one reference; of the rows
    /// of a gate, of the p of "differs by its tolerance".
    pub p_adjusted: f64,
    /// Blocks after which a verdict can be expected, where there is none.
    pub blocks_needed: Option<u64>,
    /// Layouts of each program, of the one with fewer; absent in older files.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub layouts: Option<usize>,
    /// The slowest layouts of the program against those of the reference.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slowest: Option<SlowestRecord>,
    /// Median ratio of the blocks.
    pub median_ratio: Option<f64>,
    /// Sign interval of `median_ratio`, of the rule by which the mean is judged.
    pub median_interval: Option<[f64; 2]>,
    /// Whether mean and median disagree: the tail of the layouts moved.
    #[serde(default)]
    pub mean_and_median_disagree: bool,
    /// What the log ratios of the blocks look like.
    #[serde(default)]
    pub diagnostics: DiagnosticsRecord,
}

impl ResultRecord {
    /// The interval of the ratio.
    #[must_use]
    pub fn bounds(&self) -> Interval {
        Interval { lower: self.interval[0], upper: self.interval[1] }
    }

    /// Whether the metric came out alike to the last digit in every block.
    #[must_use]
    pub fn never_differed(&self) -> bool {
        self.paired && self.mean_log_ratio == 0.0 && self.sd_log_ratio == 0.0
    }
}

/// Where the slowest tenth of the layouts begins: the 0.9-quantile, by order statistics.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct SlowestRecord {
    /// In the metric's unit for one program; of two, the ratio program/reference.
    pub value: f64,
    /// Lower end of its 95 % interval; absent while there are too few layouts for one.
    pub lower: Option<f64>,
    /// Upper end.
    pub upper: Option<f64>,
    /// Layouts of each program from which on there are both ends.
    pub layouts_needed: usize,
}

/// One program by itself over layouts, by one metric.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SummaryRecord {
    /// The program.
    pub program: usize,
    /// The metric.
    pub metric: Metric,
    /// Its unit.
    pub unit: String,
    /// Whether the experiment is about this metric.
    pub deciding: bool,
    /// Layouts: the n of the interval.
    pub layouts: usize,
    /// Runs.
    pub runs: usize,
    /// Mean over layouts, in the unit.
    pub mean: f64,
    /// 95 % interval of the mean; absent below two layouts.
    pub interval: Option<[f64; 2]>,
    /// The statistical method of the interval in words.
    pub method: String,
    /// Median over layouts.
    pub median: f64,
    /// Standard deviation over layouts; absent below two.
    pub sd: Option<f64>,
    /// Where the slowest tenth of the layouts begins.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slowest: Option<SlowestRecord>,
    /// Smallest run.
    pub min: f64,
    /// Largest run.
    pub max: f64,
    /// Layouts far from the others; none was dropped.
    pub outliers: OutliersRecord,
    /// Variance between layouts and within; absent if no layout was run twice.
    #[serde(rename = "levels")]
    pub variance: Option<VarianceRecord>,
    /// The variance by parts that were drawn one at a time; absent in other experiments.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub split: Option<SplitRecord>,
    /// The smallest change, as a share, that a comparison over as many blocks would show with a
    /// probability of 80 %.
    pub minimum_detectable_effect: Option<f64>,
    /// What the layouts' values look like in the order of time.
    #[serde(default)]
    pub diagnostics: DiagnosticsRecord,
}

/// The variance of log values by what was drawn anew: random effects.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SplitRecord {
    /// Pairs of runs for each part.
    pub pairs: usize,
    /// The largest share that one pair has in the squared differences of its part, and that part: a
    /// disturbed run looks like what was drawn in it.
    pub largest_pair: (Part, f64),
    /// Variance of the log value of a run of which everything was drawn anew.
    pub total: f64,
    /// The machine's noise, then the parts of a layout.
    pub parts: Vec<PartRecord>,
}

/// What one part adds to the variance of a run.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct PartRecord {
    /// The part.
    pub part: Part,
    /// Its variance component; negative where chance made its pairs differ less than those in which
    /// nothing was drawn.
    pub variance: f64,
    /// Share of the total: estimate and 95 % interval.
    pub share: f64,
    /// Lower and upper end.
    pub interval: [f64; 2],
}

/// Values outside the fences of Tukey, counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct OutliersRecord {
    /// Below the lower outer fence.
    pub far_low: usize,
    /// Between the lower fences.
    pub low: usize,
    /// Between the upper fences.
    pub high: usize,
    /// Above the upper outer fence.
    pub far_high: usize,
}

impl OutliersRecord {
    /// All of them.
    #[must_use]
    pub fn count(&self) -> usize {
        self.far_low + self.low + self.high + self.far_high
    }
}

/// Where the variance of a program comes from (Kalibera and Jones), on log values.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct VarianceRecord {
    /// Layouts that were run more than once.
    pub layouts: usize,
    /// Runs of each of them.
    pub runs_per_layout: usize,
    /// Variance that layouts add, T₂²; negative if none was found.
    pub between_layouts: f64,
    /// Variance of runs with one layout, T₁².
    pub within_layouts: f64,
    /// Share of the layouts in both, 0 to 1; absent without any variance.
    pub share_between: Option<f64>,
}

/// What a series looks like: remarks, never reasons to refuse a result.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct DiagnosticsRecord {
    /// p of "the values are normal", Shapiro and Wilk.
    pub shapiro_wilk_p: Option<f64>,
    /// Correlation of each value with the next one.
    pub lag_1: Option<f64>,
    /// p of "neighbours are independent".
    pub lag_1_p: Option<f64>,
    /// p of "there is no trend", Mann.
    pub trend_p: Option<f64>,
    /// Slope for each step, Theil and Sen.
    pub trend_slope: Option<f64>,
}
