//! Programs by themselves.

use crate::examples::{comparison, layouts_of};

#[test]
fn every_program_has_a_summary_of_every_metric() {
    let file = comparison(1000, 900);
    assert_eq!(file.summaries.len(), 6);
    let first = &file.summaries[0];
    assert!(first.deciding && first.unit == "s");
    assert_eq!((first.layouts, first.runs), (40, 40));
    assert!((first.mean - 1.005).abs() < 1e-3, "{first:?}");
    assert_eq!((first.min, first.max), (1.0, 1.01));
    let [lower, upper] = first.interval.unwrap();
    assert!(lower < first.mean && first.mean < upper);
    assert_eq!(first.variance, None);
}

#[test]
fn the_layout_is_the_unit_and_its_value_the_mean_of_its_runs() {
    let file = layouts_of(&[(1000, 10), (1100, 0), (1200, 30), (1300, 0), (1400, 20), (1500, 0)]);
    let summary = &file.summaries[0];
    assert_eq!((summary.layouts, summary.runs), (6, 9));
    assert!((summary.mean - 1.25).abs() < 1e-12, "{summary:?}");
    assert_eq!((summary.min, summary.max), (0.99, 1.5));
}

#[test]
fn variance_is_split_where_layouts_were_run_twice() {
    let spread = layouts_of(&[(1000, 1), (1100, 0), (1200, 1), (1300, 0), (1400, 1), (1500, 0)]);
    let levels = spread.summaries[0].variance.unwrap();
    assert_eq!((levels.layouts, levels.runs_per_layout), (3, 2));
    assert!(levels.share_between.unwrap() > 0.99, "{levels:?}");
    let noisy = layouts_of(&[(1000, 90), (1000, 0), (1001, 90), (999, 0), (1000, 80), (1001, 0)]);
    let levels = noisy.summaries[0].variance.unwrap();
    assert!(levels.between_layouts < 0.0 && levels.share_between == Some(0.0), "{levels:?}");
}

#[test]
fn two_layouts_run_twice_are_too_few_to_split_a_variance() {
    let file = layouts_of(&[(1000, 1), (1100, 0), (1200, 1)]);
    assert_eq!(file.summaries[0].variance, None);
}

#[test]
fn a_far_layout_is_counted_and_kept() {
    let mut times = [(1000, 3); 12];
    for (layout, (time, _)) in (0..).zip(&mut times) {
        *time += layout % 5;
    }
    times[7].0 = 5000;
    let summary = &layouts_of(&times).summaries[0];
    assert_eq!(summary.outliers.far_high, 1);
    assert_eq!(summary.layouts, 12);
    assert!(summary.max > 4.9);
}

#[test]
fn one_layout_has_a_mean_and_no_interval() {
    let summary = &layouts_of(&[(1000, 5)]).summaries[0];
    assert_eq!((summary.interval, summary.sd), (None, None));
    assert_eq!(summary.minimum_detectable_effect, None);
}
