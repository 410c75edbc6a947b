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
fn fewer_than_six_blocks_have_no_sign_interval() {
    assert_eq!(sign_interval(&[1.0; 5], CONFIDENCE), None);
    assert!(sign_interval(&[1.0; MIN_BLOCKS], CONFIDENCE).is_some());
}

fn interval_of(values: &[f64]) -> Interval {
    t_interval(values, CONFIDENCE).unwrap()
}

fn blocks() -> impl Strategy<Value = Vec<f64>> {
    prop::collection::vec(-1.0..1.0_f64, 6..60)
}

proptest! {
    #[test]
    fn scaling_the_data_scales_the_intervals(values in blocks(), factor in 0.01..100.0_f64) {
        let scaled: Vec<f64> = values.iter().map(|value| value * factor).collect();
        let [before, after] = [&values, &scaled].map(|list| interval_of(list));
        prop_assert!(close(before.lower * factor, after.lower));
        prop_assert!(close(before.upper * factor, after.upper));
        prop_assert_eq!(before.direction(), after.direction());
    }

    #[test]
    fn the_order_of_blocks_does_not_matter(values in blocks(), turn in 0_usize..60) {
        let mut turned = values.clone();
        turned.rotate_left(turn % values.len());
        let [before, after] = [&values, &turned].map(|list| interval_of(list));
        prop_assert!(close(before.lower, after.lower));
        prop_assert!(close(before.upper, after.upper));
    }

    #[test]
    fn swapping_the_programs_mirrors_the_interval(values in blocks()) {
        let swapped: Vec<f64> = values.iter().map(|value| -value).collect();
        let [before, after] = [&values, &swapped].map(|list| interval_of(list));
        prop_assert!(close(before.lower, -after.upper));
        let mirrored = match after.direction() {
            Direction::Lower => Direction::Higher,
            Direction::Higher => Direction::Lower,
            Direction::Unresolved => Direction::Unresolved,
        };
        prop_assert_eq!(before.direction(), mirrored);
        prop_assert!(before.contains(mean(&values).unwrap()));
    }
}
