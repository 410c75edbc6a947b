//! How much a difference may be before it matters: of a whole experiment, or of a row of a harness.
#![forbid(unsafe_code)]

use szc_stats::decision::Tolerance;

use crate::samples::{DesignRecord, Metric};

/// Tolerance where nobody gave one.
pub const USUAL_TOLERANCE: f64 = 0.01;

/// The tolerated change of a metric as a share: of a row, that of the first pattern which its name
/// fits; of all others, and of what no pattern fits, that of the experiment.
#[must_use]
pub fn share_of(design: &DesignRecord, metric: &Metric) -> f64 {
    let own = match metric {
        Metric::Row(_) => design.row_tolerances.iter().find(|entry| entry.is_of(metric.title())),
        _ => None,
    };
    own.map(|entry| entry.tolerance).or(design.tolerance).unwrap_or(USUAL_TOLERANCE)
}

/// The same of a row; none of what is no row.
#[must_use]
pub fn row_tolerance(design: &DesignRecord, metric: &Metric) -> Option<f64> {
    matches!(metric, Metric::Row(_)).then(|| share_of(design, metric))
}

/// The same as a bound of log ratios, with the layouts that it asks for.
#[must_use]
pub fn tolerance_of(design: &DesignRecord, metric: &Metric) -> Tolerance {
    let usual = || Tolerance::new(USUAL_TOLERANCE).expect("the usual tolerance is one");
    let tolerance = Tolerance::new(share_of(design, metric)).unwrap_or_else(|_| usual());
    let slowest = design.slowest_layout;
    slowest.and_then(|times| tolerance.with_slowest_layout(times).ok()).unwrap_or(tolerance)
}

/// Patterns of tolerances that are the first to fit none of these rows, and whether they fit one at
/// all.
#[must_use]
pub fn unused<'a>(design: &'a DesignRecord, rows: &[&str]) -> Vec<(&'a str, bool)> {
    let first = |row: &&str| design.row_tolerances.iter().position(|entry| entry.is_of(row));
    let used: Vec<usize> = rows.iter().filter_map(first).collect();
    let entries = design.row_tolerances.iter().enumerate();
    entries
        .filter(|(place, _)| !used.contains(place))
        .map(|(_, entry)| (entry.name.as_str(), rows.iter().any(|row| entry.is_of(row))))
        .collect()
}
