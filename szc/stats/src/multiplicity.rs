//! p-values of many tests read together.
//!
//! Holm (1979, "A simple sequentially rejective multiple test procedure") bounds the probability of
//! any false discovery; Benjamini and Hochberg (1995) the expected share of false ones among the
//! discoveries.

use super::data::DataError;

/// Holm's adjusted p-values in the order of `p`: max over the smaller ones of (m − rank + 1)·p, at
/// most 1.
///
/// # Errors
/// [`DataError`] for values outside [0, 1].
pub fn holm(p: &[f64]) -> Result<Vec<f64>, DataError> {
    let order = ascending(p)?;
    let mut adjusted = vec![0.0; p.len()];
    let mut most: f64 = 0.0;
    for (rank, &place) in order.iter().enumerate() {
        most = most.max((p.len() - rank) as f64 * p[place]);
        adjusted[place] = most.min(1.0);
    }
    Ok(adjusted)
}

/// Benjamini and Hochberg's adjusted p-values in the order of `p`: min over the larger ones of
/// m·p/rank.
///
/// # Errors
/// [`DataError`] for values outside [0, 1].
pub fn benjamini_hochberg(p: &[f64]) -> Result<Vec<f64>, DataError> {
    let order = ascending(p)?;
    let mut adjusted = vec![0.0; p.len()];
    let mut least: f64 = 1.0;
    for (rank, &place) in order.iter().enumerate().rev() {
        least = least.min(p[place] * (p.len() as f64 / (rank + 1) as f64));
        adjusted[place] = least;
    }
    Ok(adjusted)
}

fn ascending(p: &[f64]) -> Result<Vec<usize>, DataError> {
    if p.iter().any(|value| !(0.0..=1.0).contains(value)) {
        return Err(DataError::Parameter("p-value"));
    }
    let mut order: Vec<usize> = (0..p.len()).collect();
    order.sort_by(|&one, &other| p[one].total_cmp(&p[other]));
    Ok(order)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::calibration::data::{cases, numbers, same_digits};
    use proptest::prelude::*;

    fn same_lists(found: &[f64], expected: &[f64]) -> bool {
        found.len() == expected.len()
            && found.iter().zip(expected).all(|(found, expected)| same_digits(*found, *expected))
    }

    #[test]
    fn adjusted_p_values_agree_with_statsmodels() {
        for case in cases("parametric", "multiplicity") {
            let p = numbers(&case["p"]);
            assert!(same_lists(&holm(&p).unwrap(), &numbers(&case["holm"])), "{case}");
            let found = benjamini_hochberg(&p).unwrap();
            assert!(same_lists(&found, &numbers(&case["benjamini_hochberg"])), "{case}");
        }
    }

    #[test]
    fn the_example_of_1995_has_four_discoveries_and_three_beyond_any_doubt() {
        let p = numbers(&cases("parametric", "multiplicity")[0]["p"]);
        assert_eq!(p.len(), 15);
        let below = |adjusted: Vec<f64>| adjusted.iter().filter(|&&p| p <= 0.05).count();
        assert_eq!(below(benjamini_hochberg(&p).unwrap()), 4);
        assert_eq!(below(holm(&p).unwrap()), 3);
    }

    #[test]
    fn what_is_no_p_value_is_refused_and_nothing_stays_nothing() {
        for wrong in [-0.1, 1.1, f64::NAN, f64::INFINITY] {
            assert_eq!(holm(&[0.5, wrong]), Err(DataError::Parameter("p-value")));
            assert_eq!(benjamini_hochberg(&[wrong]), Err(DataError::Parameter("p-value")));
        }
        assert_eq!(holm(&[]), Ok(Vec::new()));
        assert_eq!(benjamini_hochberg(&[]), Ok(Vec::new()));
    }

    proptest! {
        #[test]
        fn adjusting_keeps_the_order_and_never_makes_smaller(
            p in prop::collection::vec(0.0..=1.0_f64, 1..30),
            turn in 0_usize..30,
        ) {
            let turn = turn % p.len();
            let mut turned = p.clone();
            turned.rotate_left(turn);
            for adjust in [holm, benjamini_hochberg] {
                let found = adjust(&p).unwrap();
                let mut back = adjust(&turned).unwrap();
                back.rotate_right(turn);
                prop_assert_eq!(&found, &back);
                for (one, raw) in found.iter().zip(&p) {
                    prop_assert!(raw <= one && *one <= 1.0);
                    for (other, other_raw) in found.iter().zip(&p) {
                        prop_assert!(raw > other_raw || one <= other);
                    }
                }
            }
            let discoveries = benjamini_hochberg(&p).unwrap();
            let strict = holm(&p).unwrap();
            prop_assert!(strict.iter().zip(&discoveries).all(|(h, b)| *h >= b * (1.0 - 1e-15)));
        }
    }
}
