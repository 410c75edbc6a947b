//! Which record of one trace belongs to which of another: dynamic time warping.
//!
//! Two runs of a program do the same at different speeds. The alignment is the path through both
//! traces that makes their records most alike (Sakoe and Chiba 1978, with their band around the
//! diagonal), over all signals at once. Where signals are flat every path is equally good, and
//! plain warping wanders (Mytkowicz, Sweeney, Hauswirth and Diwan 2006, "Aligning traces for
//! performance evaluation"). So a step that stretches a trace costs a constant (Herrmann and Webb
//! 2023, "Amercing"), and flat signals have no say. Signals are brought to mean 0 and deviation 1
//! within each trace first. Time and memory are those of records times the band.

use super::data::{DataError, check};

/// The signals of a trace, of one length.
pub type Signals = Vec<Vec<f64>>;

/// How to align.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Alignment {
    /// How far a path may be from the diagonal, as a share of the longer trace.
    pub band: f64,
    /// What a step costs that stretches one of the traces; unrelated records cost 2.
    pub stretch: f64,
    /// A signal is flat below that ratio of its standard deviation to its mean.
    pub flat: f64,
}

impl Default for Alignment {
    fn default() -> Self {
        Self { band: 0.1, stretch: 0.1, flat: 0.01 }
    }
}

/// The steps by which a path comes to a pair of records.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Step {
    Both,
    First,
    Second,
}

impl Alignment {
    /// The pairs of records of `first` and `second`, from both beginnings to both ends.
    ///
    /// # Errors
    /// [`DataError`] for traces of different signals or none, without records, or with values that
    /// are not finite.
    pub fn path(
        &self,
        first: &Signals,
        second: &Signals,
    ) -> Result<Vec<(usize, usize)>, DataError> {
        let (rows, columns) = (length(first)?, length(second)?);
        if first.len() != second.len() {
            return Err(DataError::UnequalLengths);
        }
        let mut used = Vec::new();
        for (one, other) in first.iter().zip(second) {
            if let (Some(one), Some(other)) = (self.normalized(one), self.normalized(other)) {
                used.push((one, other));
            }
        }
        let share = if used.is_empty() { 0.0 } else { 1.0 / used.len() as f64 };
        let cost = |row: usize, column: usize| -> f64 {
            let squares = used.iter().map(|(one, other)| (one[row] - other[column]).powi(2));
            share * squares.sum::<f64>()
        };
        let windows = self.windows(rows, columns);
        let mut steps: Vec<Vec<Step>> = Vec::with_capacity(rows);
        let (mut above, mut above_from) = (Vec::new(), 0);
        for (row, window) in windows.iter().enumerate() {
            let mut sums = Vec::with_capacity(window.len());
            let mut taken = Vec::with_capacity(window.len());
            for column in window.clone() {
                let over = |column: Option<usize>| -> f64 {
                    let place = column.and_then(|column| column.checked_sub(above_from));
                    place.and_then(|place| above.get(place).copied()).unwrap_or(f64::INFINITY)
                };
                let both = if (row, column) == (0, 0) { 0.0 } else { over(column.checked_sub(1)) };
                let down = over(Some(column)) + self.stretch;
                let right = sums.last().map_or(f64::INFINITY, |sum: &f64| sum + self.stretch);
                let (least, step) = if both <= down && both <= right {
                    (both, Step::Both)
                } else if down <= right {
                    (down, Step::First)
                } else {
                    (right, Step::Second)
                };
                sums.push(least + cost(row, column));
                taken.push(step);
            }
            (above, above_from) = (sums, window.start);
            steps.push(taken);
        }
        Ok(back(&steps, &windows, columns))
    }

    /// The columns of each row that a path may use. Windows of neighbouring rows overlap, and the
    /// first and the last hold both corners.
    fn windows(&self, rows: usize, columns: usize) -> Vec<std::ops::Range<usize>> {
        let slope = columns as f64 / rows as f64;
        let half = (self.band * rows.max(columns) as f64).max(slope).max(1.0);
        let window = |row: usize| {
            let middle = row as f64 * slope;
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "≥ 0")]
            let (from, to) =
                ((middle - half).max(0.0) as usize, (middle + slope + half).ceil() as usize);
            from..to.min(columns)
        };
        (0..rows).map(window).collect()
    }

    /// The signal with mean 0 and standard deviation 1, unless it is flat.
    fn normalized(&self, signal: &[f64]) -> Option<Vec<f64>> {
        let n = signal.len() as f64;
        let mean = signal.iter().sum::<f64>() / n;
        let variance = signal.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / n;
        let deviation = variance.sqrt();
        let varies = deviation > self.flat * mean.abs();
        varies.then(|| signal.iter().map(|value| (value - mean) / deviation).collect())
    }
}

fn length(signals: &Signals) -> Result<usize, DataError> {
    let first = signals.first().ok_or(DataError::TooFew { needed: 1, found: 0 })?;
    for signal in signals {
        check(signal, 1)?;
        if signal.len() != first.len() {
            return Err(DataError::UnequalLengths);
        }
    }
    Ok(first.len())
}

fn back(
    steps: &[Vec<Step>],
    windows: &[std::ops::Range<usize>],
    columns: usize,
) -> Vec<(usize, usize)> {
    let (mut row, mut column) = (steps.len() - 1, columns - 1);
    let mut path = vec![(row, column)];
    while (row, column) != (0, 0) {
        match steps[row][column - windows[row].start] {
            Step::Both => (row, column) = (row - 1, column - 1),
            Step::First => row -= 1,
            Step::Second => column -= 1,
        }
        path.push((row, column));
    }
    path.reverse();
    path
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const PLAIN: Alignment = Alignment { band: 1.0, stretch: 0.0, flat: 0.01 };

    fn bump(length: usize, at: usize) -> Vec<f64> {
        (0..length).map(|i| if (at..at + 5).contains(&i) { 10.0 } else { 1.0 }).collect()
    }

    #[test]
    fn a_short_example_is_aligned_as_by_hand() {
        // Both have the same mean and spread, so that bringing them to one scale changes nothing.
        let (one, other) = (vec![vec![0.0, 0.0, 3.0, 0.0]], vec![vec![0.0, 3.0, 0.0, 0.0]]);
        let path = PLAIN.path(&one, &other).unwrap();
        assert_eq!(path, [(0, 0), (1, 0), (2, 1), (3, 2), (3, 3)]);
        assert_eq!(PLAIN.path(&vec![vec![1.0]], &vec![vec![2.0]]).unwrap(), [(0, 0)]);
    }

    #[test]
    fn flat_signals_keep_to_the_diagonal() {
        let flat = vec![vec![5.0; 40]];
        let diagonal: Vec<_> = (0..40).map(|i| (i, i)).collect();
        assert_eq!(Alignment::default().path(&flat, &flat).unwrap(), diagonal);
        let nearly = vec![(0..40).map(|i| 100.0 + 0.1 * f64::from(i % 7)).collect()];
        assert_eq!(Alignment::default().path(&flat, &nearly).unwrap(), diagonal);
    }

    #[test]
    fn a_late_bump_is_found_and_what_is_flat_around_it_is_not_stretched_more_than_needed() {
        let (one, other) = (vec![bump(100, 50)], vec![bump(100, 55)]);
        let path = Alignment::default().path(&one, &other).unwrap();
        for i in 50..55 {
            assert!(path.contains(&(i, i + 5)), "{i}: {path:?}");
        }
        // Five steps wait for the bump and five make up for it; all others go on in both.
        assert_eq!(path.len(), 94 + 10 + 1);
        // A flat signal beside it has no say.
        let beside = |signal: Vec<f64>, noise: f64| {
            vec![signal, (0..100).map(|i| 1000.0 + noise * f64::from(i % 3)).collect()]
        };
        let (one, other) = (beside(bump(100, 50), 0.1), beside(bump(100, 55), -0.1));
        assert_eq!(Alignment::default().path(&one, &other).unwrap(), path);
    }

    #[test]
    fn a_path_stays_within_the_band() {
        let (one, other) = (vec![bump(100, 10)], vec![bump(100, 80)]);
        for (row, column) in Alignment::default().path(&one, &other).unwrap() {
            assert!(row.abs_diff(column) <= 12, "{row} {column}");
        }
    }

    #[test]
    fn traces_that_do_not_belong_together_are_refused() {
        let one = vec![vec![1.0, 2.0]];
        assert_eq!(PLAIN.path(&one, &vec![]), Err(DataError::TooFew { needed: 1, found: 0 }));
        let two = vec![vec![1.0, 2.0], vec![1.0, 2.0]];
        assert_eq!(PLAIN.path(&one, &two), Err(DataError::UnequalLengths));
        let uneven = vec![vec![1.0, 2.0], vec![1.0]];
        assert_eq!(PLAIN.path(&uneven, &two), Err(DataError::UnequalLengths));
        let wrong = vec![vec![1.0, f64::INFINITY]];
        assert_eq!(PLAIN.path(&wrong, &one), Err(DataError::NotFinite { index: 1 }));
    }

    proptest! {
        #[test]
        fn a_path_goes_from_corner_to_corner_by_single_steps(
            one in prop::collection::vec(0.0..10.0_f64, 1..60),
            other in prop::collection::vec(0.0..10.0_f64, 1..60),
            band in 0.0..1.0_f64,
        ) {
            let (one, other) = (vec![one], vec![other]);
            let alignment = Alignment { band, ..Alignment::default() };
            let path = alignment.path(&one, &other).unwrap();
            prop_assert_eq!(path[0], (0, 0));
            prop_assert_eq!(*path.last().unwrap(), (one[0].len() - 1, other[0].len() - 1));
            for pair in path.windows(2) {
                let step = (pair[1].0 - pair[0].0, pair[1].1 - pair[0].1);
                prop_assert!(step == (1, 1) || step == (1, 0) || step == (0, 1), "{:?}", step);
            }
        }
    }
}
