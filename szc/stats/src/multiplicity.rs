//! p-values of many tests read together: Holm (1979, "A simple sequentially rejective multiple test
//! procedure") bounds the probability of any false discovery.

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
        }
    }

    #[test]
    fn the_example_of_benjamini_and_hochberg_has_three_discoveries_beyond_any_doubt() {
        let p = numbers(&cases("parametric", "multiplicity")[0]["p"]);
        assert_eq!(p.len(), 15);
        assert_eq!(holm(&p).unwrap().iter().filter(|&&p| p <= 0.05).count(), 3);
    }

    #[test]
    fn what_is_no_p_value_is_refused_and_nothing_stays_nothing() {
        for wrong in [-0.1, 1.1, f64::NAN, f64::INFINITY] {
            assert_eq!(holm(&[0.5, wrong]), Err(DataError::Parameter("p-value")));
        }
        assert_eq!(holm(&[]), Ok(Vec::new()));
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
            let found = holm(&p).unwrap();
            let mut back = holm(&turned).unwrap();
            back.rotate_right(turn);
            prop_assert_eq!(&found, &back);
            for (one, raw) in found.iter().zip(&p) {
                prop_assert!(raw <= one && *one <= 1.0);
                for (other, other_raw) in found.iter().zip(&p) {
                    prop_assert!(raw > other_raw || one <= other);
                }
            }
        }
    }
}
