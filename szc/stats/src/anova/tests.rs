//! Values of statsmodels and pingouin, a published analysis, symmetries.

use super::*;
use crate::calibration::data::{cases, close, number, numbers, same_digits};
use proptest::prelude::*;

/// All subjects in one block.
fn contrasts(rows: &[Vec<f64>], reference: usize) -> Result<Vec<Contrast>, DataError> {
    contrasts_in_blocks(rows, &vec![0; rows.len()], reference, 0.95)
}

fn rows_of(case: &serde_json::Value) -> Vec<Vec<f64>> {
    case["rows"].as_array().unwrap().iter().map(numbers).collect()
}

#[test]
fn the_analysis_agrees_with_statsmodels_and_pingouin() {
    for case in cases("parametric", "anova") {
        let found = within_subjects(&rows_of(&case), 0.95).unwrap();
        let same = |found: f64, name: &str| {
            let expected = number(&case[name]);
            assert!(same_digits(found, expected), "{name}: found {found}, expected {expected}");
        };
        same(found.f, "f");
        same(found.p, "p");
        same(found.epsilon, "epsilon");
        same(found.p_corrected, "p_corrected");
        same(found.partial_eta_squared, "partial_eta_squared");
        same(found.generalized_eta_squared, "generalized_eta_squared");
        same(found.half_width, "half_width");
        assert_eq!(numbers(&case["df"]), found.degrees_of_freedom.map(|df| df as f64));
    }
}

#[test]
fn contrasts_agree_with_paired_t_tests_of_scipy() {
    for case in cases("parametric", "anova") {
        let found = contrasts(&rows_of(&case), 0).unwrap();
        let expected_t = numbers(&case["contrast_t"]);
        assert_eq!(found.len(), expected_t.len());
        let expected = expected_t.iter().zip(numbers(&case["contrast_p"]));
        for (contrast, (t, p)) in found.iter().zip(expected) {
            assert!(same_digits(contrast.t, *t) && same_digits(contrast.p, p), "{contrast:?}");
            assert!(contrast.interval.contains(contrast.difference));
            assert!(contrast.p_holm >= contrast.p && contrast.p_holm <= 1.0);
        }
    }
}

#[test]
fn loftus_and_masson_print_the_same_half_width() {
    // Their table 2: means 11.0, 13.0, 14.2; mean square of the error 0.61; interval ± 0.52.
    let found = within_subjects(&rows_of(&cases("parametric", "anova")[0]), 0.95).unwrap();
    let means: Vec<String> = found.means.iter().map(|mean| format!("{mean:.1}")).collect();
    assert_eq!(means, ["11.0", "13.0", "14.2"]);
    assert_eq!(format!("{:.2}", found.half_width), "0.52");
}

#[test]
fn two_levels_are_a_paired_t_test() {
    let rows = rows_of(&cases("parametric", "anova")[1]);
    let (whole, contrast) =
        (within_subjects(&rows, 0.95).unwrap(), contrasts(&rows, 0).unwrap()[0]);
    assert!(close(whole.f, contrast.t * contrast.t));
    assert!(close(whole.p, contrast.p) && close(whole.epsilon, 1.0));
}

#[test]
fn unfit_tables_are_refused() {
    let analyse = |rows: &[Vec<f64>]| within_subjects(rows, 0.95).map(|found| found.f);
    assert_eq!(analyse(&[]), Err(DataError::TooFew { needed: 2, found: 0 }));
    assert_eq!(analyse(&[vec![1.0, 2.0]]), Err(DataError::TooFew { needed: 2, found: 1 }));
    assert_eq!(analyse(&[vec![1.0], vec![2.0]]), Err(DataError::TooFew { needed: 2, found: 1 }));
    assert_eq!(analyse(&[vec![1.0, 2.0], vec![2.0]]), Err(DataError::UnequalLengths));
    assert_eq!(
        analyse(&[vec![1.0, f64::NAN], vec![1.0, 2.0]]),
        Err(DataError::NotFinite { index: 1 })
    );
    assert_eq!(analyse(&[vec![0.1, 0.3], vec![0.2, 0.4]]), Err(DataError::NoSpread));
    assert_eq!(analyse(&vec![vec![5.0; 3]; 4]), Err(DataError::NoSpread));
    let rows = [vec![1.0, 2.0], vec![2.0, 4.0]];
    assert_eq!(contrasts(&rows, 2), Err(DataError::Parameter("reference level")));
    assert!(contrasts(&[vec![1.0, 2.0], vec![2.0, 3.0]], 0).is_err());
}

proptest! {
    #[test]
    fn neither_scale_nor_subject_nor_order_matters(
        values in prop::collection::vec(-1.0..1.0_f64, 12..60),
        levels in 2_usize..5,
        power in -280_i32..280,
        turn in 0_usize..20,
    ) {
        let rows: Vec<Vec<f64>> = values.chunks_exact(levels).map(<[f64]>::to_vec).collect();
        let found = within_subjects(&rows, 0.95).unwrap();
        let etas = [found.partial_eta_squared, found.generalized_eta_squared];
        for share in [found.p, found.p_corrected].into_iter().chain(etas) {
            prop_assert!((0.0..=1.0).contains(&share));
        }
        prop_assert!(found.p_corrected >= found.p - 1e-12 || found.f < 1.5);
        let scale = 10.0_f64.powi(power);
        let mut other: Vec<Vec<f64>> = rows
            .iter()
            .enumerate()
            .map(|(i, row)| row.iter().map(|value| (value + (i % 3) as f64) * scale).collect())
            .collect();
        other.rotate_left(turn % rows.len());
        other.iter_mut().for_each(|row| row.rotate_left(turn % levels));
        let moved = within_subjects(&other, 0.95).unwrap();
        prop_assert!((moved.f - found.f).abs() < 1e-8 * found.f.max(1.0));
        prop_assert!((moved.epsilon - found.epsilon).abs() < 1e-8);
    }
}

#[test]
fn subjects_in_blocks_are_analysed_as_by_aov_in_r() {
    for case in cases("blocks", "split_plot") {
        let rows = rows_of(&case);
        let blocks: Vec<usize> = serde_json::from_value(case["block"].clone()).unwrap();
        let found = within_subjects_in_blocks(&rows, &blocks, 0.95).unwrap();
        let by_block = found.by_block.unwrap();
        for (found, name) in [
            (found.f, "f"),
            (found.p, "p"),
            (found.half_width, "half_width"),
            (by_block.f, "block_f"),
            (by_block.p, "block_p"),
            (by_block.degrees_of_freedom[0] as f64, "block_df"),
        ] {
            let expected = number(&case[name]);
            assert!(same_digits(found, expected), "{name}: found {found}, expected {expected}");
        }
        assert_eq!(numbers(&case["df"]), found.degrees_of_freedom.map(|df| df as f64));
        assert_eq!(by_block.degrees_of_freedom[1], found.degrees_of_freedom[1]);
        let contrasts = contrasts_in_blocks(&rows, &blocks, 0, 0.95).unwrap();
        let expected = numbers(&case["contrast_t"]).into_iter().zip(numbers(&case["contrast_p"]));
        for (contrast, (t, p)) in contrasts.iter().zip(expected) {
            assert!(same_digits(contrast.t, t) && same_digits(contrast.p, p), "{contrast:?}");
        }
    }
}

#[test]
fn as_many_blocks_as_subjects_leave_no_error_to_divide_by() {
    let rows = [[1.0, 2.0], [3.0, 5.0]];
    let expected = DataError::TooFew { needed: 3, found: 2 };
    assert_eq!(within_subjects_in_blocks(&rows, &[4, 7], 0.95).unwrap_err(), expected);
    assert_eq!(contrasts_in_blocks(&rows, &[4, 7], 0, 0.95).unwrap_err(), expected);
    assert_eq!(
        within_subjects_in_blocks(&rows, &[1], 0.95).unwrap_err(),
        DataError::UnequalLengths
    );
}
