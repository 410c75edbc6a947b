//! Where the variance of an interleaved experiment comes from: programs, time, layouts and runs.
//!
//! Every program runs equally often in every block, so sums of squares add up whatever the order
//! (two-way layout with replication; Montgomery, "Design and analysis of experiments", section
//! 5.3). Variance components by the mean squares of the random effects model, negative ones
//! counting as 0.

use super::data::{DataError, check, scale_of, times};
use super::describe::mean;

/// Result of [`shares`]: parts of the total variance of log times, 0 to 1, that add up to 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Shares {
    /// Between the programs.
    pub programs: f64,
    /// Between blocks, alike for all programs: the machine at different times.
    pub blocks: f64,
    /// Between runs of one program in one block, and of programs differing by block: layouts,
    /// and noise of the shortest kind. Runs of different layouts cannot tell the two apart.
    pub runs: f64,
}

/// Splits the variance of `values[block][program]`, each a list of equally many values.
///
/// # Errors
/// [`DataError`] below 2 blocks, 2 programs or 2 values a cell, for cells of different sizes, for
/// values that are not finite, or without any variance.
pub fn shares(values: &[Vec<Vec<f64>>]) -> Result<Shares, DataError> {
    let blocks = values.len();
    let programs = values.first().map_or(0, Vec::len);
    let size = values.first().and_then(|block| block.first()).map_or(0, Vec::len);
    for (needed, found) in [(2, blocks), (2, programs), (2, size)] {
        if found < needed {
            return Err(DataError::TooFew { needed, found });
        }
    }
    let even = |block: &Vec<Vec<f64>>| {
        block.len() == programs && block.iter().all(|cell| cell.len() == size)
    };
    if !values.iter().all(even) {
        return Err(DataError::UnequalLengths);
    }
    let all: Vec<f64> = values.iter().flatten().flatten().copied().collect();
    check(&all, 8)?;
    let center = mean(&all).unwrap_or_default();
    let centered: Vec<f64> = all.iter().map(|value| value - center).collect();
    let scaled = times(&centered, scale_of(&[&centered]));
    let cells: Vec<&[f64]> = scaled.chunks_exact(size).collect();
    let mean_of = |cells: &mut dyn Iterator<Item = &[f64]>| {
        mean(&cells.flatten().copied().collect::<Vec<f64>>()).unwrap_or_default()
    };
    let of_blocks: Vec<f64> =
        cells.chunks_exact(programs).map(|block| mean_of(&mut block.iter().copied())).collect();
    let of_programs: Vec<f64> = (0..programs)
        .map(|program| mean_of(&mut cells.iter().copied().skip(program).step_by(programs)))
        .collect();
    let squares = |means: &[f64]| means.iter().map(|mean| mean * mean).sum::<f64>();
    let between_programs = (blocks * size) as f64 * squares(&of_programs);
    let between_blocks = (programs * size) as f64 * squares(&of_blocks);
    let rest = (squares(&scaled) - between_programs - between_blocks).max(0.0);
    let rest_mean = rest / (blocks * programs * size - blocks - programs + 1) as f64;
    let component = |square: f64, levels: usize, each: usize| {
        (square / (levels - 1) as f64 - rest_mean).max(0.0) / each as f64
    };
    let parts = [
        component(between_programs, programs, blocks * size),
        component(between_blocks, blocks, programs * size),
        rest_mean,
    ];
    let total: f64 = parts.iter().sum();
    if total <= 0.0 {
        return Err(DataError::NoSpread);
    }
    let [programs, blocks, runs] = parts.map(|part| part / total);
    Ok(Shares { programs, blocks, runs })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_small_table_agrees_with_the_sums_by_hand() {
        // Cell means 2, 4 and 6, 8; ±1 within. SS: programs 8, blocks 32, within 8, interaction 0.
        let cell = |mean: f64| vec![mean - 1.0, mean + 1.0];
        let table = vec![vec![cell(2.0), cell(4.0)], vec![cell(6.0), cell(8.0)]];
        // Mean squares 8, 32 and 8/5: components (8 − 1.6)/4, (32 − 1.6)/4, 1.6.
        let found = shares(&table).unwrap();
        let total = 1.6 + 7.6 + 1.6;
        assert!((found.programs - 1.6 / total).abs() < 1e-12, "{found:?}");
        assert!((found.blocks - 7.6 / total).abs() < 1e-12, "{found:?}");
        assert!((found.runs - 1.6 / total).abs() < 1e-12, "{found:?}");
    }

    #[test]
    fn uneven_or_constant_tables_are_refused() {
        let even = vec![vec![vec![1.0, 1.0]; 2]; 2];
        assert_eq!(shares(&even), Err(DataError::NoSpread));
        let mut uneven = even.clone();
        uneven[1][1].push(3.0);
        assert_eq!(shares(&uneven), Err(DataError::UnequalLengths));
        assert_eq!(shares(&even[..1]), Err(DataError::TooFew { needed: 2, found: 1 }));
        assert_eq!(shares(&[]), Err(DataError::TooFew { needed: 2, found: 0 }));
    }

    proptest! {
        #[test]
        fn shares_add_up_and_do_not_depend_on_unit_or_offset(
            numbers in prop::collection::vec(-10.0_f64..10.0, 24),
            factor in 0.1_f64..100.0,
            offset in -50.0_f64..50.0,
        ) {
            let table = |change: &dyn Fn(f64) -> f64| -> Vec<Vec<Vec<f64>>> {
                numbers
                    .chunks(6)
                    .map(|block| block.chunks(2).map(|cell| {
                        cell.iter().map(|value| change(*value)).collect()
                    }).collect())
                    .collect()
            };
            let one = shares(&table(&|value| value)).unwrap();
            let other = shares(&table(&|value| factor * value + offset)).unwrap();
            prop_assert!((one.programs + one.blocks + one.runs - 1.0).abs() < 1e-9);
            prop_assert!((one.runs - other.runs).abs() < 1e-6);
            prop_assert!((one.blocks - other.blocks).abs() < 1e-6);
        }
    }
}
