//! Reference values of scipy (`reference/fixed.py`), edge cases, and symmetries that must hold.

use super::*;
use crate::calibration::data::{MAIZE, SLEEP, close, large_sample};
use proptest::prelude::*;

#[test]
fn t_quantiles_agree_with_scipy() {
    for (probability, degrees_of_freedom, expected) in [
        (0.975, 1.0, 12.706_204_736_174_694),
        (0.975, 2.0, 4.302_652_729_749_462),
        (0.975, 5.0, 2.570_581_835_636_314_6),
        (0.975, 9.0, 2.262_157_162_798_205),
        (0.975, 19.0, 2.093_024_054_408_308_7),
        (0.975, 99.0, 1.984_216_951_586_417_4),
        (0.975, 4999.0, 1.960_438_646_661_524_7),
        (0.995, 19.0, 2.860_934_606_464_979_4),
        (0.9, 5.0, 1.475_884_048_824_481_5),
        (0.025, 19.0, -2.093_024_054_408_308_7),
    ] {
        let found = student_t_quantile(probability, degrees_of_freedom);
        assert!(
            close(found, expected),
            "t({probability}, {degrees_of_freedom}) = {found}, scipy says {expected}"
        );
    }
}

#[test]
fn normal_quantiles_agree_with_scipy() {
    assert!(close(normal_quantile(0.975), 1.959_963_984_540_054));
    assert!(close(normal_quantile(0.8), 0.841_621_233_572_914_3));
    assert!(close(normal_quantile(0.001), -3.090_232_306_167_813));
}

#[test]
fn t_intervals_agree_with_scipy() {
    for (values, lower, upper) in [
        (SLEEP.to_vec(), 0.700_114_236_723_017_4, 2.459_885_763_276_982_4),
        (MAIZE.to_vec(), 0.031_193_318_392_979_563, 41.835_473_348_273_69),
        (vec![1.0, 2.5, 2.0], -0.063_958_183_465_046_45, 3.730_624_850_131_713),
        (large_sample(), 2.454_942_204_629_644_3, 2.544_024_500_781_914_4),
    ] {
        let found = t_interval(&values, CONFIDENCE).unwrap();
        assert!(close(found.lower, lower), "{found:?}");
        assert!(close(found.upper, upper), "{found:?}");
    }
}

#[test]
fn sign_intervals_agree_with_scipy() {
    let sleep = sign_interval(&SLEEP, CONFIDENCE).unwrap();
    assert_eq!((sleep.interval.lower, sleep.interval.upper), (0.8, 2.4));
    let maize = sign_interval(&MAIZE, CONFIDENCE).unwrap();
    assert_eq!((maize.interval.lower, maize.interval.upper), (8.0, 49.0));
    let large = sign_interval(&large_sample(), CONFIDENCE).unwrap();
    assert!(close(large.interval.lower, 2.429_515_582_951_968_3));
    assert!(close(large.interval.upper, 2.570_340_969_423_657_6));
}

#[test]
fn sign_ranks_and_coverages_agree_with_scipy() {
    for (count, rank, coverage) in [
        (6, 1, 0.968_75),
        (7, 1, 0.984_375),
        (8, 1, 0.992_187_5),
        (9, 2, 0.960_937_5),
        (10, 2, 0.978_515_625),
        (15, 4, 0.964_843_75),
        (20, 6, 0.958_610_534_667_968_8),
        (25, 8, 0.956_714_749_336_242_7),
        (50, 18, 0.967_160_862_435_731_5),
        (100, 40, 0.964_799_799_782_295_1),
        (1000, 469, 0.953_708_802_639_501_9),
        (5000, 2431, 0.950_684_141_895_828_5),
    ] {
        let (found_rank, found_coverage) = sign_rank(count, CONFIDENCE).unwrap();
        assert_eq!(found_rank, rank, "n = {count}");
        assert!(close(found_coverage, coverage), "n = {count}");
    }
}

#[test]
fn fewer_than_six_blocks_have_no_sign_interval_and_no_verdict() {
    assert_eq!(sign_interval(&[1.0; 5], CONFIDENCE), None);
    assert_eq!(analyse(&[1.0; 5]), None);
    assert!(analyse(&[1.0; MIN_BLOCKS]).is_some());
}

#[test]
fn blocks_without_variance_give_their_own_value_as_interval() {
    let none = analyse(&[0.0; 8]).unwrap();
    assert_eq!(none.direction, Direction::Unresolved);
    assert_eq!((none.interval.lower, none.interval.upper), (0.0, 0.0));
    assert_eq!(analyse(&[0.1; 8]).unwrap().direction, Direction::Higher);
    assert_eq!(analyse(&[-0.1; 8]).unwrap().direction, Direction::Lower);
}

#[test]
fn a_few_layouts_that_pull_the_mean_are_reported_as_disagreement() {
    let mut differences = vec![0.001; 14];
    differences.extend([-0.002; 2]);
    differences.extend([0.5; 4]);
    let tail = analyse(&differences).unwrap();
    assert!(tail.mean_and_median_disagree(), "{tail:?}");
}

#[test]
fn outliers_that_hide_the_shift_of_the_typical_layout_are_reported_as_disagreement() {
    let mut differences: Vec<f64> = (0..18).map(|i| 0.01 + 0.0001 * f64::from(i)).collect();
    differences.extend([-0.6, 0.5]);
    let hidden = analyse(&differences).unwrap();
    assert_eq!(hidden.direction, Direction::Unresolved);
    assert!(hidden.mean_and_median_disagree(), "{hidden:?}");
}

#[test]
fn a_plain_shift_is_no_disagreement() {
    let differences: Vec<f64> = (0..20).map(|i| 0.02 + 0.001 * f64::from(i % 5 - 2)).collect();
    let shift = analyse(&differences).unwrap();
    assert_eq!(shift.direction, Direction::Higher);
    assert!(!analyse(&[0.1; 9]).unwrap().mean_and_median_disagree());
    assert!(!shift.mean_and_median_disagree());
}

fn blocks() -> impl Strategy<Value = Vec<f64>> {
    prop::collection::vec(-1.0..1.0_f64, 6..60)
}

proptest! {
    #[test]
    fn scaling_the_data_scales_the_intervals(values in blocks(), factor in 0.01..100.0_f64) {
        let scaled: Vec<f64> = values.iter().map(|value| value * factor).collect();
        let (before, after) = (analyse(&values).unwrap(), analyse(&scaled).unwrap());
        prop_assert!(close(before.interval.lower * factor, after.interval.lower));
        prop_assert!(close(before.interval.upper * factor, after.interval.upper));
        prop_assert_eq!(before.direction, after.direction);
    }

    #[test]
    fn the_order_of_blocks_does_not_matter(values in blocks(), turn in 0_usize..60) {
        let mut turned = values.clone();
        turned.rotate_left(turn % values.len());
        let (before, after) = (analyse(&values).unwrap(), analyse(&turned).unwrap());
        prop_assert!(close(before.interval.lower, after.interval.lower));
        prop_assert!(close(before.interval.upper, after.interval.upper));
        prop_assert_eq!(before.median_check, after.median_check);
    }

    #[test]
    fn swapping_the_programs_mirrors_everything(values in blocks()) {
        let swapped: Vec<f64> = values.iter().map(|value| -value).collect();
        let (before, after) = (analyse(&values).unwrap(), analyse(&swapped).unwrap());
        prop_assert!(close(before.mean, -after.mean));
        prop_assert!(close(before.interval.lower, -after.interval.upper));
        prop_assert_eq!(before.median_check.interval.lower, -after.median_check.interval.upper);
        let mirrored = match after.direction {
            Direction::Lower => Direction::Higher,
            Direction::Higher => Direction::Lower,
            Direction::Unresolved => Direction::Unresolved,
        };
        prop_assert_eq!(before.direction, mirrored);
    }

    #[test]
    fn intervals_hold_their_own_estimate(values in blocks()) {
        let result = analyse(&values).unwrap();
        prop_assert!(result.interval.contains(result.mean));
        prop_assert!(result.median_check.interval.contains(result.median));
    }
}
