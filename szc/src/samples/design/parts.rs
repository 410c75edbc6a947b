//! What the time of a run depends on besides its program, in parts that can be drawn one at a time.
#![forbid(unsafe_code)]

use serde::{Deserialize, Serialize};

/// What differs between the two runs of a pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Part {
    /// Nothing that anybody chose: the machine's noise.
    Machine,
    /// The places of functions.
    Code,
    /// The pads of frames.
    Stack,
    /// The places of blocks on the heap.
    Heap,
    /// Where stack and mappings begin.
    Bases,
    /// All of these.
    All,
}

impl Part {
    /// All of them, in the order of a block's pairs.
    pub const ALL: [Self; 6] =
        [Self::Machine, Self::Code, Self::Stack, Self::Heap, Self::Bases, Self::All];

    /// Runs of a block: a pair for each.
    pub const RUNS: u32 = 12;

    /// The part that the pair at a position of a block is about.
    #[must_use]
    pub fn at(position: u32) -> Self {
        Self::ALL[(position / 2) as usize % Self::ALL.len()]
    }

    /// Whether the runtime has a seed for it alone.
    #[must_use]
    pub fn has_seed(self) -> bool {
        self.variable().is_some()
    }

    /// The variable with that seed.
    #[must_use]
    pub fn variable(self) -> Option<&'static str> {
        match self {
            Self::Code => Some("SZC_CODE_SEED"),
            Self::Stack => Some("SZC_STACK_SEED"),
            Self::Heap => Some("SZC_HEAP_SEED"),
            Self::Machine | Self::Bases | Self::All => None,
        }
    }
}
