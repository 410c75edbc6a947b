//! Rules that stay valid when the data are looked at after every block.
//!
//! **The t e-value** is the Bayes factor of "the effect θ/σ is drawn from N(0, g)" against "θ =
//! μ₀", with the right-invariant prior on σ. For normal differences it is a nonnegative martingale
//! under the null hypothesis whatever σ is, so by Ville's inequality it ever reaches 1/α with a
//! probability of at most α (Rouder, Speckman, Sun, Morey and Iverson 2009, "Bayesian t tests"; Lai
//! 1976; Wang and Ramdas 2025, "Anytime-valid t-tests and confidence sequences for Gaussian means
//! with unknown variance"). The values of μ₀ that it does not reject form a **confidence
//! sequence**: with a probability of 1 − α the true mean is inside at every n at once.
//!
//! Differences are not normal, but if A and B change places at random (the order ABBA or BAAB is
//! drawn), their distribution is symmetric when nothing differs, and the rule errs on the safe
//! side. From [`MIN_BLOCKS`] on the t statistic may be trusted.

use super::data::{DataError, check, finite};
use super::describe::{mean, standard_deviation};
use super::fixed::{CONFIDENCE, Interval};

/// Fewest blocks that may decide anything.
pub const MIN_BLOCKS: usize = 10;

/// Probability with which the rule may ever find a difference that does not exist, α.
pub const ERROR_RATE: f64 = 1.0 - CONFIDENCE;

/// Variance g of the prior of θ/σ: effects of about one standard deviation between layouts.
pub const PRIOR_VARIANCE: f64 = 1.0;

/// ln E of the t e-value: `t` is √n·(x̄ − μ₀)/s of `count` ≥ 2 values.
///
/// E = (1+ng)^(−½) · [(1 + t²/ν) / (1 + t²/((1+ng)ν))]^((ν+1)/2) with ν = n − 1. An infinite `t`
/// (no spread) gives the limit (1+ng)^((n−1)/2).
#[must_use]
pub fn ln_t_e_value(count: usize, t: f64) -> f64 {
    let n = count as f64;
    ln_e_value(n * PRIOR_VARIANCE, n - 1.0, t)
}

/// The same for the t of any coefficient, or combination of coefficients, of a linear model:
/// `precision` is the prior's variance over that of the estimate, both in units of σ², and
/// `degrees_of_freedom` are those of the residuals. The other coefficients have flat priors
/// (Pérez-Ortiz, Lardy, de Heide and Grünwald 2024, "E-statistics, group invariance and
/// anytime-valid testing").
#[must_use]
pub fn ln_e_value(precision: f64, degrees_of_freedom: f64, t: f64) -> f64 {
    let widening = 1.0 + precision;
    let square = t * t / degrees_of_freedom;
    let ln_ratio = if square.is_infinite() {
        widening.ln()
    } else {
        square.ln_1p() - (square / widening).ln_1p()
    };
    0.5 * (degrees_of_freedom + 1.0) * ln_ratio - 0.5 * widening.ln()
}

/// The square of t at which [`ln_e_value`] is −ln `alpha`; infinite if it never is.
///
/// ν(K−1)/(1−K/(1+ng)) with K = (√(1+ng)/α)^(2/(ν+1)).
#[must_use]
pub fn critical_square(precision: f64, degrees_of_freedom: f64, alpha: f64) -> f64 {
    let widening = 1.0 + precision;
    let ln_k = (0.5 * widening.ln() - alpha.ln()) * 2.0 / (degrees_of_freedom + 1.0);
    if ln_k >= widening.ln() {
        return f64::INFINITY;
    }
    degrees_of_freedom * ln_k.exp_m1() / (1.0 - (ln_k - widening.ln()).exp())
}

/// Half the width of the confidence sequence of a mean after `count` values with standard
/// deviation `spread`, at error rate 0 < `alpha` < 1, in the unit of the values.
///
/// (s/√n)·√(ν(K−1)/(1−K/(1+ng))) with K = (√(1+ng)/α)^(2/(ν+1)); infinite while K ≥ 1+ng.
#[must_use]
pub fn half_width(count: usize, spread: f64, alpha: f64) -> f64 {
    if count < 2 {
        return f64::INFINITY;
    }
    let n = count as f64;
    spread / n.sqrt() * critical_square(n * PRIOR_VARIANCE, n - 1.0, alpha).sqrt()
}

/// What the rule says after the blocks so far. Valid at every n, however often it is asked.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MeanSequence {
    /// Number of blocks n.
    pub blocks: usize,
    /// Mean log ratio θ.
    pub mean: f64,
    /// Standard deviation of the log ratios over blocks, s.
    pub standard_deviation: f64,
    /// Confidence sequence of the mean at this n: θ ± [`half_width`] at [`ERROR_RATE`].
    pub interval: Interval,
    /// Evidence against "no difference": t e-value, 1 is none, 20 is enough at 5 %.
    pub e_value: f64,
    /// 1/E, at most 1: a p-value that stays valid under continuous looking.
    pub p: f64,
}

/// Applies the rule to one log ratio ln(B/A) per block, at [`ERROR_RATE`].
///
/// # Errors
/// [`DataError`] below [`MIN_BLOCKS`] or for a value that is not finite.
pub fn mean_sequence(differences: &[f64]) -> Result<MeanSequence, DataError> {
    check(differences, MIN_BLOCKS)?;
    let blocks = differences.len();
    let (Some(mean), Some(standard_deviation)) =
        (mean(differences), standard_deviation(differences))
    else {
        return Err(DataError::TooFew { needed: MIN_BLOCKS, found: blocks });
    };
    let half = finite(half_width(blocks, finite(standard_deviation)?, ERROR_RATE))?;
    let interval = Interval { lower: finite(mean)? - half, upper: mean + half };
    // Without spread t is 0/0 or infinite.
    let t = if mean == 0.0 { 0.0 } else { (blocks as f64).sqrt() * mean / standard_deviation };
    let e_value = ln_t_e_value(blocks, t).exp();
    let p = e_value.recip().min(1.0);
    Ok(MeanSequence { blocks, mean, standard_deviation, interval, e_value, p })
}

#[cfg(test)]
mod tests;
