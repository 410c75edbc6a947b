//! What a series of values looks like.
#![forbid(unsafe_code)]

use szc_stats::serial::lag_1_autocorrelation;
use szc_stats::shapiro_wilk::shapiro_wilk;
use szc_stats::trend::{MAX_VALUES, trend};

use crate::samples::DiagnosticsRecord;

/// Everything that can be said about values in the order of time.
#[must_use]
pub fn diagnostics(values: &[f64]) -> DiagnosticsRecord {
    let shape = shapiro_wilk(values).ok();
    let serial = lag_1_autocorrelation(values).ok();
    let drift = (values.len() <= MAX_VALUES).then(|| trend(values, 0.95).ok()).flatten();
    DiagnosticsRecord {
        shapiro_wilk_p: shape.map(|test| test.p),
        lag_1: serial.map(|test| test.coefficient),
        lag_1_p: serial.map(|test| test.p),
        trend_p: drift.map(|test| test.p),
        trend_slope: drift.map(|test| test.slope),
    }
}
