//! The tail of the layouts as a question of its own: where the slowest tenth begins.
//!
//! A mean says little about rare layouts, and a median nothing. The 0.9-quantile has an interval
//! between order statistics, which assumes nothing about the shape; the ratio of two has one made
//! of theirs, each at half the error rate.
#![forbid(unsafe_code)]

use szc_stats::planning::Rule;
use szc_stats::quantile::{interval, type_7, values_for_upper_end};
use szc_stats::sequential::ERROR_RATE;

use crate::samples::SlowestRecord;

/// Layouts below this quantile are not among the slowest.
const QUANTILE: f64 = 0.9;

/// Where the slowest tenth of one program's layouts begins, given the value of each.
#[must_use]
pub fn slowest(rule: Rule, values: &[f64]) -> Option<SlowestRecord> {
    let ends = interval(rule, values, QUANTILE, ERROR_RATE).ok()?;
    Some(SlowestRecord {
        value: type_7(values, QUANTILE).ok()?,
        lower: ends.lower,
        upper: ends.upper,
        layouts_needed: values_for_upper_end(rule, QUANTILE, ERROR_RATE),
    })
}

/// The ratio of those of two programs, the reference first. `None` unless all values are positive.
#[must_use]
pub fn slowest_ratio(rule: Rule, values: &[Vec<f64>; 2]) -> Option<SlowestRecord> {
    if values.iter().flatten().any(|value| *value <= 0.0) {
        return None;
    }
    let alpha = ERROR_RATE / 2.0;
    let [reference, program] = values;
    let of = |list: &[f64]| interval(rule, list, QUANTILE, alpha).ok();
    let (below, above) = (of(reference)?, of(program)?);
    let ratio = |value: f64, base: f64| (value / base).clamp(f64::MIN_POSITIVE, f64::MAX);
    let both = |value: Option<f64>, base: Option<f64>| Some(ratio(value?, base?));
    Some(SlowestRecord {
        value: ratio(type_7(program, QUANTILE).ok()?, type_7(reference, QUANTILE).ok()?),
        lower: both(above.lower, below.upper),
        upper: both(above.upper, below.lower),
        layouts_needed: values_for_upper_end(rule, QUANTILE, alpha),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn layouts(count: u32, slow: u32) -> Vec<f64> {
        let every = |i: u32| i.is_multiple_of(5);
        (0..count).map(|i| f64::from(if every(i) { slow } else { 1000 } + i % 7)).collect()
    }

    #[test]
    fn a_tail_that_the_median_does_not_see_is_a_ratio_above_one() {
        let found = slowest_ratio(Rule::Sequential, &[layouts(200, 1000), layouts(200, 1500)]);
        let found = found.unwrap();
        assert!(found.lower.unwrap() > 1.4 && found.upper.unwrap() < 1.6, "{found:?}");
        assert!(found.value > 1.4, "{found:?}");
    }

    #[test]
    fn few_layouts_leave_the_ends_open_and_say_how_many_it_takes() {
        let few = slowest(Rule::Fixed, &layouts(20, 1200)).unwrap();
        assert_eq!((few.upper, few.layouts_needed), (None, 36));
        assert!(few.lower.is_some());
        let ratio = slowest_ratio(Rule::Fixed, &[layouts(20, 1000), layouts(20, 1200)]).unwrap();
        assert_eq!((ratio.lower, ratio.upper, ratio.layouts_needed), (None, None, 42));
    }

    #[test]
    fn what_is_zero_has_no_ratio() {
        assert_eq!(slowest_ratio(Rule::Fixed, &[vec![0.0, 1.0], vec![1.0, 1.0]]), None);
        assert_eq!(slowest(Rule::Fixed, &[]), None);
    }
}
