//! Records of an experiment on bias: what setups do to the answer, and why.
#![forbid(unsafe_code)]

use serde::{Deserialize, Serialize};

use super::setups::Condition;

/// What differs between setups.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum Factor {
    /// The size of the environment
    Env,
    /// The order in which objects are linked: needs --build
    Link,
    /// The places of functions: needs programs built by szc, as do the next two
    Code,
    /// The pads of frames
    Stack,
    /// The places of blocks on the heap
    Heap,
}

impl Factor {
    /// All.
    pub const ALL: [Self; 5] = [Self::Env, Self::Link, Self::Code, Self::Stack, Self::Heap];

    /// Which of the parts of a layout it is.
    #[must_use]
    pub const fn of_layout(self) -> Option<usize> {
        match self {
            Self::Env | Self::Link => None,
            Self::Code => Some(0),
            Self::Stack => Some(1),
            Self::Heap => Some(2),
        }
    }
}

/// All results.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct BiasRecord {
    /// Each factor by itself.
    #[serde(default)]
    pub factors: Vec<FactorRecord>,
    /// Setups drawn at random.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub drawn: Option<DrawnRecord>,
    /// How much of what drawn setups differ by is each factor's, where there are several.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub split: Vec<PartRecord>,
    /// Why the environment matters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub causal: Option<CausalRecord>,
    /// The setups with the lowest and the highest value, simulated, for each program.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub simulated: Vec<SimulatedRecord>,
}

/// What one factor does while all else stays.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FactorRecord {
    /// The factor.
    pub factor: Factor,
    /// What each setup says.
    pub setups: Vec<SetupRecord>,
    /// The lowest of their values.
    pub lowest: f64,
    /// The highest.
    pub highest: f64,
    /// The height of the violin: the highest over the lowest, less 1.
    pub height: f64,
    /// Of ratios: whether some setups say faster and some slower.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub straddles: Option<bool>,
    /// p of setups being alike, by the F test of blocks within setups; none without repetitions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub p: Option<f64>,
    /// Standard deviation of the setups' logarithms without that of blocks within a setup.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sd_setups: Option<f64>,
}

/// What one setup says.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct SetupRecord {
    /// By how much the environment is larger than its least size.
    pub size_bytes: u32,
    /// The order of objects by its place in the program's list, where orders differ.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub order: Option<u32>,
    /// Which layout of the part that differs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub layout: Option<u32>,
    /// Ratio of the second program to the first, or the value of the only one, as a geometric mean.
    pub value: f64,
}

/// Setups drawn at random, against the answer in a single one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DrawnRecord {
    /// Setups.
    pub n: usize,
    /// Mean over setups: ratio of the second program to the first, or the value of the only one.
    pub value: f64,
    /// Its interval, valid at every look.
    pub interval: [f64; 2],
    /// Half its width as a share.
    pub precision: f64,
    /// Standard deviation of setups' logarithms without that of runs in a setup.
    pub sd_setups: f64,
    /// Of ratios: the share of setups in which the slower program is the faster one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wrong_side: Option<f64>,
    /// The share of setups whose value is off by more than the tolerance.
    pub off: f64,
    /// What each setup says, in the order of blocks.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub setups: Vec<SetupRecord>,
}

/// One factor's part in the differences between drawn setups.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct PartRecord {
    /// The factor.
    pub factor: Factor,
    /// Standard deviation of logarithms between its levels, all else drawn at random.
    pub sd: f64,
    /// Its 95 % interval.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interval: Option<[f64; 2]>,
    /// p of its levels being alike.
    pub p: f64,
}

/// What happens to the difference of two sizes of the environment when something is held.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CausalRecord {
    /// By how much the environment is larger than its least size: where the value seemed lowest,
    /// and where highest.
    pub sizes_bytes: [u32; 2],
    /// Blocks.
    pub n: usize,
    /// Highest over lowest, with nothing held.
    pub effect: f64,
    /// Its interval.
    pub interval: [f64; 2],
    /// Whether there is a difference at all.
    pub shown: bool,
    /// What was held, and what that says.
    pub causes: Vec<CauseRecord>,
}

/// Something that was held.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct CauseRecord {
    /// What it is.
    pub cause: Condition,
    /// The difference that remains, as a ratio.
    pub effect: f64,
    /// Its interval.
    pub interval: [f64; 2],
    /// The share that remains of the logarithm of the difference.
    pub remains: f64,
    /// p of the difference not being gone, Holm.
    pub p_gone: f64,
    /// p of the difference not being there as before, Holm.
    pub p_remains: f64,
    /// What follows.
    pub verdict: CauseVerdict,
}

/// Whether something is the cause of a difference.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum CauseVerdict {
    /// Without it the difference is gone.
    Confirmed,
    /// Without it the difference is there as before.
    Rejected,
    /// Neither was shown.
    Undecided,
}

/// A program in two setups on a simulated processor.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SimulatedRecord {
    /// The program.
    pub program: usize,
    /// What the setups differ in.
    pub factor: Factor,
    /// The setup with the lowest value, and that with the highest.
    pub setups: Vec<SetupRecord>,
    /// Low 12 bits of the address at which the stack begins, on the machine.
    pub stack: [Option<u32>; 2],
    /// Whether the simulated stack begins there, too.
    pub is_aligned: bool,
    /// What was counted.
    pub events: Vec<EventRecord>,
    /// Functions with most of the instructions.
    pub functions: Vec<PlaceRecord>,
    /// Globals that share the low 12 bits of their addresses with the first frames.
    pub near_stack: [Vec<String>; 2],
}

/// Counts of an event in two setups.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EventRecord {
    /// The event, as cachegrind calls it.
    pub name: String,
    /// In the setup with the lowest value, and in that with the highest.
    pub counts: [f64; 2],
}

/// Where a function lies in two setups.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PlaceRecord {
    /// The function.
    pub name: String,
    /// Its share of the instructions.
    pub share: f64,
    /// Low 12 bits of its address.
    pub places: [u32; 2],
}

/// What setups do to several programs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BiasSuiteRecord {
    /// What kind of file it is.
    pub format: String,
    /// The programs.
    pub programs: Vec<String>,
    /// Each factor by itself.
    pub factors: Vec<SuiteFactorRecord>,
}

/// What one factor does to several programs.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct SuiteFactorRecord {
    /// The factor.
    pub factor: Factor,
    /// Programs that it was measured in.
    pub programs: usize,
    /// Programs that some setups call faster and some slower.
    pub straddling: usize,
    /// Median height of their violins.
    pub median_height: f64,
    /// Setups that all of them have.
    pub setups: usize,
    /// The lowest mean ratio over the programs in one setup.
    pub lowest: f64,
    /// The highest.
    pub highest: f64,
    /// The highest over the lowest, less 1.
    pub height: f64,
}
