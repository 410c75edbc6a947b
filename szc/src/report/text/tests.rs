//! Tables and remarks.

use super::*;
use crate::examples::{analysed, comparison, file_of};

#[test]
fn the_table_of_two_has_one_aligned_line_for_each_metric() {
    let text = comparison_table(&comparison(1000, 900));
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines.len(), 4);
    let cells = |line: usize| lines[line].split_whitespace().collect::<Vec<_>>().join(" ");
    assert_eq!(cells(0), "A median B median B / A 95 % interval verdict n");
    assert_eq!(cells(1), "CPU time 1005 ms 905.0 ms 0.9005 0.8994 to 0.9016 faster 20");
    let ends: Vec<usize> = lines.iter().map(|line| line.chars().count()).collect();
    assert!(ends.iter().all(|end| *end == ends[0]), "{text}");
    assert!(lines[1].ends_with("faster   20"), "{text}");
    assert!(lines[3].contains("smaller"), "{text}");
}

#[test]
fn what_is_not_known_is_a_tilde() {
    let mut file = file_of(&[1000, 1000], 20);
    file.design.tolerance = Some(1e-4);
    let text = comparison_table(&analysed(file));
    assert!(text.lines().nth(1).unwrap().contains(" ~ "), "{text}");
}

#[test]
fn the_table_of_three_has_one_line_for_each_program() {
    let text = comparison_table(&analysed(file_of(&[1000, 1100, 900], 20)));
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines.len(), 4, "{text}");
    assert!(lines[1].starts_with("A (-O2)") && lines[1].ends_with("reference"), "{text}");
    assert!(lines[2].starts_with("B (-O3)") && lines[2].contains("slower"), "{text}");
    assert!(lines[2].ends_with("<0.0001"), "{text}");
    assert!(lines[3].starts_with("C (-Os)") && lines[3].contains("faster"), "{text}");
}

#[test]
fn too_few_blocks_give_no_verdict() {
    let short = analysed(file_of(&[1000, 900], 4));
    assert!(verdicts(&short)[0].starts_with("No verdict on B (-O3) against A (-O2): 4 complete"));
    assert!(remarks(&short).is_empty() && comparison_table(&short).is_empty());
}

#[test]
fn a_metric_without_values_is_remarked() {
    let mut file = file_of(&[1000, 900], 20);
    file.design.metric = Metric::Wall;
    for run in &mut file.runs {
        (run.user_us, run.sys_us) = (0, 0);
    }
    let file = analysed(file);
    assert_eq!(file.results.len(), 2);
    let remarks = remarks(&file);
    assert!(
        remarks.iter().any(|remark| remark.starts_with("No comparison of CPU time")),
        "{remarks:?}"
    );
}

#[test]
fn an_interrupted_experiment_of_fixed_size_says_what_its_interval_is_worth() {
    let mut file = file_of(&[1000, 900], 20);
    file.ended = EndedRecord::Interrupted { signal: 2 };
    file.design.plan.blocks = 40;
    let fixed = analysed(file.clone());
    assert!(remarks(&fixed).iter().any(|remark| remark.contains("Stopped after 20 of 40 blocks")));
    file.design.rule = RuleRecord::Sequential;
    let sequential = analysed(file);
    assert!(remarks(&sequential).iter().all(|remark| !remark.contains("Stopped")));
}

#[test]
fn the_summary_of_a_program_has_one_line_for_each_metric() {
    let text = summary_table(&comparison(1000, 900), 0);
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines.len(), 4, "{text}");
    assert!(lines[0].ends_with("outliers   layouts   runs"), "{text}");
    assert!(lines[1].starts_with("CPU time") && lines[1].ends_with("40     40"), "{text}");
}

#[test]
fn what_layouts_have_in_common_is_said_of_each_program_behind_the_first() {
    let mut file = comparison(1000, 900);
    assert!(shared_lines(&file).is_empty());
    file.programs[1].shared = Some(SharedRecord { movable: 2021, shared: 2019 });
    let lines = shared_lines(&file);
    assert_eq!(lines.len(), 1);
    assert!(
        lines[0].starts_with("2019 of 2021 functions of B have the same name in A"),
        "{lines:?}"
    );
    assert!(comparison_report(&file, false).contains(&lines[0]));
    assert!(!comparison_report(&file, true).contains(&lines[0]));
}
