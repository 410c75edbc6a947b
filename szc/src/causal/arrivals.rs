//! A load, and what arrives, as they are kept in the file of a causal profile.
#![forbid(unsafe_code)]

use serde::{Deserialize, Serialize};

/// A load.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, PartialEq)]
#[serde(rename_all = "snake_case")]
pub enum Load {
    /// So many times what there is.
    Factor(f64),
    /// Each arrival is sped up by so much.
    ArrivalSpeedupNs(u64),
}

/// What arrived.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize, PartialEq)]
pub struct ArrivalCounts {
    /// How often.
    pub count: u64,
    /// Sum of the times since the last arrival of the thread, or since its beginning, without
    /// pauses.
    pub interval_ns: u64,
    /// The least time between two of a thread; none if no thread had two.
    #[serde(default)]
    pub least_ns: Option<u64>,
    /// By what all were sped up.
    pub ahead_ns: u64,
}
