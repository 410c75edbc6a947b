//! What every function of this folder asks of its numbers, and what it says when they are unfit.
//!
//! A measurement can be missing, infinite or the same every time. None of that is a reason to
//! panic, and none may pass silently through a test as a p-value: it becomes a [`DataError`].

use std::fmt;

/// Why a statistic does not exist for the numbers given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DataError {
    /// Fewer values than the method needs.
    TooFew {
        /// Fewest values (or groups, or rows) for which the method is defined.
        needed: usize,
        /// How many there are.
        found: usize,
    },
    /// More values than the method was made for.
    TooMany {
        /// Most values for which the method is defined.
        most: usize,
        /// How many there are.
        found: usize,
    },
    /// A value is infinite or not a number.
    NotFinite {
        /// Its place in the list, from 0.
        index: usize,
    },
    /// All values are the same, or differ by less than their rounding, where the method divides
    /// by their spread.
    NoSpread,
    /// Lists that belong together have different lengths.
    UnequalLengths,
    /// A parameter, named here, is outside its range.
    Parameter(&'static str),
    /// The result cannot be represented: the values are too large or too small for it.
    OutOfRange,
}

impl fmt::Display for DataError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooFew { needed, found } => {
                write!(formatter, "{found} values are too few: at least {needed} are needed")
            }
            Self::TooMany { most, found } => {
                write!(formatter, "{found} values are too many: the method is defined up to {most}")
            }
            Self::NotFinite { index } => {
                write!(formatter, "value {index} (counted from 0) is not a finite number")
            }
            Self::NoSpread => write!(formatter, "the values do not vary"),
            Self::UnequalLengths => write!(formatter, "lists that are paired differ in length"),
            Self::Parameter(name) => write!(formatter, "{name} is outside its range"),
            Self::OutOfRange => write!(formatter, "the values are too large or too small"),
        }
    }
}

impl std::error::Error for DataError {}

/// Checks that there are at least `needed` values and that all are finite.
///
/// # Errors
/// [`DataError::TooFew`] or [`DataError::NotFinite`].
pub(super) fn check(values: &[f64], needed: usize) -> Result<(), DataError> {
    if values.len() < needed {
        return Err(DataError::TooFew { needed, found: values.len() });
    }
    match values.iter().position(|value| !value.is_finite()) {
        Some(index) => Err(DataError::NotFinite { index }),
        None => Ok(()),
    }
}

/// `value`, if it is a finite number.
pub(super) fn finite(value: f64) -> Result<f64, DataError> {
    if value.is_finite() { Ok(value) } else { Err(DataError::OutOfRange) }
}

/// Whether all values are equal.
pub(super) fn is_constant(values: &[f64]) -> bool {
    values.windows(2).all(|pair| pair[0] == pair[1])
}

/// The power of two by which to multiply so that the largest magnitude becomes 1/2 to 1.
///
/// Squares of the products neither overflow nor vanish, and multiplying by a power of two rounds
/// nothing (except numbers that are smaller than the largest by a factor of 2⁻⁹⁰⁰ or more, which no
/// sum would notice). Statistics without a unit are computed from the products.
pub(super) fn scale_of(groups: &[&[f64]]) -> f64 {
    let largest = groups.iter().copied().flatten().fold(0.0, |most, value| value.abs().max(most));
    if largest == 0.0 {
        return 1.0;
    }
    let (mut scale, mut product): (f64, f64) = (1.0, largest);
    while product >= 1.0 {
        (scale, product) = (scale / 2.0, product / 2.0);
    }
    // 2¹⁰²³ is the largest power of two.
    while product < 0.5 && scale < 2.0_f64.powi(1023) {
        (scale, product) = (scale * 2.0, product * 2.0);
    }
    scale
}

/// The values times `scale`.
pub(super) fn times(values: &[f64], scale: f64) -> Vec<f64> {
    values.iter().map(|value| value * scale).collect()
}

/// Ranks from 1, ties sharing the mean of their ranks, and the sizes of the groups of ties.
pub(super) fn ranks(values: &[f64]) -> (Vec<f64>, Vec<usize>) {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|&one, &other| values[one].total_cmp(&values[other]));
    let mut ranks = vec![0.0; values.len()];
    let mut ties = Vec::new();
    let mut start = 0;
    while start < order.len() {
        let first = values[order[start]];
        let length = order[start..].iter().take_while(|&&place| values[place] == first).count();
        let shared = start as f64 + (length as f64 + 1.0) / 2.0;
        for &place in &order[start..start + length] {
            ranks[place] = shared;
        }
        ties.push(length);
        start += length;
    }
    (ranks, ties)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unfit_numbers_are_named() {
        assert_eq!(check(&[1.0], 2), Err(DataError::TooFew { needed: 2, found: 1 }));
        assert_eq!(check(&[1.0, f64::NAN], 2), Err(DataError::NotFinite { index: 1 }));
        assert_eq!(check(&[f64::INFINITY], 0), Err(DataError::NotFinite { index: 0 }));
        assert_eq!(check(&[], 0), Ok(()));
        assert!(DataError::NotFinite { index: 1 }.to_string().contains("value 1"));
    }

    #[test]
    fn scaling_brings_the_largest_magnitude_below_one_from_anywhere() {
        for value in [1e-300, 0.3, 1.0, -7.5, 1e300, f64::MAX] {
            let product = (value * scale_of(&[&[0.0], &[value]])).abs();
            assert!((0.5..1.0).contains(&product), "{value} became {product}");
        }
        assert_eq!(scale_of(&[&[0.0, 0.0]]), 1.0);
        assert!((5e-324 * scale_of(&[&[5e-324]])).is_normal());
    }

    #[test]
    fn ties_share_the_mean_of_their_ranks() {
        let (found, ties) = ranks(&[3.0, 1.0, 3.0, 0.0, -0.0, 9.0]);
        assert_eq!(found, [4.5, 3.0, 4.5, 1.5, 1.5, 6.0]);
        assert_eq!(ties, [2, 1, 2, 1]);
    }
}
