//! Suites made of known times, and what is said about them.

use super::*;
use crate::lab::experiment::analyse;
use crate::report::comparison::tests::file_of;
use crate::report::json::Command;
use szc_stats::anova::contrasts;

/// Programs with these times in milliseconds at levels -O1, -O2 …, 20 blocks each.
pub(crate) fn suite_of(programs: &[&[u64]]) -> SamplesFile {
    let mut whole: Option<SamplesFile> = None;
    for (index, times) in programs.iter().enumerate() {
        let mut file = file_of(times, 20);
        for (level, record) in file.programs.iter_mut().enumerate() {
            record.workload = Some(format!("program {index}"));
            record.level = Some(format!("-O{}", level + 1));
        }
        match &mut whole {
            None => whole = Some(file),
            Some(whole) => {
                let before = whole.programs.len();
                whole.programs.extend(file.programs);
                whole.runs.extend(file.runs.into_iter().map(|mut run| {
                    run.program += before;
                    run
                }));
            }
        }
    }
    let mut file = whole.unwrap();
    file.command = Command::Sweep;
    analyse(&mut file);
    file.suite = suite(&file);
    file
}

#[test]
fn with_two_levels_f_is_the_square_of_t() {
    let file = suite_of(&[&[1000, 900], &[500, 480], &[2000, 1700]]);
    let found = file.suite.unwrap();
    assert_eq!(found.degrees_of_freedom, [1, 2]);
    let rows: Vec<Vec<f64>> = [[1000.0, 900.0], [500.0, 480.0], [2000.0, 1700.0_f64]]
        .iter()
        .map(|row| row.iter().map(|value| value.ln()).collect())
        .collect();
    let t = contrasts(&rows, 0, CONFIDENCE).unwrap()[0];
    // The noise of the samples is the same at both levels but not in logarithms.
    assert!((found.f / t.t.powi(2) - 1.0).abs() < 0.05, "{} {}", found.f, t.t);
    assert!((found.levels[1].ratio / t.difference.exp() - 1.0).abs() < 0.005);
    assert_eq!((found.levels[0].ratio, found.levels[0].interval), (1.0, None));
    assert!((found.levels[1].p_holm.unwrap() / found.p - 1.0).abs() < 1e-9);
}

#[test]
fn the_table_has_speedups_with_their_marks() {
    let file = suite_of(&[&[1000, 500, 1000], &[1000, 520, 2000]]);
    let table = speedup_table(&file);
    let lines: Vec<&str> = table.lines().collect();
    assert_eq!(lines.len(), 4, "{table}");
    assert!(lines[0].contains("-O2") && lines[0].contains("-O3") && !lines[0].contains("-O1"));
    assert!(lines[1].starts_with("program 0   ") && lines[1].contains(" 1.99"), "{table}");
    assert!(lines[1].ends_with('='), "{table}");
    assert!(lines[2].ends_with('*') && lines[2].contains("0.50"), "{table}");
    assert!(lines[3].starts_with("all (geometric mean)"), "{table}");
}

#[test]
fn the_sentences_name_f_degrees_of_freedom_p_and_effect_size() {
    let file = suite_of(&[&[1000, 900, 905], &[500, 450, 460], &[2000, 1800, 1790]]);
    let sentences = suite_sentences(&file);
    assert!(sentences[0].starts_with("Of 6 pairs, 6 differ at 5 %"), "{sentences:?}");
    assert!(sentences[1].starts_with("-O2 takes less than -O1 over the suite: ratio 0.90"));
    let anova = sentences.last().unwrap();
    assert!(anova.contains("F(2, 4) = ") && anova.contains("partial η² = 0.9"), "{anova}");
}

#[test]
fn one_program_has_no_analysis_of_variance() {
    let file = suite_of(&[&[1000, 900]]);
    assert_eq!(file.suite, None);
    assert!(suite_sentences(&file).last().unwrap().starts_with("No analysis of variance"));
    assert_eq!(speedup_table(&file).lines().count(), 2);
}

#[test]
fn a_program_without_values_at_a_level_is_left_out() {
    let mut file = suite_of(&[&[1000, 900], &[500, 480], &[2000, 1700]]);
    file.runs.retain(|run| run.program != 5);
    let found = suite(&file).unwrap();
    assert_eq!(found.workloads, ["program 0", "program 1"]);
}

#[test]
fn names_from_a_file_cannot_steer_a_terminal() {
    let mut file = suite_of(&[&[1000, 900], &[500, 480]]);
    for program in &mut file.programs {
        program.workload = program.workload.as_ref().map(|name| format!("{name}\u{1b}[2J"));
    }
    assert!(!speedup_table(&file).contains('\u{1b}'));
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
