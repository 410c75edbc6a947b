//! One-way analysis of variance within subjects: k levels, each measured on the same programs,
//! which may have been measured in blocks: on different machines.
//!
//! The paper's test over a suite: programs are the subjects, optimization levels the treatment.
//! Model and F after Winer (1971, chapter 4); the correction for unequal correlations after
//! Greenhouse and Geisser (1959); the interval of a level after Loftus and Masson (1994);
//! generalized eta squared after Olejnik and Algina (2003). With blocks it is the split-plot
//! analysis (Winer, chapter 7): what levels do on one machine and not on another is no longer part
//! of the error, but a source of its own.

use super::data::{DataError, check, finite, scale_of, times};
use super::describe::mean;
use super::fixed::{Interval, student_t_quantile};
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
    /// k − 1 and (k − 1)(n − b), with b blocks.
    pub degrees_of_freedom: [usize; 2],
    /// p of "all levels have the same mean", if differences of any two levels vary equally.
    pub p: f64,
    /// Greenhouse and Geisser's ε: 1 if they do (always for two levels), down to 1/(k − 1).
    pub epsilon: f64,
    /// p with both degrees of freedom multiplied by ε.
    pub p_corrected: f64,
    /// SS levels / (SS levels + SS error).
    pub partial_eta_squared: f64,
    /// SS levels / SS of everything.
    pub generalized_eta_squared: f64,
    /// Levels that do not do the same in all blocks; `None` with one block.
    pub by_block: Option<ByBlock>,
}

/// The interaction of levels and blocks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ByBlock {
    /// Mean square of the interaction over mean square of the error.
    pub f: f64,
    /// (k − 1)(b − 1) and (k − 1)(n − b).
    pub degrees_of_freedom: [usize; 2],
    /// p of "levels do the same in all blocks".
    pub p: f64,
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
    within_subjects_in_blocks(rows, &vec![0; rows.len()], confidence)
}

/// The same for subjects in blocks, of which `block_of` has a number for each row.
///
/// # Errors
/// As [`within_subjects`], and without more rows than blocks.
pub fn within_subjects_in_blocks<R: AsRef<[f64]>>(
    rows: &[R],
    block_of: &[usize],
    confidence: f64,
) -> Result<WithinSubjects, DataError> {
    let (subjects, levels) = shape(rows)?;
    let members = blocks(block_of, subjects)?;
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
    let block_effects: Vec<Vec<f64>> = members
        .iter()
        .map(|rows| {
            let sum = |level: usize| rows.iter().map(|row| centered[*row][level]).sum::<f64>();
            (0..levels).map(|level| sum(level) / rows.len() as f64).collect()
        })
        .collect();
    let mut residuals = centered.clone();
    for (rows, effects) in members.iter().zip(&block_effects) {
        for row in rows {
            for (value, effect) in residuals[*row].iter_mut().zip(effects) {
                *value -= effect;
            }
        }
    }

    let squares =
        |values: &mut dyn Iterator<Item = f64>| values.map(|value| value * value).sum::<f64>();
    let level_square = subjects as f64 * squares(&mut effects.iter().copied());
    let subject_square =
        levels as f64 * squares(&mut subject_means.iter().map(|value| value - grand));
    let error_square = squares(&mut residuals.iter().flatten().copied());
    let block_square: f64 = members
        .iter()
        .zip(&block_effects)
        .map(|(rows, of_block)| {
            let own = of_block.iter().zip(&effects).map(|(own, all)| own - all);
            rows.len() as f64 * squares(&mut own.into_iter())
        })
        .sum();
    // After scaling, rounding alone leaves squares of about ε² a value.
    if error_square <= (subjects * levels) as f64 * (4.0 * f64::EPSILON).powi(2) {
        return Err(DataError::NoSpread);
    }
    let degrees_of_freedom = [levels - 1, (levels - 1) * (subjects - members.len())];
    let [level_df, error_df] = degrees_of_freedom.map(|df| df as f64);
    let error_mean_square = error_square / error_df;
    let by_block = (members.len() > 1).then(|| {
        let df = (levels - 1) * (members.len() - 1);
        let f = block_square / df as f64 / error_mean_square;
        ByBlock {
            f,
            degrees_of_freedom: [df, degrees_of_freedom[1]],
            p: f_upper(f, df as f64, error_df),
        }
    });
    let f = (level_square / level_df) / error_mean_square;
    let epsilon = greenhouse_geisser(&residuals);
    let quantile = student_t_quantile(f64::midpoint(1.0, confidence), error_df);
    let half_width = quantile * (error_mean_square / subjects as f64).sqrt();
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
        generalized_eta_squared: level_square
            / (level_square + subject_square + block_square + error_square),
        by_block,
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

/// Compares each level with the `reference` level (from 0); the error is what subjects of one block
/// differ by. `block_of` has a number for each row, all 0 for one block.
///
/// # Errors
/// As [`within_subjects`], [`DataError::Parameter`] for a reference that does not exist, and
/// without more rows than blocks.
pub fn contrasts_in_blocks<R: AsRef<[f64]>>(
    rows: &[R],
    block_of: &[usize],
    reference: usize,
    confidence: f64,
) -> Result<Vec<Contrast>, DataError> {
    let (subjects, levels) = shape(rows)?;
    let members = blocks(block_of, subjects)?;
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
        let center = mean(&scaled).unwrap_or_default();
        let squares: f64 = members
            .iter()
            .map(|rows| {
                let own: Vec<f64> = rows.iter().map(|row| scaled[*row]).collect();
                let center = mean(&own).unwrap_or_default();
                own.iter().map(|value| (value - center).powi(2)).sum::<f64>()
            })
            .sum();
        let df = (subjects - members.len()) as f64;
        let error = (squares / df / subjects as f64).sqrt();
        if error <= f64::EPSILON {
            return Err(DataError::NoSpread);
        }
        let t = center / error;
        let half = student_t_quantile(f64::midpoint(1.0, confidence), df) * error;
        found.push(Contrast {
            level,
            difference: finite(center / scale)?,
            interval: Interval {
                lower: finite((center - half) / scale)?,
                upper: finite((center + half) / scale)?,
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

/// The rows of each block; one more row than blocks is needed to have an error.
fn blocks(block_of: &[usize], subjects: usize) -> Result<Vec<Vec<usize>>, DataError> {
    if block_of.len() != subjects {
        return Err(DataError::UnequalLengths);
    }
    let mut names: Vec<usize> = block_of.to_vec();
    names.sort_unstable();
    names.dedup();
    if names.len() >= subjects {
        return Err(DataError::TooFew { needed: names.len() + 1, found: subjects });
    }
    let of = |name: &usize| (0..subjects).filter(|row| block_of[*row] == *name).collect();
    Ok(names.iter().map(of).collect())
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
