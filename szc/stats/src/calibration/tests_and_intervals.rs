//! Levels of the tests and coverage of the intervals for one look.

use super::noise::{Machine, Noise, Shape};
use super::rate;
use crate::change_points::{Search, change_points};
use crate::groups::{brown_forsythe, welch};
use crate::ranks::signed_rank;
use crate::{anova, serial, shapiro_wilk, trend, variance_components};

fn list(noise: &mut Noise, count: usize, value: fn(&mut Noise) -> f64) -> Vec<f64> {
    (0..count).map(|_| value(noise)).collect()
}

#[test]
fn tests_of_two_groups_keep_their_level() {
    rate("Welch, n = 8 and 15, spread 1 and 3: p < 0.05", 300, |noise| {
        let wide: Vec<f64> = list(noise, 15, Noise::normal).iter().map(|x| 3.0 * x).collect();
        welch(&list(noise, 8, Noise::normal), &wide, 0.95).unwrap().p < 0.05
    })
    .about(0.05);
    rate("Brown-Forsythe, 3 groups of 20, exponential: p < 0.05", 303, |noise| {
        let groups: [Vec<f64>; 3] = std::array::from_fn(|_| list(noise, 20, Noise::exponential));
        brown_forsythe(&[&groups[0], &groups[1], &groups[2]]).unwrap().p < 0.05
    })
    .at_most(0.06);
}

#[test]
fn tests_of_pairs_keep_their_level() {
    rate("signed ranks (counted), n = 15, heavy tails: p < 0.05", 310, |noise| {
        signed_rank(&list(noise, 15, Noise::heavy_tailed)).unwrap().p < 0.05
    })
    .at_most(0.05);
    rate("signed ranks (normal), n = 60, heavy tails: p < 0.05", 311, |noise| {
        signed_rank(&list(noise, 60, Noise::heavy_tailed)).unwrap().p < 0.05
    })
    .about(0.05);
}

#[test]
fn the_analysis_of_variance_keeps_its_level_where_correlations_are_unequal() {
    // Five levels, the error of each three times that of the one before.
    let table = |noise: &mut Noise, growth: f64| -> Vec<Vec<f64>> {
        (0..10)
            .map(|_| {
                let program = 10.0 * noise.normal();
                (0..5).map(|level| program + growth.powi(level) * noise.normal()).collect()
            })
            .collect()
    };
    rate("ANOVA, 10 subjects, 5 levels, equal errors: p < 0.05", 320, |noise| {
        anova::within_subjects(&table(noise, 1.0), 0.95).unwrap().p < 0.05
    })
    .about(0.05);
    rate("ANOVA, errors growing threefold, uncorrected: p < 0.05", 321, |noise| {
        anova::within_subjects(&table(noise, 3.0), 0.95).unwrap().p < 0.05
    })
    .at_least(0.08);
    rate("ANOVA, errors growing threefold, Greenhouse-Geisser: p < 0.05", 322, |noise| {
        anova::within_subjects(&table(noise, 3.0), 0.95).unwrap().p_corrected < 0.05
    })
    .at_most(0.06);
    rate("contrasts of 5 levels, Holm: any p < 0.05", 323, |noise| {
        let found = anova::contrasts_in_blocks(&table(noise, 1.0), &[0; 10], 0, 0.95).unwrap();
        found.iter().any(|contrast| contrast.p_holm < 0.05)
    })
    .at_most(0.05);
}

#[test]
fn diagnostics_keep_their_level_and_see_what_they_are_for() {
    for (seed, count) in [(330, 5), (331, 20), (332, 100)] {
        let name = format!("Shapiro-Wilk, n = {count}, normal: p < 0.05");
        rate(&name, seed, |noise| {
            shapiro_wilk::shapiro_wilk(&list(noise, count, Noise::normal)).unwrap().p < 0.05
        })
        .about(0.05);
    }
    rate("Shapiro-Wilk, n = 30, exponential: p < 0.05", 333, |noise| {
        shapiro_wilk::shapiro_wilk(&list(noise, 30, Noise::exponential)).unwrap().p < 0.05
    })
    .at_least(0.95);
    rate("autocorrelation, n = 40, independent: p < 0.05", 334, |noise| {
        serial::lag_1_autocorrelation(&list(noise, 40, Noise::normal)).unwrap().p < 0.05
    })
    .at_most(0.055);
    rate(
        "autocorrelation, n = 40, blocks ABBA on an autocorrelated machine: p < 0.05",
        335,
        |noise| {
            let mut machine = Machine::new(Shape::Autocorrelated, noise);
            let blocks: Vec<f64> = (0..40).map(|_| machine.block(noise)).collect();
            serial::lag_1_autocorrelation(&blocks).unwrap().p < 0.05
        },
    )
    .at_most(0.055);
    rate("autocorrelation, n = 40, coefficient 0.95: p < 0.05", 336, |noise| {
        let mut machine = Machine::new(Shape::Autocorrelated, noise);
        let runs: Vec<f64> = (0..40).map(|_| machine.run(noise)).collect();
        serial::lag_1_autocorrelation(&runs).unwrap().p < 0.05
    })
    .at_least(0.95);
    rate("trend, n = 40, independent: p < 0.05", 337, |noise| {
        trend::trend(&list(noise, 40, Noise::heavy_tailed), 0.95).unwrap().p < 0.05
    })
    .at_most(0.05);
    rate("trend, n = 100, drift of one sd in all: slope in its interval", 338, |noise| {
        let mut machine = Machine::new(Shape::Drifting, noise);
        let runs: Vec<f64> = (0..100).map(|_| machine.run(noise)).collect();
        trend::trend(&runs, 0.95).unwrap().interval.contains(0.01)
    })
    .about(0.95);
}

#[test]
fn change_points_are_not_seen_in_noise() {
    type Source = (&'static str, fn(&mut Noise) -> f64);
    let sources: [Source; 2] = [("normal", Noise::normal), ("exponential", Noise::exponential)];
    let search = Search { least: 5, significance: 0.05 };
    for (seed, (shape, source)) in (341..).zip(sources) {
        let name = format!("change points, n = 40, {shape}: any");
        rate(&name, seed, |noise| {
            !change_points(&list(noise, 40, source), &search).unwrap().is_empty()
        })
        .at_most(0.05);
    }
    rate("change points, n = 40, step of 2 sd: within 2 places", 351, |noise| {
        let mut values = list(noise, 40, Noise::normal);
        values[25..].iter_mut().for_each(|value| *value += 2.0);
        let found = change_points(&values, &search).unwrap();
        found.iter().any(|point| point.index.abs_diff(25) <= 2)
    })
    .at_least(0.80);
}

#[test]
fn variance_components_are_found_without_bias() {
    let mut sum = [0.0; 2];
    let covered = rate("Kalibera-Jones, 10 layouts of 4 runs: interval covers", 360, |noise| {
        let mut values = Vec::new();
        for _ in 0..10 {
            let layout = 2.0 * noise.normal();
            values.extend((0..4).map(|_| layout + 3.0 * noise.normal()));
        }
        let found = variance_components::components(&values, &[10, 4], 0.95).unwrap();
        sum[0] += found.unbiased[0];
        sum[1] += found.unbiased[1];
        found.interval.contains(0.0)
    });
    covered.about(0.95);
    let [inner, outer] = sum.map(|total| total / covered.trials);
    println!(
        "{:<76} {inner:>6.2}, {outer:.2} (%)",
        "Kalibera-Jones: mean T1 squared of 9, T2 squared of 4"
    );
    // Standard deviations of one estimate: 2.3 and about 3.
    let error = 3.0 / covered.trials.sqrt();
    assert!(
        (inner - 9.0).abs() < 2.3 * error && (outer - 4.0).abs() < 3.0 * error,
        "{inner} {outer}"
    );
}
