//! Tail probabilities, exact far out in the tail where 1 − distribution function would be 0.
//!
//! By the regularized incomplete beta and gamma functions (Abramowitz and Stegun 1964, 26.4.19,
//! 26.5.27, 26.6.2).

use statrs::function::beta::beta_reg;
use statrs::function::gamma::gamma_ur;

/// P(Z > `z`) of the standard normal distribution.
#[must_use]
pub fn normal_upper(z: f64) -> f64 {
    let half = 0.5 * normal_two_sided(z);
    if z < 0.0 { 1.0 - half } else { half }
}

/// P(|Z| > |`z`|) of the standard normal distribution.
///
/// By the incomplete gamma function Q(½, z²/2): statrs' `erfc` is good to eleven digits only.
#[must_use]
pub fn normal_two_sided(z: f64) -> f64 {
    if z == 0.0 {
        return 1.0;
    }
    // Smaller than any number; and the series is not made for infinity.
    if z.abs() > 40.0 {
        return 0.0;
    }
    gamma_ur(0.5, z * z / 2.0).clamp(0.0, 1.0)
}

/// P(|T| > |`t`|) of Student's t distribution with `degrees_of_freedom` > 0; 0 for infinite `t`.
#[must_use]
pub fn student_t_two_sided(t: f64, degrees_of_freedom: f64) -> f64 {
    let square = t * t;
    if square.is_infinite() {
        return 0.0;
    }
    let share = degrees_of_freedom / (degrees_of_freedom + square);
    beta_reg(degrees_of_freedom / 2.0, 0.5, share).clamp(0.0, 1.0)
}

/// P(T > `t`) of Student's t distribution with `degrees_of_freedom` > 0.
#[must_use]
pub fn student_t_upper(t: f64, degrees_of_freedom: f64) -> f64 {
    let half = 0.5 * student_t_two_sided(t, degrees_of_freedom);
    if t < 0.0 { 1.0 - half } else { half }
}

/// P(F > `f`) of the F distribution; both degrees of freedom positive; 0 for infinite `f`.
#[must_use]
pub fn f_upper(f: f64, numerator_df: f64, denominator_df: f64) -> f64 {
    if f <= 0.0 {
        return 1.0;
    }
    let share = denominator_df / (denominator_df + numerator_df * f);
    beta_reg(denominator_df / 2.0, numerator_df / 2.0, share).clamp(0.0, 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::calibration::data::{cases, number, numbers};

    #[test]
    fn tails_agree_with_scipy_relatively() {
        for case in cases("parametric", "distributions") {
            let arguments = numbers(&case["arguments"]);
            let expected = number(&case["upper"]);
            let found = match case["law"].as_str().unwrap() {
                "t" => student_t_upper(arguments[0], arguments[1]),
                "normal" => normal_upper(arguments[0]),
                _ => f_upper(arguments[0], arguments[1], arguments[2]),
            };
            let error = (found - expected).abs() / expected;
            assert!(error < 1e-11, "{case}: found {found}");
        }
    }

    #[test]
    fn two_sides_are_twice_one() {
        assert_eq!(normal_two_sided(-2.0), 2.0 * normal_upper(2.0));
        assert_eq!(student_t_two_sided(-2.0, 3.0), 2.0 * student_t_upper(2.0, 3.0));
        assert_eq!(student_t_two_sided(f64::INFINITY, 3.0), 0.0);
        assert_eq!(student_t_upper(f64::NEG_INFINITY, 3.0), 1.0);
        assert_eq!(f_upper(f64::INFINITY, 2.0, 3.0), 0.0);
    }
}
