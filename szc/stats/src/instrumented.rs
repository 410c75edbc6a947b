//! The slope of y on x where x was changed from outside, by an amount that is known, and varies by
//! itself besides.
//!
//! What x varies by itself would draw a least-squares slope towards 0, and whatever moves x and y
//! together would draw it elsewhere. The known amount z does neither: the slope is
//! cov(z, y)/cov(z, x) (Wright 1928; Wald 1940), least squares where x does not vary by itself.
//! Its error is that of the residuals y − a − b·x, of the same variance everywhere, with n − 2
//! degrees of freedom.

use super::data::{DataError, finite};
use super::describe::mean;
use super::fixed::{CONFIDENCE, Interval, student_t_quantile};

/// Fewest observations.
pub const MIN_OBSERVATIONS: usize = 4;

/// One observation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Observation {
    /// What was changed from outside.
    pub amount: f64,
    /// What that changes.
    pub x: f64,
    /// What is to follow it.
    pub y: f64,
}

/// A slope with its interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Slope {
    /// Estimate.
    pub value: f64,
    /// 95 % interval.
    pub interval: Interval,
}

/// The slope.
///
/// # Errors
/// [`DataError`] below four observations, for numbers that are not finite, and where x does not
/// follow the amount.
pub fn slope(observations: &[Observation]) -> Result<Slope, DataError> {
    let found = observations.len();
    if found < MIN_OBSERVATIONS {
        return Err(DataError::TooFew { needed: MIN_OBSERVATIONS, found });
    }
    let column = |of: fn(&Observation) -> f64| -> Result<Vec<f64>, DataError> {
        let values: Vec<f64> =
            observations.iter().map(|one| finite(of(one))).collect::<Result<_, _>>()?;
        let centre = mean(&values).unwrap_or_default();
        Ok(values.into_iter().map(|value| value - centre).collect())
    };
    let (z, x, y) = (column(|one| one.amount)?, column(|one| one.x)?, column(|one| one.y)?);
    let product = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    let (followed, squares) = (product(&z, &x), product(&z, &z));
    if squares <= 0.0 || followed.abs() <= 1e-12 * (squares * product(&x, &x)).sqrt() {
        return Err(DataError::NoSpread);
    }
    let value = product(&z, &y) / followed;
    let residuals: f64 = x.iter().zip(&y).map(|(x, y)| (y - value * x).powi(2)).sum();
    let degrees_of_freedom = (found - 2) as f64;
    let error = (residuals / degrees_of_freedom * squares).sqrt() / followed.abs();
    let half = student_t_quantile(f64::midpoint(1.0, CONFIDENCE), degrees_of_freedom) * error;
    Ok(Slope { value, interval: Interval { lower: value - half, upper: value + half } })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Draws;

    fn observation(amount: f64, x: f64, y: f64) -> Observation {
        Observation { amount, x, y }
    }

    #[test]
    fn where_x_is_the_amount_it_is_least_squares_with_its_interval() {
        // Anscombe's first set (1973): slope 0.50009, standard error 0.1179 in R's lm.
        let x = [10.0, 8.0, 13.0, 9.0, 11.0, 14.0, 6.0, 4.0, 12.0, 7.0, 5.0];
        let y = [8.04, 6.95, 7.58, 8.81, 8.33, 9.96, 7.24, 4.26, 10.84, 4.82, 5.68];
        let data: Vec<_> = x.iter().zip(y).map(|(&x, y)| observation(x, x, y)).collect();
        let found = slope(&data).unwrap();
        assert!((found.value - 0.500_091).abs() < 1e-5, "{found:?}");
        // t(0.975, 9) = 2.262157.
        let half = 2.262_157 * 0.117_906;
        assert!((found.interval.upper - found.value - half).abs() < 1e-5, "{found:?}");
    }

    #[test]
    fn what_x_varies_by_itself_does_not_draw_the_slope_to_zero() {
        let mut draws = Draws::new(5);
        let mut noise = || draws.index(2001) as f64 / 1000.0 - 1.0;
        let data: Vec<_> = (0..4000)
            .map(|index| {
                let amount = f64::from(index % 8);
                observation(amount, amount + 4.0 * noise(), amount + 0.1 * noise())
            })
            .collect();
        let found = slope(&data).unwrap();
        assert!(found.interval.contains(1.0) && (found.value - 1.0).abs() < 0.06, "{found:?}");
        // Least squares gives 5.25/(5.25 + 16/3), about a half.
        let plain: Vec<_> = data.iter().map(|one| Observation { amount: one.x, ..*one }).collect();
        assert!(slope(&plain).unwrap().value < 0.6);
    }

    #[test]
    fn intervals_cover_as_often_as_they_say() {
        let mut draws = Draws::new(11);
        let mut covered = 0;
        for _ in 0..1000 {
            let mut noise = || (0..12).map(|_| draws.index(1001) as f64 / 1000.0).sum::<f64>();
            let data: Vec<_> = (0..40)
                .map(|index| {
                    let amount = f64::from(index % 8);
                    let own = 0.1 * noise();
                    observation(amount, amount + own, 0.5 * amount + own + 0.2 * noise())
                })
                .collect();
            covered += i32::from(slope(&data).unwrap().interval.contains(0.5));
        }
        // 95 %, and four standard deviations of a binomial count: 27.6.
        assert!((922..=978).contains(&covered), "{covered}");
    }

    #[test]
    fn what_does_not_change_has_no_slope() {
        let same = [observation(1.0, 1.0, 1.0); 5];
        assert_eq!(slope(&same), Err(DataError::NoSpread));
        assert_eq!(slope(&same[..3]), Err(DataError::TooFew { needed: 4, found: 3 }));
    }
}
