//! The median beside the mean: a check of a comparison that assumes nothing about the shape of the
//! distribution.
//!
//! The sign interval of the rule that the mean is judged by: for one look, or for every look. Where
//! mean and median tell different stories, some layouts behave unlike the typical one.

use super::describe::median;
use super::fixed::{CONFIDENCE, Direction, Interval, ROUNDING, sign_interval};
use super::planning::Rule;
use super::quantile;
use super::sequential::ERROR_RATE;

/// Median and sign interval of the log ratios of the blocks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MedianCheck {
    /// Median log ratio.
    pub median: f64,
    /// Its 95 % interval.
    pub interval: Interval,
}

/// The check of one log ratio per block; `None` where there are too few for an interval.
#[must_use]
pub fn median_check(rule: Rule, differences: &[f64]) -> Option<MedianCheck> {
    let interval = match rule {
        Rule::Fixed => sign_interval(differences, CONFIDENCE)?.interval,
        Rule::Sequential => {
            let ends = quantile::interval(rule, differences, 0.5, ERROR_RATE).ok()?;
            Interval { lower: ends.lower?, upper: ends.upper? }
        }
    };
    Some(MedianCheck { median: median(differences)?, interval })
}

impl MedianCheck {
    /// Whether mean and median tell different stories: some layouts behave unlike the typical one,
    /// so the tail moved rather than the whole. `of_mean` is the interval of the `mean`.
    ///
    /// The sign interval is wider than that of the mean on well-behaved data, so it may well hold
    /// zero when the other does not; that alone is a lack of power. It is a disagreement when the
    /// mean lies outside the sign interval, or when the median is resolved and the mean says
    /// otherwise.
    #[must_use]
    pub fn disagrees(&self, mean: f64, of_mean: Interval) -> bool {
        let outside = (mean - self.interval.upper).max(self.interval.lower - mean);
        let direction = self.interval.direction();
        outside > ROUNDING
            || (direction != Direction::Unresolved && direction != of_mean.direction())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::describe::mean;
    use crate::fixed::t_interval;
    use crate::sequential::mean_sequence;

    fn disagree(rule: Rule, differences: &[f64]) -> bool {
        let of_mean = match rule {
            Rule::Fixed => t_interval(differences, CONFIDENCE).unwrap(),
            Rule::Sequential => mean_sequence(differences).unwrap().interval,
        };
        let check = median_check(rule, differences).unwrap();
        assert!(check.interval.contains(check.median));
        check.disagrees(mean(differences).unwrap(), of_mean)
    }

    #[test]
    fn a_few_layouts_that_pull_the_mean_are_a_disagreement() {
        let mut differences = vec![0.001; 28];
        differences.extend([-0.002; 4]);
        differences.extend([0.5; 8]);
        assert!(disagree(Rule::Fixed, &differences) && disagree(Rule::Sequential, &differences));
    }

    #[test]
    fn outliers_that_hide_the_shift_of_the_typical_layout_are_a_disagreement() {
        let mut differences: Vec<f64> = (0..18).map(|i| 0.01 + 0.0001 * f64::from(i)).collect();
        differences.extend([-0.6, 0.5]);
        assert!(disagree(Rule::Fixed, &differences) && disagree(Rule::Sequential, &differences));
    }

    #[test]
    fn a_plain_shift_is_none() {
        let shift: Vec<f64> = (0..20).map(|i| 0.02 + 0.001 * f64::from(i % 5 - 2)).collect();
        for differences in [&shift[..], &[0.1; 10]] {
            assert!(!disagree(Rule::Fixed, differences));
            assert!(!disagree(Rule::Sequential, differences));
        }
    }

    #[test]
    fn a_check_at_every_look_is_wider_and_needs_eight_blocks() {
        let values: Vec<f64> = (0..40).map(f64::from).collect();
        let [once, always] = [Rule::Fixed, Rule::Sequential]
            .map(|rule| median_check(rule, &values).unwrap().interval);
        assert!(always.lower < once.lower && once.upper < always.upper);
        assert_eq!(median_check(Rule::Sequential, &values[..7]), None);
        assert!(median_check(Rule::Sequential, &values[..8]).is_some());
        assert_eq!(median_check(Rule::Fixed, &values[..5]), None);
    }
}
