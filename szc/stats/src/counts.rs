//! How many there are, if each is counted with the same small probability and independently of the
//! others.
//!
//! The count is then binomial, and for small probabilities that of Poisson, whose interval is
//! wider: Garwood's (1936, "Fiducial limits for the Poisson distribution") from the ends of the
//! gamma distribution. It misses the mean with at most the probability given, for every mean.

use statrs::function::gamma::{gamma_lr, gamma_ur};

use super::data::DataError;
use super::fixed::Interval;

/// Interval of the mean of a Poisson number that came out as `count`, which misses with at most
/// `alpha` in (0, 1).
///
/// # Errors
/// [`DataError`] for an `alpha` out of range.
pub fn poisson_interval(count: u64, alpha: f64) -> Result<Interval, DataError> {
    if !(alpha > 0.0 && alpha < 1.0) {
        return Err(DataError::Parameter("alpha"));
    }
    let x = count as f64;
    let lower = match count {
        0 => 0.0,
        // The probability of as many or more.
        _ => root(0.0, x, |mean| gamma_lr(x, mean) >= alpha / 2.0),
    };
    let mut beyond = 2.0 * x + 16.0;
    while gamma_ur(x + 1.0, beyond) > alpha / 2.0 {
        beyond *= 2.0;
    }
    // The probability of as many or fewer.
    let upper = root(x, beyond, |mean| mean > 0.0 && gamma_ur(x + 1.0, mean) <= alpha / 2.0);
    Ok(Interval { lower, upper })
}

/// Where between two numbers a condition begins to hold.
fn root(mut below: f64, mut above: f64, holds: impl Fn(f64) -> bool) -> f64 {
    for _ in 0..100 {
        let middle = f64::midpoint(below, above);
        if middle <= below || middle >= above {
            break;
        }
        if middle > 0.0 && holds(middle) { above = middle } else { below = middle }
    }
    f64::midpoint(below, above)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_are_those_of_r() {
        // poisson.test(x)$conf.int
        for (count, lower, upper) in [
            (0, 0.0, 3.688_879),
            (1, 0.025_317_81, 5.571_643),
            (10, 4.795_389, 18.390_356),
            (100, 81.363_99, 121.627_0),
        ] {
            let found = poisson_interval(count, 0.05).unwrap();
            let is_near = |a: f64, b: f64| (a - b).abs() <= 2e-6 * b.max(1.0);
            assert!(is_near(found.lower, lower) && is_near(found.upper, upper), "{found:?}");
        }
        assert!(poisson_interval(1, 0.0).is_err());
    }

    #[test]
    fn a_large_count_has_the_interval_of_a_normal_number() {
        let found = poisson_interval(1_000_000, 0.05).unwrap();
        assert!((found.lower - 998_041.0).abs() < 5.0, "{found:?}");
        assert!((found.upper - 1_001_962.0).abs() < 5.0, "{found:?}");
    }
}
