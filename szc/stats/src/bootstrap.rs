//! Bootstrap intervals of any statistic: bias-corrected and accelerated, BCa
//! (Efron 1987; Efron and Tibshirani 1993, equations 14.9 to 14.15).
//!
//! For what has no interval of its own: quantiles, memory, ratios of either. Items may be pairs, so
//! that what was measured together is drawn together.

use super::data::{DataError, check, is_constant};
use super::describe::sorted;
use super::fixed::{Interval, normal_quantile};
use super::quantile::type_7_of_sorted;
use super::random::Draws;
use super::tail::normal_upper;

/// Fewest resamples for which the ends of a 95 % interval mean something (Efron 1987, section 9).
pub const FEWEST_RESAMPLES: usize = 1000;

/// Result of [`bca`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bootstrap {
    /// The statistic of the data, in its own unit.
    pub estimate: f64,
    /// BCa interval.
    pub interval: Interval,
    /// Standard deviation of the statistic over resamples.
    pub standard_error: f64,
}

/// Draws `resamples` samples of `items` with replacement and makes an interval of `statistic` with
/// `confidence` in (0, 1). The same `seed` gives the same interval.
///
/// The interval is too short for small samples: measured, it covers in 92 to 94 % of samples of 30
/// instead of 95 %.
///
/// # Errors
/// [`DataError`] below 2 items or [`FEWEST_RESAMPLES`] resamples, if the statistic of a resample or
/// of all items but one is not a finite number, or if all resamples lie on one side of the
/// estimate.
pub fn bca<T: Copy>(
    items: &[T],
    statistic: impl Fn(&[T]) -> f64,
    resamples: usize,
    confidence: f64,
    seed: u64,
) -> Result<Bootstrap, DataError> {
    if items.len() < 2 {
        return Err(DataError::TooFew { needed: 2, found: items.len() });
    }
    if resamples < FEWEST_RESAMPLES {
        return Err(DataError::Parameter("resamples"));
    }
    if !(confidence > 0.0 && confidence < 1.0) {
        return Err(DataError::Parameter("confidence"));
    }
    let estimate = statistic(items);
    let mut draws = Draws::new(seed);
    let mut sample = items.to_vec();
    let replicates: Vec<f64> = (0..resamples)
        .map(|_| {
            sample.fill_with(|| items[draws.index(items.len())]);
            statistic(&sample)
        })
        .collect();
    let without_one: Vec<f64> = (0..items.len())
        .map(|left_out| {
            sample.clear();
            sample.extend(
                items.iter().enumerate().filter(|(i, _)| *i != left_out).map(|(_, item)| item),
            );
            statistic(&sample)
        })
        .collect();
    let interval = bca_interval(estimate, &replicates, &without_one, confidence)?;
    let standard_error = super::describe::standard_deviation(&replicates).unwrap_or_default();
    Ok(Bootstrap { estimate, interval, standard_error })
}

/// The interval from the statistic of the data, of each resample, and of the data without each of
/// its items.
fn bca_interval(
    estimate: f64,
    replicates: &[f64],
    without_one: &[f64],
    confidence: f64,
) -> Result<Interval, DataError> {
    for values in [&[estimate][..], replicates, without_one] {
        check(values, 1).map_err(|_| DataError::OutOfRange)?;
    }
    let ascending = sorted(replicates);
    // Replicates equal to the estimate count half on each side. The same items drawn in another
    // order differ by rounding.
    let rounding = (ascending[ascending.len() - 1] - ascending[0]) * 1e-12;
    let below = ascending.partition_point(|value| *value < estimate - rounding);
    let not_above = ascending.partition_point(|value| *value <= estimate + rounding);
    let share = (below + not_above) as f64 / (2 * replicates.len()) as f64;
    if share <= 0.0 || share >= 1.0 {
        return Err(DataError::NoSpread);
    }
    let bias = normal_quantile(share);
    let acceleration = acceleration(without_one);
    let end = |probability: f64| {
        let z = bias + normal_quantile(probability);
        let adjusted = bias + z / (1.0 - acceleration * z);
        type_7_of_sorted(&ascending, normal_upper(-adjusted).clamp(0.0, 1.0))
    };
    Ok(Interval {
        lower: end((1.0 - confidence) / 2.0),
        upper: end(f64::midpoint(1.0, confidence)),
    })
}

/// Σ(θ̄ − θᵢ)³ / 6(Σ(θ̄ − θᵢ)²)^1.5 of the statistics without item i; 0 if they do not vary.
fn acceleration(without_one: &[f64]) -> f64 {
    if is_constant(without_one) {
        return 0.0;
    }
    let center = super::describe::mean(without_one).unwrap_or_default();
    let largest = without_one.iter().fold(0.0, |most: f64, value| most.max((center - value).abs()));
    let (mut squares, mut cubes) = (0.0, 0.0);
    for value in without_one {
        let distance = (center - value) / largest;
        squares += distance.powi(2);
        cubes += distance.powi(3);
    }
    cubes / (6.0 * squares.powf(1.5))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::calibration::data::{MAIZE, SLEEP, cases, close, number, numbers};
    use crate::describe::{mean, median, standard_deviation};
    use proptest::prelude::*;

    /// The resamples of `reference/series.py`.
    fn resample(values: &[f64], number: u64) -> Vec<f64> {
        let mut state = number + 1;
        let mut next = |_| {
            state = (state * 1_103_515_245 + 12_345) % (1 << 31);
            values[usize::try_from(state >> 16).unwrap() % values.len()]
        };
        (0..values.len()).map(&mut next).collect()
    }

    #[test]
    fn intervals_agree_with_scipy_on_the_same_resamples() {
        for case in cases("series", "bootstrap") {
            let values = numbers(&case["data"]);
            let statistic: fn(&[f64]) -> Option<f64> = match case["statistic"].as_str().unwrap() {
                "mean" => mean,
                "median" => median,
                _ => standard_deviation,
            };
            let of = |sample: &[f64]| statistic(sample).unwrap();
            let replicates: Vec<f64> = (0..2000).map(|b| of(&resample(&values, b))).collect();
            let without_one: Vec<f64> =
                (0..values.len()).map(|i| of(&[&values[..i], &values[i + 1..]].concat())).collect();
            let found = bca_interval(of(&values), &replicates, &without_one, 0.95).unwrap();
            assert!(close(found.lower, number(&case["lower"])), "{case}: {found:?}");
            assert!(close(found.upper, number(&case["upper"])), "{case}: {found:?}");
        }
    }

    #[test]
    fn the_interval_of_a_mean_is_close_to_that_of_student() {
        let found = bca(&MAIZE, |x| mean(x).unwrap(), 20_000, 0.95, 1).unwrap();
        assert!(close(found.estimate, 20.933_333_333_333_334));
        // s/√n·√((n−1)/n) = 9.415.
        assert!((found.standard_error - 9.415).abs() < 0.2, "{found:?}");
        assert!(found.interval.lower > -2.0 && found.interval.upper < 40.0, "{found:?}");
    }

    #[test]
    fn pairs_are_drawn_together() {
        let pairs: Vec<(f64, f64)> = SLEEP.iter().map(|&x| (x + 1.0, 2.0 * (x + 1.0))).collect();
        let ratio = |x: &[(f64, f64)]| {
            x.iter().map(|p| p.1).sum::<f64>() / x.iter().map(|p| p.0).sum::<f64>()
        };
        let found = bca(&pairs, ratio, 1000, 0.95, 1).unwrap();
        assert!(close(found.interval.lower, 2.0) && close(found.interval.upper, 2.0));
    }

    #[test]
    fn equal_values_give_their_own_value_as_interval() {
        let found = bca(&[3.5; 8], |x| median(x).unwrap(), 1000, 0.95, 1).unwrap();
        assert_eq!(found.interval, Interval { lower: 3.5, upper: 3.5 });
    }

    #[test]
    fn unfit_data_and_parameters_are_refused() {
        let of = |x: &[f64]| mean(x).unwrap();
        assert_eq!(bca(&[1.0], of, 1000, 0.95, 1), Err(DataError::TooFew { needed: 2, found: 1 }));
        assert_eq!(bca(&SLEEP, of, 999, 0.95, 1), Err(DataError::Parameter("resamples")));
        assert_eq!(bca(&SLEEP, of, 1000, 0.0, 1), Err(DataError::Parameter("confidence")));
        assert_eq!(bca(&[1.0, f64::NAN], of, 1000, 0.95, 1), Err(DataError::OutOfRange));
        let moving = std::cell::Cell::new(0.0);
        let rising = |_: &[f64]| {
            moving.set(moving.get() + 1.0);
            moving.get()
        };
        assert_eq!(bca(&SLEEP, rising, 1000, 0.95, 1), Err(DataError::NoSpread));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]
        #[test]
        fn exchange_mirrors_and_scaling_scales_the_interval_of_a_mean(
            values in prop::collection::vec(-1.0..1.0_f64, 3..20),
            factor in 0.01..100.0_f64,
            seed in any::<u64>(),
        ) {
            let of = |x: &[f64]| mean(x).unwrap();
            let other: Vec<f64> = values.iter().map(|value| -factor * value).collect();
            let found = bca(&values, of, 1000, 0.9, seed).unwrap();
            let mirrored = bca(&other, of, 1000, 0.9, seed).unwrap();
            let (one, other) = (found.interval, mirrored.interval);
            prop_assert!((one.lower * factor + other.upper).abs() < 1e-6 * factor);
            prop_assert!((one.upper * factor + other.lower).abs() < 1e-6 * factor);
            prop_assert!(found.interval.contains(found.estimate));
        }
    }
}
