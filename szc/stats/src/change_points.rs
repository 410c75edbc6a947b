//! Since when a series is different: E-divisive change points (Matteson and James 2014, "A
//! nonparametric approach for multiple change point analysis of multivariate data").
//!
//! A series is split where the energy distance between the values before and after is largest, as
//! long as the split is significant; then its parts are split. Significance is by Welch's t test of
//! the values before and after, as in Hunter (Fleming, Kołaczkowski, Kumar et al. 2023), which
//! needs no random numbers and fits short histories. The t test of the best of many splits finds
//! too much unless told so: its p is multiplied by the number of splits tried.

mod energy;

use super::data::{DataError, check, scale_of, times};
use super::describe::mean;
use super::groups::welch;
use energy::best_split;

/// What counts as a change point.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Search {
    /// Fewest values between two change points, at least 2.
    pub least: usize,
    /// Largest p of a change point, in (0, 1).
    pub significance: f64,
}

/// A place where the series changes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ChangePoint {
    /// First value of the new state, from 0.
    pub index: usize,
    /// p of "nothing changed here", against the final neighbours.
    pub p: f64,
    /// Mean from the change point before to this one, in the unit of the data.
    pub before: f64,
    /// Mean from here to the next change point.
    pub after: f64,
}

/// Finds the change points of `values`, in ascending order. Time is quadratic in their number.
///
/// # Errors
/// [`DataError`] for values that are not finite or parameters out of range. A series shorter than
/// twice the least segment has no change points.
pub fn change_points(values: &[f64], search: &Search) -> Result<Vec<ChangePoint>, DataError> {
    check(values, 0)?;
    if search.least < 2 {
        return Err(DataError::Parameter("least segment"));
    }
    if !(search.significance > 0.0 && search.significance < 1.0) {
        return Err(DataError::Parameter("significance"));
    }
    let scale = scale_of(&[values]);
    let scaled = times(values, scale);
    let splits = split_by_t_test(&scaled, search)?;
    let places: Vec<usize> = splits.iter().map(|split| split.0).collect();
    let parts = segments(&places, values.len());
    let center = |part: &(usize, usize)| mean(&scaled[part.0..part.1]).unwrap_or_default() / scale;
    Ok(splits
        .iter()
        .zip(parts.windows(2))
        .map(|(&(index, p), sides)| ChangePoint {
            index,
            p,
            before: center(&sides[0]),
            after: center(&sides[1]),
        })
        .collect())
}

/// The parts of a series of `length` values between ascending `places`.
fn segments(places: &[usize], length: usize) -> Vec<(usize, usize)> {
    let starts = std::iter::once(0).chain(places.iter().copied());
    let ends = places.iter().copied().chain(std::iter::once(length));
    starts.zip(ends).collect()
}

/// Splits each segment on its own, then drops the weakest change point until all stand against
/// their final neighbours.
fn split_by_t_test(values: &[f64], search: &Search) -> Result<Vec<(usize, f64)>, DataError> {
    let mut places = Vec::new();
    let mut waiting = vec![(0, values.len())];
    while let Some((start, end)) = waiting.pop() {
        let Some(split) = best_split(&values[start..end], search.least) else {
            continue;
        };
        let middle = start + split.index;
        if corrected_p(values, (start, middle), (middle, end), search.least)? <= search.significance
        {
            places.push(middle);
            waiting.extend([(start, middle), (middle, end)]);
        }
    }
    places.sort_unstable();
    loop {
        let parts = segments(&places, values.len());
        let p: Vec<f64> = parts
            .windows(2)
            .map(|sides| corrected_p(values, sides[0], sides[1], search.least))
            .collect::<Result<_, _>>()?;
        let weakest = (0..p.len()).max_by(|&one, &other| p[one].total_cmp(&p[other]));
        match weakest {
            Some(weakest) if p[weakest] > search.significance => {
                places.remove(weakest);
            }
            _ => return Ok(places.into_iter().zip(p).collect()),
        }
    }
}

/// p of Welch's t test between two neighbouring segments, times the number of places where they
/// could have been split.
fn corrected_p(
    values: &[f64],
    before: (usize, usize),
    after: (usize, usize),
    least: usize,
) -> Result<f64, DataError> {
    let (one, other) = (&values[before.0..before.1], &values[after.0..after.1]);
    let p = match welch(one, other, 0.95) {
        Ok(found) => found.p,
        // A count of instructions may be the same every time; then any change is one.
        Err(DataError::NoSpread) if one[0] == other[0] => 1.0,
        Err(DataError::NoSpread) => 0.0,
        Err(error) => return Err(error),
    };
    let tried = (after.1 - before.0 + 1).saturating_sub(2 * least);
    Ok((p * tried as f64).min(1.0))
}

#[cfg(test)]
mod tests;
