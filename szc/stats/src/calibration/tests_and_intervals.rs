//! Levels of the tests and coverage of the intervals for one look.

use super::noise::{Machine, Noise, Shape};
use super::{Rate, rate};
use crate::bootstrap::bca;
use crate::change_points::{Judge, Search, change_points};
use crate::describe::{mean, median};
use crate::equivalence::two_one_sided_tests;
use crate::groups::{brown_forsythe, welch};
use crate::quantile::HarrellDavis;
use crate::ranks::{mann_whitney, signed_rank};
use crate::{anova, levels, serial, shapiro_wilk, trend};

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
    rate("Mann-Whitney (counted), n = 12 and 15, exponential: p < 0.05", 301, |noise| {
        let (a, b) = (list(noise, 12, Noise::exponential), list(noise, 15, Noise::exponential));
        mann_whitney(&a, &b).unwrap().p < 0.05
    })
    .at_most(0.05);
    rate("Mann-Whitney (normal), n = 60 and 70, many ties: p < 0.05", 302, |noise| {
        let rounded = |noise: &mut Noise| (3.0 * noise.normal()).round();
        mann_whitney(&list(noise, 60, rounded), &list(noise, 70, rounded)).unwrap().p < 0.05
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
    rate("two one-sided tests, n = 20, at the bound: equivalent", 312, |noise| {
        let blocks: Vec<f64> = list(noise, 20, Noise::normal).iter().map(|x| x + 1.0).collect();
        two_one_sided_tests(&blocks, 1.0, 0.05).unwrap().equivalent
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
        let found = anova::contrasts(&table(noise, 1.0), 0, 0.95).unwrap();
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
    let judges = [Judge::Permutation { permutations: 99, seed: 1 }, Judge::TTest];
    for (seed, judge) in (340..).zip(judges) {
        let search = Search { least: 5, significance: 0.05, judge };
        let by = if judge == Judge::TTest { "t test" } else { "99 permutations" };
        for (shape, source) in sources {
            let name = format!("change points by {by}, n = 40, {shape}: any");
            rate(&name, seed, |noise| {
                !change_points(&list(noise, 40, source), &search).unwrap().is_empty()
            })
            .at_most(0.05);
        }
        let name = format!("change points by {by}, n = 40, step of 2 sd: within 2 places");
        rate(&name, seed + 10, |noise| {
            let mut values = list(noise, 40, Noise::normal);
            values[25..].iter_mut().for_each(|value| *value += 2.0);
            let found = change_points(&values, &search).unwrap();
            found.iter().any(|point| point.index.abs_diff(25) <= 2)
        })
        .at_least(0.80);
    }
}

/// Coverage of the BCa interval of a `statistic` of `count` values, whose true value is `truth`.
fn coverage(
    name: &str,
    seed: u64,
    truth: f64,
    count: usize,
    value: fn(&mut Noise) -> f64,
    statistic: impl Fn(&[f64]) -> f64,
) -> Rate {
    let mut resampling = 0;
    rate(name, seed, |noise| {
        resampling += 1;
        let sample = list(noise, count, value);
        let found = bca(&sample, &statistic, 1000, 0.95, resampling).unwrap();
        found.interval.contains(truth)
    })
}

#[test]
fn bootstrap_intervals_cover_nearly_as_often_as_they_say() {
    let average = |x: &[f64]| mean(x).unwrap();
    coverage("BCa, mean of 30 normal: covers", 350, 0.0, 30, Noise::normal, average).at_least(0.92);
    let name = "BCa, mean of 30 exponential: covers";
    coverage(name, 351, 1.0, 30, Noise::exponential, average).at_least(0.90);
    let name = "BCa, median of 30 exponential: covers";
    let middle = |x: &[f64]| median(x).unwrap();
    coverage(name, 352, 2.0_f64.ln(), 30, Noise::exponential, middle).at_least(0.92);
    let name = "BCa, 0.9 quantile (Harrell-Davis) of 60 normal: covers";
    // The statistic without one value has one value less.
    let full = HarrellDavis::new(60, 0.9).unwrap();
    let short = HarrellDavis::new(59, 0.9).unwrap();
    let upper = |x: &[f64]| if x.len() == 60 { &full } else { &short }.estimate(x).unwrap();
    coverage(name, 353, 1.281_551_565_5, 60, Noise::normal, upper).at_least(0.92);
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
        let found = levels::components(&values, &[10, 4], 0.95).unwrap();
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
