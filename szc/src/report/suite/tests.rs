//! Tables and sentences of suites made of known times.

use super::*;
use crate::examples::{suite_of, suite_on};
use crate::report::suite_sentences::suite_sentences;
use crate::results::suite::suite;
use crate::samples::Metric;

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
fn names_from_a_file_cannot_steer_a_terminal() {
    let mut file = suite_of(&[&[1000, 900], &[500, 480]]);
    for program in &mut file.programs {
        program.workload = program.workload.as_ref().map(|name| format!("{name}\u{1b}[2J"));
    }
    assert!(!speedup_table(&file).contains('\u{1b}'));
}

#[test]
fn programs_that_all_machines_measured_count_once() {
    let file = suite_on(&[
        ("a", 0, &[1000, 900]),
        ("a", 1, &[1000, 920]),
        ("b", 0, &[1000, 890]),
        ("b", 1, &[1000, 880]),
    ]);
    let found = file.suite.as_ref().unwrap();
    assert_eq!((found.workloads.len(), found.degrees_of_freedom), (2, [1, 1]));
    assert_eq!(file.over_machines.len(), 2);
    let sentences = suite_sentences(&file).join("\n");
    assert!(sentences.contains("Every program was measured on the same machines"), "{sentences}");
    let text = machines_text(&file);
    assert!(text.starts_with("2 machines, which are blocks") && text.contains("a, b"), "{text}");
}
#[test]
fn a_machine_for_each_program_is_said_to_be_no_block() {
    let file = suite_on(&[("a", 0, &[1000, 900]), ("b", 1, &[1000, 890])]);
    let found = file.suite.as_ref().unwrap();
    assert_eq!((found.degrees_of_freedom, found.by_block), ([1, 1], None));
    let sentences = suite_sentences(&file).join("\n");
    assert!(
        sentences.contains("No two programs were measured on the same machines"),
        "{sentences}"
    );
}

#[test]
fn machines_are_blocks_and_each_counts_the_same() {
    let file = suite_on(&[("a", 0, &[1000, 900]), ("a", 1, &[2000, 1900])]);
    let record = &file.over_machines[0];
    let expected = (0.9_f64 * 0.95).sqrt();
    assert!((record.ratio - expected).abs() < 0.002, "{record:?}");
    assert!(record.is_resolved() && record.agreement.p < 0.05, "{record:?}");
    let sentence = crate::report::suite_sentences::over_machines_sentence(record, &Metric::Cpu);
    assert!(sentence.contains("-O2 takes less than -O1"), "{sentence}");
    assert!(sentence.contains("the machines do not agree, so read them one by one"), "{sentence}");
    let table = speedup_table(&file);
    for row in ["a on host-1 ", "a on host-2 ", "a, machines as blocks "] {
        assert!(table.lines().any(|line| line.starts_with(row)), "{row}: {table}");
    }
}

#[test]
fn programs_of_one_machine_are_a_block_of_the_analysis_of_variance() {
    let programs: [(&str, usize, &[u64]); 4] = [
        ("a", 0, &[1000, 900]),
        ("b", 0, &[1000, 890]),
        ("c", 1, &[1000, 1100]),
        ("d", 1, &[1000, 1110]),
    ];
    let file = suite_on(&programs);
    assert!(file.over_machines.is_empty());
    let found = file.suite.as_ref().unwrap();
    assert_eq!(found.block_of, [0, 0, 1, 1]);
    assert_eq!(found.degrees_of_freedom, [1, 2]);
    let by_block = found.by_block.unwrap();
    assert_eq!(by_block.degrees_of_freedom, [1, 2]);
    assert!(by_block.p < 0.05, "{by_block:?}");
    let sentences = suite_sentences(&file).join("\n");
    assert!(sentences.contains("levels do not do the same on all machines"), "{sentences}");
    // The same programs as if one machine had measured them have no such block.
    let mut one = file.clone();
    one.machines.clear();
    one.programs.iter_mut().for_each(|record| record.machine = None);
    let found = suite(&one).unwrap();
    assert_eq!((found.degrees_of_freedom, found.by_block), ([1, 3], None));
}

#[test]
fn one_program_has_no_analysis_of_variance() {
    let file = suite_of(&[&[1000, 900]]);
    assert_eq!(file.suite, None);
    assert!(suite_sentences(&file).last().unwrap().starts_with("No analysis of variance"));
    assert_eq!(speedup_table(&file).lines().count(), 2);
}
