//! The statistic by its definition (Python), a famous change point, error rates, symmetries.

use super::energy::best_split;
use super::*;
use crate::calibration::data::{cases, close, number, numbers};
use proptest::prelude::*;

const USUAL: Search = Search { least: 5, significance: 0.05 };

#[test]
fn the_best_split_is_the_one_of_the_definition() {
    for case in cases("series", "change_points") {
        let least = usize::try_from(case["least"].as_u64().unwrap()).unwrap();
        let found = best_split(&numbers(&case["data"]), least).unwrap();
        assert_eq!(found.index as u64, case["split"].as_u64().unwrap(), "{case}: {found:?}");
        assert!(
            (found.statistic / number(&case["statistic"]) - 1.0).abs() < 1e-10,
            "{case}: {found:?}"
        );
    }
}

#[test]
fn the_nile_changed_in_1899() {
    // Cobb (1978) and many since: annual flow fell behind the 28th year, 1898.
    let nile = numbers(&cases("series", "change_points")[0]["data"]);
    let found = change_points(&nile, &Search { least: 10, ..USUAL }).unwrap();
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(found[0].index, 28);
    assert!(found[0].before > 1090.0 && found[0].after < 860.0, "{found:?}");
}

#[test]
fn two_steps_are_two_change_points() {
    let step = numbers(&cases("series", "change_points")[1]["data"]);
    let found = change_points(&step, &USUAL).unwrap();
    let places: Vec<usize> = found.iter().map(|point| point.index).collect();
    assert_eq!(places, [12, 30], "{found:?}");
    assert!(found.iter().all(|point| point.p <= 0.05));
    assert!(found[0].after > 1.5 && close(found[0].after, found[1].before));
}

#[test]
fn counts_without_noise_change_when_they_change() {
    let counts = [vec![1000.0; 8], vec![1001.0; 6]].concat();
    let found = change_points(&counts, &USUAL).unwrap();
    assert_eq!(found.iter().map(|point| point.index).collect::<Vec<_>>(), [8]);
    assert_eq!((found[0].before, found[0].after), (1000.0, 1001.0));
    assert_eq!(change_points(&[3.0; 30], &USUAL), Ok(Vec::new()));
}

#[test]
fn short_series_have_no_change_points_and_unfit_ones_are_refused() {
    assert_eq!(change_points(&[], &USUAL), Ok(Vec::new()));
    assert_eq!(
        change_points(&[0.0, 0.0, 0.0, 0.0, 9.0, 9.0, 9.0, 9.0, 9.0], &USUAL),
        Ok(Vec::new())
    );
    let search = |least, significance| Search { least, significance };
    assert_eq!(change_points(&[1.0], &search(1, 0.05)), Err(DataError::Parameter("least segment")));
    assert_eq!(change_points(&[1.0], &search(2, 1.0)), Err(DataError::Parameter("significance")));
    assert_eq!(change_points(&[f64::NAN], &USUAL), Err(DataError::NotFinite { index: 0 }));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn neither_scale_nor_sign_moves_a_change_point(
        values in prop::collection::vec(-1.0..1.0_f64, 10..40),
        step in 0.0..4.0_f64,
        power in -280_i32..280,
    ) {
        let half = values.len() / 2;
        let mut stepped = values.clone();
        stepped[half..].iter_mut().for_each(|value| *value += step);
        let found = change_points(&stepped, &USUAL).unwrap();
        let other = change_points(&times(&stepped, -(2.0_f64.powi(power))), &USUAL).unwrap();
        let places =
            |points: &[ChangePoint]| points.iter().map(|point| point.index).collect::<Vec<_>>();
        prop_assert_eq!(places(&found), places(&other));
        for (point, next) in found.iter().zip(found.iter().skip(1)) {
            prop_assert!(next.index - point.index >= 5);
        }
        prop_assert!(found.iter().all(|point| (0.0..=0.05).contains(&point.p)));
    }
}
