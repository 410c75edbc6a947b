//! What the variance of runs is made of, from sets of runs that differ in what was drawn anew.
//!
//! In each set the same factors are random: none but the machine, the code alone, all of them. Runs
//! come in pairs that were made one after the other, so that what changes slowly on the machine
//! cancels in their difference; half its square is an unbiased estimate of the set's variance. A
//! component is a linear combination of such mean squares: code alone less machine, for example.
//!
//! Intervals of combinations of any sign by modified large samples (Ting, Burdick, Graybill,
//! Jeyaratnam and Lu 1990, "Confidence intervals on linear combinations of variance components that
//! are unrestricted in sign"; Burdick and Graybill, "Confidence Intervals on Variance Components",
//! 1992, section 3.4). Their degrees of freedom are n for normal values; where the squares spread
//! more than those of normal values do, as many as their spread says (Satterthwaite 1946). A share
//! of a total has the interval of those s for which the interval of "part − s·total" holds 0.

use statrs::distribution::{ChiSquared, ContinuousCDF};

use super::data::{DataError, check};
use super::describe::mean;
use super::fixed::Interval;

/// Fewest pairs that a variance is estimated from.
pub const MIN_PAIRS: usize = 6;

/// The variance of a set, from its pairs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MeanSquare {
    /// Estimate, in the square of the unit.
    pub value: f64,
    /// Degrees of freedom, seldom whole.
    pub degrees_of_freedom: f64,
}

impl MeanSquare {
    /// Of pairs of values with equal expectation.
    ///
    /// # Errors
    /// [`DataError`] below [`MIN_PAIRS`] or for a value that is not finite.
    pub fn of_pairs(pairs: &[[f64; 2]]) -> Result<Self, DataError> {
        let squares: Vec<f64> =
            pairs.iter().map(|[one, other]| (one - other).powi(2) / 2.0).collect();
        check(&squares, MIN_PAIRS)?;
        let value = mean(&squares).unwrap_or_default();
        let count = squares.len() as f64;
        let spread =
            squares.iter().map(|square| (square - value).powi(2)).sum::<f64>() / (count - 1.0);
        // Var(χ²₁) = 2: n for normal values.
        let degrees_of_freedom = match 2.0 * value * value / spread * count {
            found if found.is_finite() => found.clamp(1.0, count),
            _ => count,
        };
        Ok(Self { value, degrees_of_freedom })
    }
}

/// A variance component and its interval, in the square of the unit. Negative where chance made the
/// sets differ the other way: then nothing was found of it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Component {
    /// Estimate.
    pub value: f64,
    /// Its interval.
    pub interval: Interval,
}

/// Σ factor·variance over independent sets, with an interval at `confidence` in (0, 1).
///
/// # Errors
/// [`DataError::Parameter`] for a confidence out of range.
pub fn combination(terms: &[(f64, MeanSquare)], confidence: f64) -> Result<Component, DataError> {
    if !(confidence > 0.0 && confidence < 1.0) {
        return Err(DataError::Parameter("confidence"));
    }
    let alpha = (1.0 - confidence) / 2.0;
    let value = terms.iter().map(|(factor, square)| factor * square.value).sum::<f64>();
    // What each end lies away by: towards smaller variances of what is added and larger ones of
    // what is taken off, and the other way round.
    let (mut below, mut above) = (0.0, 0.0);
    for (factor, square) in terms {
        let df = square.degrees_of_freedom;
        let law = ChiSquared::new(df).map_err(|_| DataError::Parameter("degrees of freedom"))?;
        let smaller = 1.0 - df / law.inverse_cdf(1.0 - alpha);
        let larger = df / law.inverse_cdf(alpha) - 1.0;
        let size = (factor * square.value).powi(2);
        let (down, up) = if *factor > 0.0 { (smaller, larger) } else { (larger, smaller) };
        below += down * down * size;
        above += up * up * size;
    }
    let interval = Interval { lower: value - below.sqrt(), upper: value + above.sqrt() };
    Ok(Component { value, interval })
}

/// The share of a part in a total, both combinations of the same sets: estimate and interval,
/// within 0 to 1. `None` without any variance.
///
/// # Errors
/// Those of [`combination`]; [`DataError::UnequalLengths`] if the factors are not as many as sets.
pub fn share(
    squares: &[MeanSquare],
    part: &[f64],
    total: &[f64],
    confidence: f64,
) -> Result<Option<Component>, DataError> {
    if part.len() != squares.len() || total.len() != squares.len() {
        return Err(DataError::UnequalLengths);
    }
    let less = |share: f64| {
        let terms: Vec<(f64, MeanSquare)> = squares
            .iter()
            .zip(part.iter().zip(total))
            .map(|(square, (part, total))| (part - share * total, *square))
            .collect();
        combination(&terms, confidence)
    };
    let of = |factors: &[f64]| {
        factors.iter().zip(squares).map(|(factor, square)| factor * square.value).sum::<f64>()
    };
    let whole = of(total);
    if whole.is_nan() || whole <= 0.0 {
        return Ok(None);
    }
    // "part − s·total" falls as s grows: the ends are where its interval leaves 0 behind.
    let end = |leaves: &dyn Fn(Interval) -> bool| -> Result<f64, DataError> {
        let (mut inside, mut outside) = (0.0, 1.0);
        if leaves(less(0.0)?.interval) {
            return Ok(0.0);
        }
        if !leaves(less(1.0)?.interval) {
            return Ok(1.0);
        }
        for _ in 0..50 {
            let middle = f64::midpoint(inside, outside);
            if leaves(less(middle)?.interval) {
                outside = middle;
            } else {
                inside = middle;
            }
        }
        Ok(inside)
    };
    let lower = end(&|interval| interval.lower <= 0.0)?;
    let upper = end(&|interval| interval.upper <= 0.0)?;
    let value = (of(part) / whole).clamp(0.0, 1.0);
    Ok(Some(Component { value, interval: Interval { lower, upper: upper.max(lower) } }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::calibration::data::close;
    use crate::calibration::noise::Noise;
    use crate::calibration::rate;

    fn pairs(noise: &mut Noise, count: usize, value: impl Fn(&mut Noise) -> f64) -> Vec<[f64; 2]> {
        // A level of the machine that each pair has for itself.
        (0..count)
            .map(|_| {
                let level = 5.0 * noise.normal();
                [level + value(noise), level + value(noise)]
            })
            .collect()
    }

    fn square(noise: &mut Noise, count: usize, value: impl Fn(&mut Noise) -> f64) -> MeanSquare {
        MeanSquare::of_pairs(&pairs(noise, count, value)).unwrap()
    }

    #[test]
    fn one_set_has_the_interval_of_a_variance() {
        // scipy.stats.chi2.ppf([0.975, 0.025], 10): 20.483177, 3.246973.
        let one = MeanSquare { value: 4.0, degrees_of_freedom: 10.0 };
        let found = combination(&[(1.0, one)], 0.95).unwrap();
        assert!((found.interval.lower - 40.0 / 20.483_177).abs() < 1e-5, "{found:?}");
        assert!((found.interval.upper - 40.0 / 3.246_973).abs() < 1e-5, "{found:?}");
        assert_eq!(found.value, 4.0);
    }

    #[test]
    fn a_mean_square_is_half_the_mean_of_squared_differences() {
        let list = [[1.0, 3.0], [2.0, 2.0], [0.0, 1.0], [4.0, 1.0], [5.0, 6.0], [1.0, 1.0]];
        let found = MeanSquare::of_pairs(&list).unwrap();
        assert!(close(found.value, (4.0 + 0.0 + 1.0 + 9.0 + 1.0 + 0.0) / 12.0));
        assert!(close(found.degrees_of_freedom, 6.0), "{found:?}");
        let heavy = [&list[..5], &[[1.0, 9.0]]].concat();
        let found = MeanSquare::of_pairs(&heavy).unwrap();
        assert!(found.degrees_of_freedom < 4.0, "{found:?}");
        assert!(MeanSquare::of_pairs(&list[..5]).is_err());
        assert!(MeanSquare::of_pairs(&[[f64::NAN, 1.0]; 6]).is_err());
        let none = MeanSquare::of_pairs(&[[1.0, 1.0]; 8]).unwrap();
        assert_eq!((none.value, none.degrees_of_freedom), (0.0, 8.0));
    }

    #[test]
    fn a_share_stays_within_nothing_and_all() {
        let large = MeanSquare { value: 9.0, degrees_of_freedom: 30.0 };
        let small = MeanSquare { value: 1.0, degrees_of_freedom: 30.0 };
        let found = share(&[large, small], &[1.0, -1.0], &[1.0, 0.0], 0.95).unwrap().unwrap();
        assert!(close(found.value, 8.0 / 9.0), "{found:?}");
        assert!(found.interval.lower > 0.5 && found.interval.upper < 1.0, "{found:?}");
        let none = share(&[small, large], &[1.0, -1.0], &[1.0, 0.0], 0.95).unwrap().unwrap();
        assert_eq!((none.value, none.interval.lower), (0.0, 0.0));
        let nothing = MeanSquare { value: 0.0, ..small };
        assert_eq!(share(&[nothing], &[1.0], &[1.0], 0.95), Ok(None));
        assert!(share(&[small], &[1.0, 2.0], &[1.0], 0.95).is_err());
    }

    #[test]
    fn calibration_of_components_whose_variances_are_known() {
        type Source = (&'static str, fn(&mut Noise) -> f64, f64);
        // Variances 1, 1, and 0.05·0.95·(1/0.25)² = 0.76.
        let sources: [Source; 3] = [
            ("normal", Noise::normal, 1.0),
            ("uniform", |noise| 12.0_f64.sqrt() * (noise.uniform() - 0.5), 1.0),
            ("rare slow", |noise| if noise.uniform() < 0.05 { 4.0 } else { 0.0 }, 0.76),
        ];
        for (seed, (shape, source, truth)) in (500..).zip(sources) {
            let name = format!("variance split, {shape} layouts, 25 pairs: interval holds it");
            let covered = rate(&name, seed, |noise| {
                let machine = square(noise, 25, |noise| 0.5 * noise.normal());
                let code = square(noise, 25, |noise| source(noise) + 0.5 * noise.normal());
                let found = combination(&[(1.0, code), (-1.0, machine)], 0.95).unwrap();
                found.interval.contains(truth)
            });
            // Rare layouts have a variance that few pairs cannot know, as no mean of them.
            covered.at_least(if shape == "rare slow" { 0.85 } else { 0.93 });
        }
        rate("share of one of two equal parts, 25 pairs: interval holds it", 510, |noise| {
            let machine = square(noise, 25, |noise| 0.3 * noise.normal());
            let code = square(noise, 25, |noise| noise.normal() + 0.3 * noise.normal());
            let all =
                square(noise, 25, |noise| noise.normal() + noise.normal() + 0.3 * noise.normal());
            let found = share(&[code, machine, all], &[1.0, -1.0, 0.0], &[0.0, 0.0, 1.0], 0.95);
            found.unwrap().unwrap().interval.contains(1.0 / 2.09)
        })
        .at_least(0.93);
    }
}
