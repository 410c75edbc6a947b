//! One-way analysis of variance within subjects: k levels, each measured on the same programs.
//!
//! The paper's test over a suite: programs are the subjects, optimization levels the treatment.
//! Model and F after Winer (1971, chapter 4); the correction for unequal correlations after
//! Greenhouse and Geisser (1959); the interval of a level after Loftus and Masson (1994);
//! generalized eta squared after Olejnik and Algina (2003).
#![forbid(unsafe_code)]

use super::data::{DataError, check, finite, scale_of, times};
use super::describe::mean;
use super::fixed::{Interval, student_t_quantile, t_interval};
use super::multiplicity::holm;
use super::tail::{f_upper, student_t_two_sided};

/// Result of [`within_subjects`].
#[derive(Clone, Debug, PartialEq)]
pub struct WithinSubjects {
    /// Mean of each level, in the unit of the data.
    pub means: Vec<f64>,
    /// Half the width of the interval of each level's mean: right for comparing levels with one
    /// another, for it leaves out how much the subjects differ.
    pub half_width: f64,
    /// Mean square of the levels over mean square of the error.
    pub f: f64,
    /// k − 1 and (k − 1)(n − 1).
    pub degrees_of_freedom: [usize; 2],
    /// p of "all levels have the same mean", if differences of any two levels vary equally.
    pub p: f64,
    /// Greenhouse and Geisser's ε: 1 if they do (always for two levels), down to 1/(k − 1).
    pub epsilon: f64,
    /// p with both degrees of freedom multiplied by ε.
    pub p_corrected: f64,
    /// SS levels / (SS levels + SS error).
    pub partial_eta_squared: f64,
    /// SS levels / (SS levels + SS subjects + SS error).
    pub generalized_eta_squared: f64,
}

/// Analyses one row per subject, one value per level in each; intervals with `confidence` in (0,
/// 1).
///
/// # Errors
/// [`DataError`] below 2 rows or levels, for rows of different lengths, values that are not finite,
/// or if the levels differ by the same in every row (no error to divide by).
pub fn within_subjects<R: AsRef<[f64]>>(
    rows: &[R],
    confidence: f64,
) -> Result<WithinSubjects, DataError> {
    let (subjects, levels) = shape(rows)?;
    if !(confidence > 0.0 && confidence < 1.0) {
        return Err(DataError::Parameter("confidence"));
    }
    let slices: Vec<&[f64]> = rows.iter().map(AsRef::as_ref).collect();
    let scale = scale_of(&slices);
    let scaled: Vec<Vec<f64>> = slices.iter().map(|row| times(row, scale)).collect();
    let subject_means: Vec<f64> = scaled.iter().map(|row| mean(row).unwrap_or_default()).collect();
    let grand = mean(&subject_means).unwrap_or_default();
    // What is left of each row without its subject: 100 ms and 10 s programs have no common scale
    // otherwise.
    let centered: Vec<Vec<f64>> = scaled
        .iter()
        .zip(&subject_means)
        .map(|(row, center)| row.iter().map(|value| value - center).collect())
        .collect();
    let effects: Vec<f64> = (0..levels)
        .map(|level| centered.iter().map(|row| row[level]).sum::<f64>() / subjects as f64)
        .collect();
    let residuals: Vec<Vec<f64>> = centered
        .iter()
        .map(|row| row.iter().zip(&effects).map(|(value, effect)| value - effect).collect())
        .collect();

    let squares =
        |values: &mut dyn Iterator<Item = f64>| values.map(|value| value * value).sum::<f64>();
    let level_square = subjects as f64 * squares(&mut effects.iter().copied());
    let subject_square =
        levels as f64 * squares(&mut subject_means.iter().map(|value| value - grand));
    let error_square = squares(&mut residuals.iter().flatten().copied());
    // After scaling, rounding alone leaves squares of about ε² a value.
    if error_square <= (subjects * levels) as f64 * (4.0 * f64::EPSILON).powi(2) {
        return Err(DataError::NoSpread);
    }
    let degrees_of_freedom = [levels - 1, (levels - 1) * (subjects - 1)];
    let [level_df, error_df] = degrees_of_freedom.map(|df| df as f64);
    let f = (level_square / level_df) / (error_square / error_df);
    let epsilon = greenhouse_geisser(&residuals);
    let quantile = student_t_quantile(f64::midpoint(1.0, confidence), error_df);
    let half_width = quantile * (error_square / error_df / subjects as f64).sqrt();
    Ok(WithinSubjects {
        means: effects
            .iter()
            .map(|effect| finite((effect + grand) / scale))
            .collect::<Result<_, _>>()?,
        half_width: finite(half_width / scale)?,
        f,
        degrees_of_freedom,
        p: f_upper(f, level_df, error_df),
        epsilon,
        p_corrected: f_upper(f, epsilon * level_df, epsilon * error_df),
        partial_eta_squared: level_square / (level_square + error_square),
        generalized_eta_squared: level_square / (level_square + subject_square + error_square),
    })
}

/// One level against the reference level, paired by subject.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Contrast {
    /// The level, from 0.
    pub level: usize,
    /// Mean of (level − reference) over subjects.
    pub difference: f64,
    /// Interval of that mean, not widened for the number of levels.
    pub interval: Interval,
    /// The mean in standard errors.
    pub t: f64,
    /// Two-sided p of this contrast alone.
    pub p: f64,
    /// p adjusted by Holm for all contrasts.
    pub p_holm: f64,
}

/// Compares each level with the `reference` level (from 0).
///
/// # Errors
/// As [`within_subjects`], and [`DataError::Parameter`] for a reference that does not exist.
pub fn contrasts<R: AsRef<[f64]>>(
    rows: &[R],
    reference: usize,
    confidence: f64,
) -> Result<Vec<Contrast>, DataError> {
    let (subjects, levels) = shape(rows)?;
    if reference >= levels {
        return Err(DataError::Parameter("reference level"));
    }
    if !(confidence > 0.0 && confidence < 1.0) {
        return Err(DataError::Parameter("confidence"));
    }
    let mut found = Vec::new();
    for level in (0..levels).filter(|level| *level != reference) {
        let differences: Vec<f64> =
            rows.iter().map(|row| row.as_ref()[level] - row.as_ref()[reference]).collect();
        check(&differences, 2).map_err(|_| DataError::OutOfRange)?;
        let scale = scale_of(&[&differences]);
        let scaled = times(&differences, scale);
        let (Some(center), Some(interval)) = (mean(&scaled), t_interval(&scaled, confidence))
        else {
            return Err(DataError::TooFew { needed: 2, found: subjects });
        };
        let df = (subjects - 1) as f64;
        let quantile = student_t_quantile(f64::midpoint(1.0, confidence), df);
        let error = (interval.upper - interval.lower) / 2.0 / quantile;
        if error <= f64::EPSILON {
            return Err(DataError::NoSpread);
        }
        let t = center / error;
        found.push(Contrast {
            level,
            difference: finite(center / scale)?,
            interval: Interval {
                lower: finite(interval.lower / scale)?,
                upper: finite(interval.upper / scale)?,
            },
            t,
            p: student_t_two_sided(t, df),
            p_holm: 1.0,
        });
    }
    let alone: Vec<f64> = found.iter().map(|contrast| contrast.p).collect();
    for (contrast, adjusted) in found.iter_mut().zip(holm(&alone)?) {
        contrast.p_holm = adjusted;
    }
    Ok(found)
}

/// Rows and columns.
fn shape<R: AsRef<[f64]>>(rows: &[R]) -> Result<(usize, usize), DataError> {
    let Some(levels) = rows.first().map(|row| row.as_ref().len()) else {
        return Err(DataError::TooFew { needed: 2, found: 0 });
    };
    for row in rows {
        if row.as_ref().len() != levels {
            return Err(DataError::UnequalLengths);
        }
        check(row.as_ref(), 2)?;
    }
    if rows.len() < 2 {
        return Err(DataError::TooFew { needed: 2, found: rows.len() });
    }
    Ok((rows.len(), levels))
}

/// ε = (tr S)² / ((k − 1)·Σ sᵢⱼ²), S the double-centred covariances of the levels: those of the
/// residuals.
fn greenhouse_geisser(residuals: &[Vec<f64>]) -> f64 {
    let levels = residuals[0].len();
    let (mut trace, mut squares) = (0.0, 0.0);
    for one in 0..levels {
        for other in 0..levels {
            let product: f64 = residuals.iter().map(|row| row[one] * row[other]).sum();
            squares += product * product;
            if one == other {
                trace += product;
            }
        }
    }
    let least = 1.0 / (levels - 1) as f64;
    // Squares of squares vanish below 1e-80; then nothing is known, and 1/(k−1) is the safe bound.
    let found = trace * trace * least / squares;
    if found.is_finite() { found.clamp(least, 1.0) } else { least }
}

#[cfg(test)]
mod tests;
