//! One benchmark of a harness, in the unit that all have in common.
#![forbid(unsafe_code)]

/// A benchmark, and its time in seconds.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// As the harness names it, with what encloses it in front.
    pub name: String,
    /// Of one iteration.
    pub seconds: f64,
}

/// Seconds in a unit of time.
pub(super) fn seconds_in(unit: &str) -> Option<f64> {
    Some(match unit {
        "ps" => 1e-12,
        "ns" => 1e-9,
        "us" | "µs" | "μs" => 1e-6,
        "ms" => 1e-3,
        "s" => 1.0,
        "m" | "min" => 60.0,
        "h" => 3600.0,
        _ => return None,
    })
}
