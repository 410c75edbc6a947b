//! Whether two groups of values differ in their place: the rank-sum test of Wilcoxon (1945) and of
//! Mann and Whitney (1947), exact, also with ties.
//!
//! If both groups are draws of the same distribution, every way of choosing which of the pooled
//! values form the second group was equally likely. The sums of ranks of all these choices are
//! counted, with ties sharing the mean of their ranks, so p-values hold for any distribution and
//! however few values there are.

use super::data::{DataError, check, ranks};

/// Most values in both groups together.
pub const MAX_VALUES: usize = 120;

/// The chances of the observed sum of ranks of the second group.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RankSum {
    /// Of a sum at most as large: small if the second group is lower.
    pub lower: f64,
    /// Of a sum at least as large: small if the second group is higher.
    pub higher: f64,
}

impl RankSum {
    /// p of "the second group lies neither lower nor higher".
    #[must_use]
    pub fn two_sided(self) -> f64 {
        (2.0 * self.lower.min(self.higher)).min(1.0)
    }
}

/// Tests whether the values of `second` lie lower or higher than those of `first`.
///
/// # Errors
/// [`DataError`] for empty groups, more than [`MAX_VALUES`], or values that are not finite.
pub fn rank_sum(first: &[f64], second: &[f64]) -> Result<RankSum, DataError> {
    check(first, 1)?;
    check(second, 1)?;
    let pooled = [first, second].concat();
    if pooled.len() > MAX_VALUES {
        return Err(DataError::TooMany { most: MAX_VALUES, found: pooled.len() });
    }
    let doubled: Vec<usize> = ranks(&pooled).0.into_iter().map(twice).collect();
    let observed: usize = doubled[first.len()..].iter().sum();
    let counts = subset_sums(&doubled, second.len());
    let total: f64 = counts.iter().sum();
    let lower: f64 = counts[..=observed].iter().sum();
    let higher: f64 = counts[observed..].iter().sum();
    Ok(RankSum { lower: lower / total, higher: higher / total })
}

/// The smallest one-sided p that groups of these sizes can give: one choice of all.
#[must_use]
pub fn smallest_p(first: usize, second: usize) -> f64 {
    (1..=second).map(|i| i as f64 / (first + i) as f64).product()
}

/// A rank is a whole number or one and a half.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "at most 240")]
fn twice(rank: f64) -> usize {
    (rank * 2.0).round() as usize
}

/// In how many choices of `size` numbers each sum comes out, by its value.
fn subset_sums(numbers: &[usize], size: usize) -> Vec<f64> {
    let most: usize = numbers.iter().sum();
    let mut counts = vec![vec![0.0; most + 1]; size + 1];
    counts[0][0] = 1.0;
    for &number in numbers {
        for chosen in (1..=size).rev() {
            let (without, with) = counts.split_at_mut(chosen);
            let (without, with) = (&without[chosen - 1], &mut with[0]);
            for (to, from) in with[number..].iter_mut().zip(without) {
                *to += from;
            }
        }
    }
    counts.swap_remove(size)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::calibration::data::{cases, close, number, numbers, same_digits};
    use crate::random::Draws;

    #[test]
    fn p_values_without_ties_agree_with_scipy() {
        for case in cases("ranks", "rank_sum") {
            let found = rank_sum(&numbers(&case["first"]), &numbers(&case["second"])).unwrap();
            assert!(same_digits(found.lower, number(&case["lower"])), "{found:?}: {case}");
            assert!(same_digits(found.higher, number(&case["higher"])), "{found:?}: {case}");
        }
    }

    #[test]
    fn ties_are_counted_as_by_hand() {
        // Of the six choices of two among ranks 1, 2.5, 2.5, 4, two have the sum 6.5, one 5.
        let found = rank_sum(&[1.0, 2.0], &[2.0, 3.0]).unwrap();
        assert!(close(found.higher, 2.0 / 6.0) && close(found.lower, 1.0), "{found:?}");
        let equal = rank_sum(&[7.0; 5], &[7.0; 3]).unwrap();
        assert_eq!((equal.lower, equal.higher, equal.two_sided()), (1.0, 1.0, 1.0));
    }

    #[test]
    fn the_smallest_p_is_one_choice_of_all() {
        assert!(same_digits(smallest_p(26, 5), 1.0 / 169_911.0));
        let first: Vec<f64> = (0..26).map(f64::from).collect();
        let second: Vec<f64> = (30..35).map(f64::from).collect();
        assert!(same_digits(rank_sum(&first, &second).unwrap().higher, smallest_p(26, 5)));
    }

    #[test]
    fn groups_of_one_source_differ_as_rarely_as_promised() {
        let mut draws = Draws::new(11);
        let trials = 4000;
        let mut found = 0;
        for _ in 0..trials {
            // Values with many ties, as correlations of flat signals have.
            let mut values =
                |count: usize| -> Vec<f64> { (0..count).map(|_| draws.index(12) as f64).collect() };
            let (first, second) = (values(26), values(5));
            found += usize::from(rank_sum(&first, &second).unwrap().two_sided() <= 0.05);
        }
        // Four standard deviations of a share of 5 % in 4000 are 1.4 %.
        assert!((found as f64 / f64::from(trials)) < 0.064, "{found} of {trials}");
    }

    #[test]
    fn what_cannot_be_ranked_is_refused() {
        assert_eq!(rank_sum(&[], &[1.0]), Err(DataError::TooFew { needed: 1, found: 0 }));
        assert!(matches!(rank_sum(&[1.0], &[f64::NAN]), Err(DataError::NotFinite { .. })));
        assert!(matches!(rank_sum(&[1.0; 100], &[2.0; 21]), Err(DataError::TooMany { .. })));
    }
}
