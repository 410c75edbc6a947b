//! Tests of what placements explain.

use szc_stats::random::Draws;

use super::*;
use crate::examples::{file_of, sample_of};
use crate::samples::Command;
use crate::samples::design::Design;

/// Layouts of ten functions in random places; `time` gives the milliseconds of a run by the places.
fn file(layouts: u32, seed: u64, time: impl Fn(&[u32]) -> f64) -> SamplesFile {
    let code = |at, place: u32| vec![(format!("{PLACE_PREFIX}f{at}"), place)];
    file_with(layouts, seed, time, |places| {
        places.iter().enumerate().flat_map(|(at, place)| code(at, *place)).collect()
    })
}

/// The same of the frames of ten functions of which each calls the next: all have random pads, and
/// `time` gets where their frames begin.
fn file_of_frames(layouts: u32, seed: u64, time: impl Fn(&[u32]) -> f64) -> SamplesFile {
    let frames = |pads: &[u32]| -> Vec<u32> {
        let below = |stack: &mut u32, pad: &u32| {
            *stack = stack.wrapping_sub(pad + 96);
            Some(*stack % 4096)
        };
        pads.iter().scan(1 << 20, below).collect()
    };
    let figures = |pads: &[u32]| {
        let pairs = pads.iter().zip(frames(pads)).enumerate();
        pairs
            .flat_map(|(at, (pad, frame))| {
                [(format!("{PAD_PREFIX}f{at}"), *pad), (format!("{FRAME_PREFIX}f{at}"), frame)]
            })
            .collect()
    };
    file_with(layouts, seed, |pads| time(&frames(pads)), figures)
}

fn file_with(
    layouts: u32,
    seed: u64,
    time: impl Fn(&[u32]) -> f64,
    figures: impl Fn(&[u32]) -> Vec<(String, u32)>,
) -> SamplesFile {
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
            let all = figures(&places).into_iter();
            sample.figures.extend(all.map(|(figure, at)| (figure, f64::from(at))));
            file.runs.push(sample);
        }
    }
    file
}

#[test]
fn the_function_that_is_slow_at_one_offset_is_named_first() {
    for seed in 1..=20 {
        let slow = |places: &[u32]| if places[7] % 64 == 32 { 1100.0 } else { 1000.0 };
        let found = luck(&file(80, seed, slow), Part::Code, &[]).unwrap();
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
fn a_machine_that_slows_down_is_no_layout_where_a_run_beside_each_one_says_so() {
    let slow = |places: &[u32]| if places[7] % 64 == 32 { 1010.0 } else { 1000.0 };
    let mut file = file(120, 9, slow);
    let mut draws = Draws::new(10);
    let mut beside = Vec::new();
    let mut slower = 1.0;
    for run in &mut file.runs {
        // For some blocks at a time.
        if draws.index(4) == 0 {
            slower = 1.0 + draws.index(1000) as f64 / 1000.0;
        }
        run.user_us = format!("{:.0}", run.user_us as f64 * slower).parse().unwrap();
        let mut other = run.clone();
        other.program = 1;
        other.user_us = format!("{:.0}", 900_000.0 * slower).parse().unwrap();
        beside.push(other);
    }
    assert!(luck(&file, Part::Code, &[]).unwrap().named.is_empty());
    file.design.plan.programs = 2;
    file.runs.extend(beside);
    let found = luck(&file, Part::Code, &[]).unwrap();
    assert_eq!((&*found.named[0].function, found.runs), ("f7", 180), "{found:?}");
    assert!((found.sd_layouts.unwrap() - 0.0043).abs() < 0.002, "{:?}", found.sd_layouts);
}

#[test]
fn where_placement_does_nothing_no_function_is_named_in_nineteen_of_twenty() {
    let named = (0..100).filter(|seed| {
        let found = luck(&file(40, 100 + seed, |_| 1000.0), Part::Code, &[]).unwrap();
        !found.named.is_empty()
    });
    // 5 are expected; more than 15 have a probability below 1 in 10,000. Seeds are fixed.
    let named = named.count();
    assert!(named <= 15, "{named}");
}

#[test]
fn an_effect_of_a_page_is_told_from_one_of_a_line() {
    let slow = |places: &[u32]| if places[2] >= 3584 { 1100.0 } else { 1000.0 };
    let found = luck(&file(160, 3, slow), Part::Code, &[]).unwrap();
    assert_eq!((&*found.named[0].function, found.named[0].feature), ("f2", Feature::Page));
    assert_eq!(held_in(found.named[0].feature), 4096);
    let offsets = extremes(&found.named[0]).unwrap();
    let [best, worst] = places_held(&found, &found.named[0], offsets);
    assert!(offsets[1] == 3584 && worst >= 3584 && best < 3584, "{offsets:?}, {best}, {worst}");
}

#[test]
fn too_few_layouts_and_functions_without_places_say_nothing() {
    assert!(luck(&file(19, 1, |_| 1000.0), Part::Code, &[]).is_none());
    let mut some = file(20, 1, |_| 1000.0);
    some.runs[3].figures.clear();
    assert!(luck(&some, Part::Code, &[]).is_none());
}

#[test]
fn the_frame_that_is_slow_in_one_line_is_named_and_not_its_callers() {
    for seed in 1..=10 {
        let slow = |frames: &[u32]| if frames[4] % 64 == 48 { 1100.0 } else { 1000.0 };
        let found = luck(&file_of_frames(80, seed, slow), Part::Stack, &[]).unwrap();
        let first = &found.named[0];
        assert_eq!((&*first.function, first.feature), ("f4", Feature::FrameLine), "{first:?}");
        assert!(first.share.unwrap() > 0.7 && first.adjusted_p <= 0.001, "{first:?}");
        assert_eq!(extremes(first).unwrap()[1], 48);
        assert_eq!(found.functions, 10);
    }
}

#[test]
fn a_frame_that_is_slow_at_few_places_of_a_page_is_found_by_its_line() {
    // As where a variable of the frame and a global one lie a multiple of 4 KiB apart.
    let slow = |frames: &[u32]| if frames[7] / 64 == 33 { 1300.0 } else { 1000.0 };
    let found = luck(&file_of_frames(300, 5, slow), Part::Stack, &[]).unwrap();
    let first = &found.named[0];
    assert_eq!((&*first.function, first.feature), ("f7", Feature::FrameSet), "{first:?}");
    let [best, worst] = places_held(&found, first, extremes(first).unwrap());
    assert!(worst / 64 == 33 && best / 64 != 33, "{best}, {worst}");
}

#[test]
fn what_only_a_pad_explains_is_the_pads() {
    // The distance between the frames of f2 and f3.
    let near = |frames: &[u32]| (frames[2] + 4000).wrapping_sub(frames[3]) % 4096 < 512;
    let slow = |frames: &[u32]| if near(frames) { 1100.0 } else { 1000.0 };
    let found = luck(&file_of_frames(120, 2, slow), Part::Stack, &[]).unwrap();
    let first = &found.named[0];
    assert_eq!((&*first.function, first.feature), ("f3", Feature::PadPage), "{first:?}");
    // The first function's stack begins at one place, so that its pad is its frame.
    let first_is_slow = |frames: &[u32]| if frames[0] >= 3584 { 1100.0 } else { 1000.0 };
    let found = luck(&file_of_frames(120, 2, first_is_slow), Part::Stack, &[]).unwrap();
    let first = &found.named[0];
    assert!(first.function == "f0" && first.feature.is_of_frame(), "{first:?}");
}

#[test]
fn where_frames_do_nothing_none_is_named_in_nineteen_of_twenty() {
    let named = (0..60).filter(|seed| {
        let found = luck(&file_of_frames(40, 300 + seed, |_| 1000.0), Part::Stack, &[]).unwrap();
        !found.named.is_empty()
    });
    // 3 are expected; more than 11 have a probability below 1 in 10,000. Seeds are fixed.
    let named = named.count();
    assert!(named <= 11, "{named}");
}

#[test]
fn a_pair_that_is_slow_where_it_meets_is_named_if_it_was_asked_for() {
    let meet = |places: &[u32]| (places[6] + 4096 - places[3]) % 4096 < 512;
    let slow = |places: &[u32]| if meet(places) { 1100.0 } else { 1000.0 };
    let file = file(160, 4, slow);
    let asked = ["f1", "f3", "f6"].map(str::to_owned);
    let found = luck(&file, Part::Code, &asked).unwrap();
    let first = &found.named[0];
    assert_eq!((first.from.as_deref(), &*first.function), (Some("f3"), "f6"), "{first:?}");
    assert_eq!((first.feature, found.pairs, found.functions), (Feature::GapPage, 3, 10));
    assert!(first.share.unwrap() > 0.7 && first.adjusted_p <= 0.001, "{first:?}");
    let [best, worst] = places_held(&found, first, extremes(first).unwrap());
    assert!(worst < 512 && best >= 512 && worst % 64 == 0 && best % 64 == 0, "{best}, {worst}");
    assert!(fix::target(first, 0.01).is_none());
    // Neither of them alone explains it.
    assert!(luck(&file, Part::Code, &[]).unwrap().named.is_empty());
    // A function that did not run has no distances.
    let unknown = ["f1", "f3", "g"].map(str::to_owned);
    assert_eq!(luck(&file, Part::Code, &unknown).unwrap().pairs, 1);
}

#[test]
fn a_line_is_not_at_the_edge_of_a_class_unless_the_place_was() {
    let lines = |feature, places: &[u32]| -> Vec<u32> {
        places.iter().map(|&place| line_within(feature, place)).collect()
    };
    assert_eq!(lines(Feature::GapPage, &[0, 20, 64, 100]), [0, 64, 64, 64]);
    assert_eq!(lines(Feature::GapPage, &[3584, 3600, 3700, 4095]), [3584, 3648, 3648, 4032]);
    // A class that is a line has no other.
    assert_eq!(lines(Feature::GapSet, &[64, 70, 4095]), [64, 64, 4032]);
}

#[test]
fn blocks_of_a_slow_draw_are_named_with_the_functions_that_ask_for_them() {
    let sizes = |at: usize| format!("{}-{}", 32 * at + 1, 32 * at + 32);
    let draw = |place: u32| place / 16 % DRAWS;
    let figures = |places: &[u32]| {
        let of_size = |(at, place): (usize, &u32)| {
            let all = (format!("{ASKED_PREFIX}{}:", sizes(at)), 1000);
            [(format!("{BLOCKS_PREFIX}{}", sizes(at)), draw(*place)), all]
        };
        let asked = [("emit", 50), ("parse", 810)];
        let asked = asked.map(|(name, count)| (format!("{ASKED_PREFIX}97-128:{name}"), count));
        places.iter().enumerate().flat_map(of_size).chain(asked).collect()
    };
    let slow = |places: &[u32]| if draw(places[3]) == 5 { 1200.0 } else { 1000.0 };
    let found = luck(&file_with(160, 3, slow, figures), Part::Heap, &[]).unwrap();
    let first = &found.named[0];
    assert_eq!((&*first.function, first.feature), ("97-128", Feature::Draw), "{first:?}");
    assert_eq!((found.functions, held_in(first.feature)), (10, DRAWS));
    let [best, worst] = places_held(&found, first, extremes(first).unwrap());
    assert!(best != 5 && worst == 5, "{best}, {worst}");
    let asked = |one: &HotRecord| (one.function.clone(), (100.0 * one.share).round());
    let asked: Vec<_> = first.asked_by.iter().map(asked).collect();
    assert_eq!(asked, [("parse".to_owned(), 81.0), ("emit".to_owned(), 5.0)]);
}
