//! How a ratio of sums follows a dose: an amount per count, as the time per visit of a progress
//! point, that is changed by a dose, as a virtual speedup, which was drawn for each observation.
//!
//! **Estimates.** At one dose the ratio is Σ amount / Σ count. Over doses it is the line a + b·dose
//! that solves Σ (amount − count·(a + b·dose)) = 0 and the same times the dose: least squares
//! weighted by counts, which at a single dose is the ratio of sums again. What is told is the
//! *reduction*, as a share of the ratio at dose 0: 1 − p_s/p_0 at a dose, −b/a for the slope.
//!
//! **Errors.** The variance of an amount is taken as proportional to the count that is expected of
//! it, and measured by the residuals. A reduction ρ = N/D is held against the t e-value of N − ρ·D
//! in the linear model ([`ln_e_value`]), as Fieller (1954) did with t: the ρ that are not refused
//! form a confidence sequence, which needs no linear approximation of the ratio and holds at every
//! number of observations at once.

use super::data::{DataError, finite};
use super::fixed::Interval;
use super::sequential::{critical_square, ln_e_value};

/// Fewest observations that may decide anything.
pub const MIN_OBSERVATIONS: usize = 10;

/// Variance of the prior of an effect, in units of that of one average observation: effects of
/// about ten of its standard deviations.
const PRIOR_VARIANCE: f64 = 100.0;

/// One observation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Observation {
    /// The dose, at least 0.
    pub dose: f64,
    /// The amount, at least 0.
    pub amount: f64,
    /// The count, at least 0.
    pub count: f64,
}

/// A reduction N/D with what its errors need.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Reduction {
    numerator: f64,
    denominator: f64,
    /// Variances and covariance of the two in units of [`Self::variance`].
    covariance: Covariance,
    /// Variance of an average observation.
    variance: f64,
    /// Degrees of freedom of the residuals that the variance was measured by.
    pub degrees_of_freedom: f64,
    /// Observations that it rests on.
    pub observations: usize,
}

#[derive(Clone, Copy, Debug, PartialEq)]
struct Covariance {
    numerator: f64,
    denominator: f64,
    both: f64,
}

/// A dose and what it changed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Level {
    /// The dose.
    pub dose: f64,
    /// Reduction of the ratio against that at dose 0.
    pub reduction: Reduction,
}

impl Reduction {
    /// The estimate.
    #[must_use]
    pub fn value(&self) -> f64 {
        self.numerator / self.denominator
    }

    /// 1/E of "nothing changes", at most 1: a p-value that holds however often one looks.
    #[must_use]
    pub fn p(&self) -> f64 {
        if self.variance.is_infinite() {
            return 1.0;
        }
        let (variance, precision) = self.at(0.0);
        let t = self.numerator / variance.sqrt();
        (-ln_e_value(precision, self.degrees_of_freedom, t)).exp().min(1.0)
    }

    /// Confidence sequence at error rate 0 < `alpha` < 1; ends may be infinite.
    #[must_use]
    pub fn interval(&self, alpha: f64) -> Interval {
        Interval { lower: self.end(alpha, -1.0), upper: self.end(alpha, 1.0) }
    }

    /// Variance of N − ρ·D, and the prior's variance over it.
    fn at(&self, ratio: f64) -> (f64, f64) {
        let of = self.covariance;
        let unit = of.numerator - 2.0 * ratio * of.both + ratio * ratio * of.denominator;
        // Its prior grows with the ratio as its variance does, so that no far one is let in.
        (self.variance * unit, PRIOR_VARIANCE * (1.0 + ratio * ratio) / unit)
    }

    fn is_refused(&self, ratio: f64, alpha: f64) -> bool {
        let (variance, precision) = self.at(ratio);
        let square = (self.numerator - ratio * self.denominator).powi(2) / variance;
        square > critical_square(precision, self.degrees_of_freedom, alpha)
    }

    /// Goes from the estimate in a direction until a ratio is refused, and halves the last step.
    fn end(&self, alpha: f64, direction: f64) -> f64 {
        if self.variance.is_infinite() {
            return direction * f64::INFINITY;
        }
        let mut inside = self.value();
        let mut step = (self.at(inside).0.sqrt() / self.denominator).max(f64::MIN_POSITIVE);
        let mut outside = inside + direction * step;
        while !self.is_refused(outside, alpha) {
            inside = outside;
            step *= 2.0;
            outside += direction * step;
            if step > 1e6 {
                return direction * f64::INFINITY;
            }
        }
        for _ in 0..60 {
            let middle = f64::midpoint(inside, outside);
            if self.is_refused(middle, alpha) {
                outside = middle;
            } else {
                inside = middle;
            }
        }
        outside
    }
}

/// Reduction per unit of dose, by the line through all doses.
///
/// # Errors
/// [`DataError`] below three observations or two doses, for numbers that are out of range, if
/// nothing was counted, or if the residuals do not vary.
pub fn slope(observations: &[Observation]) -> Result<Reduction, DataError> {
    check(observations, 3)?;
    let scale = mean_count(observations)?;
    let mut moments = [0.0; 3];
    let (mut amount, mut dosed) = (0.0, 0.0);
    for one in observations {
        let weight = one.count / scale;
        moments[0] += weight;
        moments[1] += weight * one.dose;
        moments[2] += weight * one.dose * one.dose;
        amount += one.amount / scale;
        dosed += one.amount * one.dose / scale;
    }
    let [zeroth, first, second] = moments;
    let determinant = zeroth * second - first * first;
    if determinant <= 1e-12 * zeroth * second {
        return Err(DataError::NoSpread);
    }
    let start = (second * amount - first * dosed) / determinant;
    let rise = (zeroth * dosed - first * amount) / determinant;
    let degrees_of_freedom = (observations.len() - 2) as f64;
    let sums = sums_by_dose(observations, scale);
    let line = |one: &Observation| start + rise * one.dose;
    let variance = residual_variance(observations, &sums, scale, degrees_of_freedom, line)?;
    positive(start)?;
    Ok(Reduction {
        numerator: -rise,
        denominator: start,
        covariance: Covariance {
            numerator: zeroth / determinant,
            denominator: second / determinant,
            both: first / determinant,
        },
        variance,
        degrees_of_freedom,
        observations: observations.len(),
    })
}

/// Reductions at each dose above 0, in ascending order, against dose 0. All doses share one
/// variance; where no dose was given twice it is not known, and intervals are open. Doses at which
/// nothing was counted are left out.
///
/// # Errors
/// [`DataError`] without observations at dose 0 and at others, or for unfit numbers as [`slope`].
pub fn levels(observations: &[Observation]) -> Result<Vec<Level>, DataError> {
    check(observations, 3)?;
    let scale = mean_count(observations)?;
    let mut sums = sums_by_dose(observations, scale);
    sums.retain(|sums| sums.count > 0.0);
    sums.sort_by(|one, other| one.dose.total_cmp(&other.dose));
    let counted = |one: &&Observation| sums.iter().any(|sums| sums.dose == one.dose);
    let used: Vec<Observation> = observations.iter().filter(counted).copied().collect();
    let base = *sums.first().filter(|sums| sums.dose == 0.0).ok_or(DataError::NoSpread)?;
    positive(base.ratio())?;
    let degrees_of_freedom = (used.len() - sums.len()) as f64;
    // What has no ratio to divide by has none at all.
    let own = |one: &Observation| ratio_at(&sums, one.dose).unwrap_or_default();
    let variance = if used.len() > sums.len() {
        residual_variance(&used, &sums, scale, degrees_of_freedom, own)?
    } else {
        f64::INFINITY
    };
    let level = |sums: &Sums| Level {
        dose: sums.dose,
        reduction: Reduction {
            numerator: base.ratio() - sums.ratio(),
            denominator: base.ratio(),
            covariance: Covariance {
                numerator: 1.0 / base.count + 1.0 / sums.count,
                denominator: 1.0 / base.count,
                both: 1.0 / base.count,
            },
            variance,
            degrees_of_freedom,
            observations: base.observations + sums.observations,
        },
    };
    Ok(sums.iter().skip(1).map(level).collect())
}

#[derive(Clone, Copy)]
struct Sums {
    dose: f64,
    amount: f64,
    count: f64,
    observations: usize,
}

impl Sums {
    fn ratio(&self) -> f64 {
        self.amount / self.count
    }
}

fn sums_by_dose(observations: &[Observation], scale: f64) -> Vec<Sums> {
    let mut sums: Vec<Sums> = Vec::new();
    for one in observations {
        let place = match sums.iter().position(|sums| sums.dose == one.dose) {
            Some(place) => place,
            None => {
                sums.push(Sums { dose: one.dose, amount: 0.0, count: 0.0, observations: 0 });
                sums.len() - 1
            }
        };
        sums[place].amount += one.amount / scale;
        sums[place].count += one.count / scale;
        sums[place].observations += 1;
    }
    sums
}

/// The ratio at a dose, if it is one to divide by.
fn ratio_at(sums: &[Sums], dose: f64) -> Option<f64> {
    let of_dose = sums.iter().find(|sums| sums.dose == dose && sums.count > 0.0);
    of_dose.map(Sums::ratio).filter(|&ratio| ratio > 0.0)
}

fn check(observations: &[Observation], needed: usize) -> Result<(), DataError> {
    if observations.len() < needed {
        return Err(DataError::TooFew { needed, found: observations.len() });
    }
    let fits = |one: &Observation| {
        let is_number = one.dose.is_finite() && one.amount.is_finite() && one.count.is_finite();
        is_number && one.dose >= 0.0 && one.amount >= 0.0 && one.count >= 0.0
    };
    if observations.iter().all(fits) { Ok(()) } else { Err(DataError::Parameter("observation")) }
}

fn mean_count(observations: &[Observation]) -> Result<f64, DataError> {
    let mean = observations.iter().map(|one| one.count).sum::<f64>() / observations.len() as f64;
    positive(mean)
}

fn positive(value: f64) -> Result<f64, DataError> {
    if finite(value)? > 0.0 { Ok(value) } else { Err(DataError::OutOfRange) }
}

/// Σ (amount − count·p)² / expected count, over the degrees of freedom, with counts in units of
/// `scale`. The expected count, amount over the ratio at that dose, stands for the one that was
/// seen, which may be 0; without an amount that one is taken.
fn residual_variance(
    observations: &[Observation],
    sums: &[Sums],
    scale: f64,
    degrees_of_freedom: f64,
    ratio: impl Fn(&Observation) -> f64,
) -> Result<f64, DataError> {
    let all = observations.iter().map(|one| one.amount / scale).sum::<f64>()
        / observations.iter().map(|one| one.count / scale).sum::<f64>();
    let mut squares = 0.0;
    for one in observations {
        let residual = (one.amount - one.count * ratio(one)) / scale;
        let expected = one.amount / scale / ratio_at(sums, one.dose).unwrap_or(all);
        let expected = if expected > 0.0 { expected } else { one.count / scale };
        if expected > 0.0 {
            squares += residual * residual / expected;
        }
    }
    let variance = finite(squares / degrees_of_freedom)?;
    // Less than rounding leaves.
    let largest = observations.iter().map(|one| one.amount / scale).fold(0.0, f64::max);
    if variance <= 1e-24 * largest * largest { Err(DataError::NoSpread) } else { Ok(variance) }
}

#[cfg(test)]
mod tests;
