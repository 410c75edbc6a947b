//! Suites of several machines made of known times.

use super::*;
use crate::lab::experiment::analyse;
use crate::measure::machine::Machine;
use crate::report::json::VERSION_OF_MACHINES;
use crate::report::suite::{speedup_table, suite, suite_sentences, tests::suite_of};

/// Programs `(name, machine, times at the levels)`.
pub(crate) fn suite_on(programs: &[(&str, usize, &[u64])]) -> SamplesFile {
    let times: Vec<&[u64]> = programs.iter().map(|(_, _, times)| *times).collect();
    let mut file = suite_of(&times);
    let levels = file.programs.len() / programs.len();
    for (place, record) in file.programs.iter_mut().enumerate() {
        let (name, machine, _) = programs[place / levels];
        record.workload = Some(name.to_owned());
        record.machine = Some(machine);
    }
    let count = programs.iter().map(|(_, machine, _)| machine + 1).max().unwrap();
    let host = |number| Machine { hostname: Some(format!("host-{number}")), ..Machine::default() };
    file.machines = (1..=count).map(host).collect();
    file.machine = file.machines[0].clone();
    file.version = VERSION_OF_MACHINES;
    analyse(&mut file);
    file.over_machines = over_machines(&file);
    file.suite = suite(&file);
    file
}

#[test]
fn nothing_is_compared_across_machines() {
    // The second machine is ten times slower, and all levels take the same on each.
    let file = suite_on(&[("a", 0, &[1000, 1001]), ("a", 1, &[10_000, 10_010])]);
    let pairs: Vec<(usize, usize)> =
        file.deciding_results().map(|result| (result.reference, result.program)).collect();
    assert_eq!(pairs, [(0, 1), (2, 3)]);
    assert!(file.results.iter().all(|result| (result.ratio - 1.0).abs() < 0.01));
    let record = &file.over_machines[0];
    assert_eq!((record.machines.as_slice(), record.n), (&[0, 1][..], 40));
    assert!((record.ratio - 1.001).abs() < 0.005, "{record:?}");
}

#[test]
fn machines_are_blocks_and_each_counts_the_same() {
    let file = suite_on(&[("a", 0, &[1000, 900]), ("a", 1, &[2000, 1900])]);
    let record = &file.over_machines[0];
    let expected = (0.9_f64 * 0.95).sqrt();
    assert!((record.ratio - expected).abs() < 0.002, "{record:?}");
    assert!(record.is_resolved() && record.agreement.p < 0.05, "{record:?}");
    let sentence = record.sentence(&Metric::Cpu);
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
