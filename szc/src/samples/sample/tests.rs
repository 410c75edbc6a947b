//! Log ratios of blocks.

use super::*;
use crate::examples::sample_of;
use proptest::prelude::*;

#[test]
fn a_slower_b_has_a_positive_log_ratio() {
    let samples = [
        sample_of(0, 0, 0, 100),
        sample_of(0, 1, 1, 200),
        sample_of(0, 2, 1, 800),
        sample_of(0, 3, 0, 100),
    ];
    for metric in Metric::KERNEL {
        let ratios = block_log_ratios(&samples, 1, 0, 1, &metric).unwrap();
        assert!((ratios[0] - 4.0_f64.ln()).abs() < 1e-12, "{metric:?}");
    }
}

#[test]
fn values_have_the_units_they_promise() {
    let sample = sample_of(0, 0, 0, 250);
    assert_eq!(sample.value(&Metric::Cpu), 0.25);
    assert_eq!(sample.value(&Metric::Wall), 0.25);
    assert_eq!(sample.value(&Metric::Rss), 256_000.0);
}

#[test]
fn a_value_of_zero_leaves_no_log_ratio() {
    let samples = [sample_of(0, 0, 0, 0), sample_of(0, 1, 1, 1)];
    assert_eq!(block_log_ratios(&samples, 1, 0, 1, &Metric::Cpu), None);
}

#[test]
fn blocks_after_the_last_complete_one_are_left_out() {
    let samples = [sample_of(0, 0, 0, 10), sample_of(0, 1, 1, 10), sample_of(1, 0, 0, 10)];
    assert_eq!(block_log_ratios(&samples, 1, 0, 1, &Metric::Wall), Some(vec![0.0]));
    assert_eq!(block_log_ratios(&samples, 2, 0, 1, &Metric::Wall), None);
}

proptest! {
    #[test]
    fn the_unit_of_time_does_not_matter(
        times in prop::collection::vec((1_u64..100_000, 1_u64..100_000), 1..20),
        factor in 1_u64..1000,
    ) {
        let with = |factor: u64| -> Vec<Sample> {
            (0_u32..).zip(&times).flat_map(|(block, (a, b))| [
                sample_of(block, 0, 0, a * factor),
                sample_of(block, 1, 1, b * factor),
            ]).collect()
        };
        let blocks = u32::try_from(times.len()).unwrap();
        let before = block_log_ratios(&with(1), blocks, 0, 1, &Metric::Wall).unwrap();
        let after = block_log_ratios(&with(factor), blocks, 0, 1, &Metric::Wall).unwrap();
        for (before, after) in before.iter().zip(&after) {
            prop_assert!((before - after).abs() < 1e-10);
        }
    }

    #[test]
    fn the_order_of_runs_inside_a_block_does_not_change_a_tie(
        mut times in prop::collection::vec(1_u64..100_000, 2..8),
        turn in 0_usize..8,
    ) {
        let mut samples: Vec<Sample> =
            times.iter().map(|time| sample_of(0, 0, 0, *time)).collect();
        let middle = turn % times.len();
        times.rotate_left(middle);
        samples.extend(times.iter().map(|time| sample_of(0, 0, 1, *time)));
        prop_assert_eq!(block_log_ratios(&samples, 1, 0, 1, &Metric::Rss), Some(vec![0.0]));
    }
}
