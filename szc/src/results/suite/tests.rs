//! Suites made of known times, and what is said about them.

use szc_stats::anova::contrasts_in_blocks;

use super::*;
use crate::examples::suite_of;

#[test]
fn with_two_levels_f_is_the_square_of_t() {
    let file = suite_of(&[&[1000, 900], &[500, 480], &[2000, 1700]]);
    let found = file.suite.unwrap();
    assert_eq!(found.degrees_of_freedom, [1, 2]);
    let rows: Vec<Vec<f64>> = [[1000.0, 900.0], [500.0, 480.0], [2000.0, 1700.0_f64]]
        .iter()
        .map(|row| row.iter().map(|value| value.ln()).collect())
        .collect();
    let t = contrasts_in_blocks(&rows, &[0; 3], 0, CONFIDENCE).unwrap()[0];
    // The noise of the samples is the same at both levels but not in logarithms.
    assert!((found.f / t.t.powi(2) - 1.0).abs() < 0.05, "{} {}", found.f, t.t);
    assert!((found.levels[1].ratio / t.difference.exp() - 1.0).abs() < 0.005);
    assert_eq!((found.levels[0].ratio, found.levels[0].interval), (1.0, None));
    assert!((found.levels[1].p_holm.unwrap() / found.p - 1.0).abs() < 1e-9);
}

#[test]
fn a_program_without_values_at_a_level_is_left_out() {
    let mut file = suite_of(&[&[1000, 900], &[500, 480], &[2000, 1700]]);
    file.runs.retain(|run| run.program != 5);
    let found = suite(&file).unwrap();
    assert_eq!(found.workloads, ["program 0", "program 1"]);
}

#[test]
fn an_interval_excludes_1_exactly_where_the_adjusted_p_says_so() {
    let (mut resolved, mut open, mut widened) = (0, 0, 0);
    for step in 0..40_u64 {
        // Levels that differ by little, and by another bit in each program.
        let times: Vec<[u64; 4]> = (0..5)
            .map(|program| {
                let at =
                    |level: u64| 20_000 + step * 7 * level + (program * 131 + level * 97) % 211;
                [at(0), at(1), at(2), at(3)]
            })
            .collect();
        let programs: Vec<&[u64]> = times.iter().map(<[u64; 4]>::as_slice).collect();
        let Some(found) = suite_of(&programs).suite else { continue };
        for level in found.levels.iter().skip(1) {
            let [lower, upper] = level.interval.unwrap();
            assert_eq!(lower > 1.0 || upper < 1.0, level.is_resolved(), "{level:?}");
            resolved += u32::from(level.is_resolved());
            open += u32::from(!level.is_resolved());
            widened += u32::from(level.confidence > CONFIDENCE);
        }
    }
    assert!(resolved > 10 && open > 10 && widened > 10, "{resolved} {open} {widened}");
}
