//! What a series of values looks like: remarks for the reader, never reasons to refuse a result.
#![forbid(unsafe_code)]

use crate::samples::DiagnosticsRecord;

/// Below this a diagnostic is worth a remark: rarer than 5 %, because there are several of them.
const REMARKABLE: f64 = 0.01;

/// Sentences about what is remarkable; `subject` is what was looked at, such as "the differences
/// of B against A".
#[must_use]
pub fn remarks(subject: &str, record: &DiagnosticsRecord) -> Vec<String> {
    let remarkable = |p: Option<f64>| p.filter(|p| *p < REMARKABLE);
    let mut remarks = Vec::new();
    if let (Some(p), Some(slope)) = (remarkable(record.trend_p), record.trend_slope) {
        let way = if slope > 0.0 { "rise" } else { "fall" };
        remarks.push(format!(
            "Drift: {subject} {way} with time (p = {p}). Something on this machine changes: let it \
             warm up (--warmup), and keep other work away.",
            p = Short(p)
        ));
    }
    if let (Some(p), Some(coefficient)) = (remarkable(record.lag_1_p), record.lag_1) {
        remarks.push(format!(
            "Neighbours resemble each other: {subject} have a lag-1 autocorrelation of \
             {coefficient:.2} (p = {p}), so there is less information in them than n says.",
            p = Short(p)
        ));
    }
    if let Some(p) = remarkable(record.shapiro_wilk_p) {
        remarks.push(format!(
            "Not normal: {subject} (Shapiro-Wilk p = {p}). The interval relies on their mean, \
             which is nearly normal; the median stands beside it.",
            p = Short(p)
        ));
    }
    remarks
}

/// A small probability with two digits.
struct Short(f64);

impl std::fmt::Display for Short {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.0 >= 0.001 {
            write!(formatter, "{:.4}", self.0)
        } else {
            write!(formatter, "{:.0e}", self.0)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::diagnostics::diagnostics;

    #[test]
    fn a_rising_series_is_remarked_as_drift() {
        let rising: Vec<f64> = (0..30).map(|i| f64::from(i) + (f64::from(i) * 2.3).sin()).collect();
        let found = remarks("the runs of A", &diagnostics(&rising));
        assert!(found[0].starts_with("Drift: the runs of A rise"), "{found:?}");
        assert!(found[1].contains("autocorrelation of 0.8"), "{found:?}");
    }

    #[test]
    fn a_far_value_is_remarked_and_ordinary_noise_is_not() {
        let mut noise: Vec<f64> = (0..30).map(|i| (f64::from(i) * 7.7).sin()).collect();
        assert_eq!(remarks("x", &diagnostics(&noise)), Vec::<String>::new());
        noise[11] = 50.0;
        let found = remarks("x", &diagnostics(&noise));
        assert!(found.iter().any(|text| text.starts_with("Not normal")), "{found:?}");
    }

    #[test]
    fn what_cannot_be_tested_is_not_remarked() {
        for values in [&[][..], &[1.0], &[2.0; 9]] {
            let record = diagnostics(values);
            assert_eq!(record, DiagnosticsRecord::default());
            assert!(remarks("x", &record).is_empty());
        }
    }
}
