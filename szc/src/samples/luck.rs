//! Records of `szc luck`: whose placement explains how long a program takes.
#![forbid(unsafe_code)]

use serde::{Deserialize, Serialize};

use super::Metric;

/// Value of the field `format` of a saved result.
pub const FORMAT: &str = "szc-luck";

/// Draws that blocks of one size have.
pub const DRAWS: u32 = 16;

/// What differs between layouts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum Part {
    /// Where functions lie.
    #[default]
    Code,
    /// Where their frames lie, by their pads
    Stack,
    /// Where blocks of the heap lie, by their sizes
    Heap,
}

impl Part {
    /// What is looked at.
    #[must_use]
    pub const fn features(self) -> &'static [Feature] {
        match self {
            Self::Code => &[Feature::Half, Feature::Line, Feature::Page],
            Self::Stack => &[
                Feature::FrameLine,
                Feature::FramePage,
                Feature::FrameSet,
                Feature::PadPage,
                Feature::PadSet,
            ],
            Self::Heap => &[Feature::Draw],
        }
    }
}

/// What of a function's address, or of its frame's, is looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Feature {
    /// The offset in 32 bytes.
    Half,
    /// The offset in a cache line.
    Line,
    /// The eighth of a page.
    Page,
    /// The offset of the frame in a cache line.
    FrameLine,
    /// The eighth of a page in which the frame begins.
    FramePage,
    /// The cache line of a page in which the frame begins.
    FrameSet,
    /// The pad, in eighths of a page: the distance of the frame from the caller's.
    PadPage,
    /// The pad, in cache lines.
    PadSet,
    /// The distance of one function from another in a page, in eighths.
    GapPage,
    /// The same, in cache lines.
    GapSet,
    /// The draw of all blocks of one size class, by which they have their places.
    Draw,
}

impl Feature {
    /// What is looked at of pairs of functions.
    pub const OF_PAIRS: [Self; 2] = [Self::GapPage, Self::GapSet];

    /// Bytes after which it repeats, and bytes of a class.
    #[must_use]
    pub const fn bytes(self) -> (u32, u32) {
        match self {
            Self::Half => (32, 16),
            Self::Line | Self::FrameLine => (64, 16),
            Self::Page | Self::FramePage | Self::PadPage | Self::GapPage => (4096, 512),
            Self::FrameSet | Self::PadSet | Self::GapSet => (4096, 64),
            Self::Draw => (DRAWS, 1),
        }
    }

    /// Whether it is one of the pad, and not of an address.
    #[must_use]
    pub const fn is_of_pad(self) -> bool {
        matches!(self, Self::PadPage | Self::PadSet)
    }

    /// Whether it is one of where the frame is.
    #[must_use]
    pub const fn is_of_frame(self) -> bool {
        matches!(self, Self::FrameLine | Self::FramePage | Self::FrameSet)
    }

    /// The class of a place in a page.
    #[must_use]
    pub fn class(self, place: u32) -> usize {
        let (modulus, width) = self.bytes();
        (place % modulus / width) as usize
    }
}

/// What was found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LuckRecord {
    /// [`FORMAT`].
    #[serde(default)]
    pub format: String,
    /// The command.
    pub command: String,
    /// Seed of everything.
    pub seed: u64,
    /// What differed between layouts.
    #[serde(default)]
    pub part: Part,
    /// Its metric.
    pub metric: Metric,
    /// Layouts, and runs over them.
    pub layouts: usize,
    /// Runs.
    pub runs: usize,
    /// Functions that ran in every layout, whose places or frames were looked at; or sizes of
    /// blocks.
    pub functions: usize,
    /// The functions that took the most time in a pilot, of which each two were looked at.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hottest: Vec<HotRecord>,
    /// Pairs of functions whose distance was looked at.
    #[serde(default)]
    pub pairs: usize,
    /// The metric in the runs of each layout; of time that at the mean speed of the machine, by
    /// the run beside each.
    #[serde(default)]
    pub values: Vec<Vec<f64>>,
    /// p of all layouts being alike; none where no layout had two runs.
    pub p_layouts: Option<f64>,
    /// Standard deviation of logarithms between layouts, without that of runs.
    pub sd_layouts: Option<f64>,
    /// Functions whose placement explains some of it, at 5 % together, the most first.
    pub named: Vec<NamedRecord>,
    /// The first of them moved alone.
    pub intervention: Option<InterventionRecord>,
    /// What would make the program robust against it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fix: Option<FixRecord>,
}

/// A function that takes time, or asks for blocks.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct HotRecord {
    /// Its name.
    pub function: String,
    /// Its share of the samples, or of the requests.
    pub share: f64,
}

/// A function whose placement goes with time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NamedRecord {
    /// Its name; or the least and the greatest size of blocks, as in 33-64.
    pub function: String,
    /// Of a pair, the function that it lies so far from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// What of its address.
    pub feature: Feature,
    /// Of blocks, the functions that asked for the most of them, by shares of all requests.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub asked_by: Vec<HotRecord>,
    /// p, adjusted for all functions and features.
    pub adjusted_p: f64,
    /// Share of the variance between layouts; none where that is not told from noise.
    pub share: Option<f64>,
    /// What each class of offsets has.
    pub offsets: Vec<OffsetRecord>,
    /// Where it or its frame lay in a page in each layout, or the pad, or the distance.
    #[serde(default)]
    pub places: Vec<u32>,
}

/// The layouts in which a function had some offset.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct OffsetRecord {
    /// The first offset of the class.
    pub offset: u32,
    /// Layouts.
    pub layouts: usize,
    /// Geometric mean of the metric, relative to that over all layouts.
    pub ratio: f64,
}

/// One function at its worst offset against its best, all others as they are.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct InterventionRecord {
    /// The function.
    pub function: String,
    /// Of a pair, the function that it was held at a distance from, whose offset is 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// What of it was held, if not the offset of its code.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub feature: Option<Feature>,
    /// Where it was held: best and worst.
    pub offsets: [u32; 2],
    /// In what.
    pub modulus: u32,
    /// Blocks, each with a layout of its own.
    pub n: usize,
    /// Worst over best.
    pub ratio: f64,
    /// Its confidence sequence.
    pub interval: [f64; 2],
    /// What follows.
    pub verdict: Confirmation,
}

/// A function held where a change of the source would put it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FixRecord {
    /// The function.
    pub function: String,
    /// Where it was held.
    pub offset: u32,
    /// In what.
    pub modulus: u32,
    /// What keeps it there.
    pub advice: Vec<String>,
    /// Runs that hold it, each in a layout of its own, and as many that do not.
    pub runs: usize,
    /// Standard deviation of logarithms of those that do not, and of those that do.
    pub sd: [f64; 2],
    /// p of both spreading alike (Brown and Forsythe).
    pub p: f64,
    /// Time of those that do over that of those that do not.
    pub ratio: f64,
    /// Its interval.
    pub interval: [f64; 2],
}

/// Whether moving a function alone does what its placement seemed to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Confirmation {
    /// It is slower there.
    Confirmed,
    /// The two are equivalent, or it is faster there.
    Rejected,
    /// Neither was shown.
    Undecided,
}
