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
//! side. From [`FEWEST_BLOCKS`] on the t statistic may be trusted. **The sign e-value** asks for
//! nothing but that symmetry, at the price of power.

use statrs::function::beta::ln_beta;

use super::data::{DataError, check, finite};
use super::describe::{mean, median, sorted, standard_deviation};
use super::fixed::{CONFIDENCE, Direction, Interval};

/// Fewest blocks that may decide anything.
pub const FEWEST_BLOCKS: usize = 10;

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
    let widening = 1.0 + n * PRIOR_VARIANCE;
    let square = t * t / (n - 1.0);
    let ln_ratio = if square.is_infinite() {
        widening.ln()
    } else {
        square.ln_1p() - (square / widening).ln_1p()
    };
    0.5 * n * ln_ratio - 0.5 * widening.ln()
}

/// Half the width of the confidence sequence of a mean after `count` values with standard
/// deviation `spread`, at error rate 0 < `alpha` < 1, in the unit of the values.
///
/// (s/√n)·√(ν(K−1)/(1−K/(1+ng))) with K = (√(1+ng)/α)^(2/(ν+1)); infinite while K ≥ 1+ng.
#[must_use]
pub fn half_width(count: usize, spread: f64, alpha: f64) -> f64 {
    let n = count as f64;
    let widening = 1.0 + n * PRIOR_VARIANCE;
    let ln_k = (0.5 * widening.ln() - alpha.ln()) * 2.0 / n;
    if count < 2 || ln_k >= widening.ln() {
        return f64::INFINITY;
    }
    let square = (n - 1.0) * ln_k.exp_m1() / (1.0 - (ln_k - widening.ln()).exp());
    spread / n.sqrt() * square.sqrt()
}

/// ln E of the sign e-value: 2ⁿ·B(k+1, n−k+1), the average of the likelihood ratio over all
/// probabilities of a plus sign (Robbins 1970, "Statistical methods related to the law of the
/// iterated logarithm"). `positive` of the differences are above the hypothesis and `negative`
/// below; equal ones do not count.
#[must_use]
pub fn ln_sign_e_value(positive: usize, negative: usize) -> f64 {
    if positive + negative == 0 {
        return 0.0;
    }
    let (k, rest) = (positive as f64, negative as f64);
    (k + rest) * std::f64::consts::LN_2 + ln_beta(k + 1.0, rest + 1.0)
}

/// Confidence sequence of the median: `[x₍c+1₎, x₍n−c₎]`, where c is the largest count of values on
/// one side that the sign e-value rejects at `alpha`. The whole line while it rejects nothing (up
/// to 7 blocks at 5 %).
///
/// # Errors
/// [`DataError`] for an empty list or a value that is not finite.
pub fn sign_sequence(values: &[f64], alpha: f64) -> Result<Interval, DataError> {
    check(values, 1)?;
    let count = values.len();
    // The e-value falls as the smaller count approaches the half.
    let rejected = (0..=count / 2)
        .take_while(|&few| ln_sign_e_value(few, count - few) >= -alpha.ln() && 2 * few < count)
        .count();
    if rejected == 0 {
        return Ok(Interval { lower: f64::NEG_INFINITY, upper: f64::INFINITY });
    }
    let ascending = sorted(values);
    Ok(Interval { lower: ascending[rejected - 1], upper: ascending[count - rejected] })
}

/// The confidence sequence of the mean at one n.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MeanSequence {
    /// Number of blocks n.
    pub blocks: usize,
    /// Mean log ratio θ.
    pub mean: f64,
    /// Standard deviation of the log ratios over blocks, s.
    pub standard_deviation: f64,
    /// θ ± [`half_width`] at [`ERROR_RATE`].
    pub interval: Interval,
}

/// Confidence sequence of the mean of one log ratio ln(B/A) per block: all that a verdict needs.
///
/// # Errors
/// [`DataError`] below [`FEWEST_BLOCKS`] or for a value that is not finite.
pub fn mean_sequence(differences: &[f64]) -> Result<MeanSequence, DataError> {
    check(differences, FEWEST_BLOCKS)?;
    let blocks = differences.len();
    let (Some(mean), Some(standard_deviation)) =
        (mean(differences), standard_deviation(differences))
    else {
        return Err(DataError::TooFew { needed: FEWEST_BLOCKS, found: blocks });
    };
    let half = finite(half_width(blocks, finite(standard_deviation)?, ERROR_RATE))?;
    let interval = Interval { lower: finite(mean)? - half, upper: mean + half };
    Ok(MeanSequence { blocks, mean, standard_deviation, interval })
}

/// What the rule says after the blocks so far. Valid at every n, however often it is asked.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SequentialAnalysis {
    /// Number of blocks n.
    pub blocks: usize,
    /// Mean log ratio θ.
    pub mean: f64,
    /// Standard deviation of the log ratios over blocks, s.
    pub standard_deviation: f64,
    /// Evidence against "no difference": t e-value, 1 is none, 20 is enough at 5 %.
    pub e_value: f64,
    /// 1/E, at most 1: a p-value that stays valid under continuous looking.
    pub p: f64,
    /// Confidence sequence of the mean at this n.
    pub interval: Interval,
    /// Verdict of that interval.
    pub direction: Direction,
    /// Median log ratio.
    pub median: f64,
    /// Evidence of the signs alone.
    pub sign_e_value: f64,
    /// Confidence sequence of the median at this n.
    pub sign_interval: Interval,
}

/// Applies the rule to one log ratio ln(B/A) per block, at [`ERROR_RATE`].
///
/// # Errors
/// [`DataError`] below [`FEWEST_BLOCKS`] or for a value that is not finite.
pub fn analyse(differences: &[f64]) -> Result<SequentialAnalysis, DataError> {
    let MeanSequence { blocks, mean, standard_deviation, interval } = mean_sequence(differences)?;
    let middle = median(differences).ok_or(DataError::TooFew { needed: 1, found: 0 })?;
    // Without spread t is 0/0 or infinite.
    let t = if mean == 0.0 { 0.0 } else { (blocks as f64).sqrt() * mean / standard_deviation };
    let e_value = ln_t_e_value(blocks, t).exp();
    let positive = differences.iter().filter(|&&value| value > 0.0).count();
    let negative = differences.iter().filter(|&&value| value < 0.0).count();
    Ok(SequentialAnalysis {
        blocks,
        mean,
        standard_deviation,
        e_value,
        p: e_value.recip().min(1.0),
        interval,
        direction: interval.direction(),
        median: middle,
        sign_e_value: ln_sign_e_value(positive, negative).exp(),
        sign_interval: sign_sequence(differences, ERROR_RATE)?,
    })
}

#[cfg(test)]
mod tests;
