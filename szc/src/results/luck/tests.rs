//! Tests of what placements explain.

use szc_stats::random::Draws;

use super::*;
use crate::examples::{file_of, sample_of};
use crate::samples::Command;
use crate::samples::design::Design;

/// Layouts of ten functions in random places; `time` gives the milliseconds of a run by the places.
fn file(layouts: u32, seed: u64, time: impl Fn(&[u32]) -> f64) -> SamplesFile {
    let mut file = file_of(&[1000], 1);
    file.command = Command::Run;
    file.design.plan = Design::layouts(layouts, 2, seed);
    file.design.complete_blocks = layouts;
    file.runs.clear();
    let mut draws = Draws::new(seed);
    for block in 0..layouts {
        let places: Vec<u32> =
            (0..10).map(|_| 16 * u32::try_from(draws.index(256)).unwrap()).collect();
        for position in 0..1 + (block + 1) % 2 {
            // About normal, with a standard deviation of 0.4 %.
            let noise: f64 = (0..12).map(|_| draws.index(1000) as f64 / 1000.0).sum::<f64>() - 6.0;
            let mut sample = sample_of(block, position, 0, 1);
            sample.sys_us = 0;
            let microseconds = 1000.0 * time(&places) * (1.0 + 0.004 * noise);
            sample.user_us = format!("{microseconds:.0}").parse().unwrap();
            for (place, at) in places.iter().enumerate() {
                sample.figures.insert(format!("{PLACE_PREFIX}f{place}"), f64::from(*at));
            }
            file.runs.push(sample);
        }
    }
    file
}

#[test]
fn the_function_that_is_slow_at_one_offset_is_named_first() {
    for seed in 1..=20 {
        let slow = |places: &[u32]| if places[7] % 64 == 32 { 1100.0 } else { 1000.0 };
        let found = luck(&file(80, seed, slow)).unwrap();
        let first = &found.named[0];
        assert_eq!((&*first.function, first.feature), ("f7", Feature::Line), "{first:?}");
        assert!(first.share.unwrap() > 0.7 && first.adjusted_p <= 0.001, "{first:?}");
        assert_eq!(extremes(first).unwrap()[1], 32);
        assert!((first.offsets[2].ratio / first.offsets[0].ratio - 1.1).abs() < 0.02);
        assert_eq!((found.layouts, found.runs, found.functions), (80, 120, 10));
        assert!((found.sd_layouts.unwrap() - 0.041).abs() < 0.015, "{found:?}");
    }
}

#[test]
fn where_placement_does_nothing_no_function_is_named_in_nineteen_of_twenty() {
    let named = (0..100).filter(|seed| {
        let found = luck(&file(40, 100 + seed, |_| 1000.0)).unwrap();
        !found.named.is_empty()
    });
    // 5 are expected; more than 15 have a probability below 1 in 10,000. Seeds are fixed.
    let named = named.count();
    assert!(named <= 15, "{named}");
}

#[test]
fn an_effect_of_a_page_is_told_from_one_of_a_line() {
    let slow = |places: &[u32]| if places[2] >= 3584 { 1100.0 } else { 1000.0 };
    let found = luck(&file(160, 3, slow)).unwrap();
    assert_eq!((&*found.named[0].function, found.named[0].feature), ("f2", Feature::Page));
    assert_eq!(held_in(found.named[0].feature), 4096);
}

#[test]
fn too_few_layouts_and_functions_without_places_say_nothing() {
    assert!(luck(&file(19, 1, |_| 1000.0)).is_none());
    let mut some = file(20, 1, |_| 1000.0);
    some.runs[3].figures.clear();
    assert!(luck(&some).is_none());
}
