//! The report, in tables and sentences.
#![forbid(unsafe_code)]

use szc_stats::perturbation::{Change, Score, smallest_adjusted_p};

use super::advice::Split;
use super::record::{Arm, Record, Step};
use super::results::{ALPHA, Judged, flat};
use crate::report::number::short_p;
use crate::report::text::align;

/// Most rows of a step.
const MAX_ROWS: usize = 12;

/// All of it; `quiet`: the sentences alone.
pub(super) fn report(record: &Record, judged: &[Judged], quiet: bool) -> String {
    let mut text = String::new();
    if !quiet {
        text.push_str(&align(&overview(record, judged)));
        text.push('\n');
        let rows = changes(record, judged);
        if rows.len() > 1 {
            text.push_str(&align(&rows));
            text.push('\n');
        }
    }
    for sentence in sentences(record, judged) {
        text.push_str(&sentence);
        text.push('\n');
    }
    text
}

fn overview(record: &Record, judged: &[Judged]) -> Vec<Vec<String>> {
    let head = ["with", "layouts", "runs", "CPU time", "pairs changed", "metrics changed"];
    let mut rows = vec![head.map(str::to_owned).to_vec()];
    for &arm in &record.arms {
        let runs = record.runs_of(0, arm).count().to_string();
        let row = ["nothing (baseline)", arm_name(arm), &runs, "", "", ""];
        rows.push(row.map(str::to_owned).to_vec());
    }
    for step in judged {
        let count = |is_inner: bool| {
            let of = |change: &&Change| matches!(change.score, Score::Inner(..)) == is_inner;
            let shown = step.shown().filter(of).count();
            format!("{shown} of {}", step.changes.iter().filter(of).count())
        };
        rows.push(vec![
            title(&record.steps[step.step]),
            arm_name(step.arm).to_owned(),
            record.runs_of(step.step, step.arm).count().to_string(),
            format!("{:+.1} %", 100.0 * (step.cpu_ratio - 1.0)),
            count(true),
            count(false),
        ]);
    }
    rows
}

fn changes(record: &Record, judged: &[Judged]) -> Vec<Vec<String>> {
    let head = ["changed with", "layouts", "correlation", "baseline", "its range", "with it", "p"];
    let mut rows = vec![head.map(str::to_owned).to_vec()];
    for step in judged {
        let mut shown: Vec<&Change> = step.shown().collect();
        shown.sort_by(|one, other| {
            let size = |change: &Change| (change.after - change.before).abs();
            size(other).total_cmp(&size(one))
        });
        for change in shown.iter().take(MAX_ROWS) {
            rows.push(vec![
                record.steps[step.step].name.clone(),
                arm_name(step.arm).to_owned(),
                score_name(record, change.score),
                format!("{:.2}", change.before),
                format!("{:.2} to {:.2}", change.range[0], change.range[1]),
                format!("{:.2}", change.after),
                short_p(change.adjusted_p),
            ]);
        }
    }
    rows
}

fn title(step: &Step) -> String {
    step.name.clone()
}

pub(super) const fn arm_name(arm: Arm) -> &'static str {
    match arm {
        Arm::Layouts => "all new",
        Arm::Fixed => "all alike",
        Arm::AsBuilt => "as built",
    }
}

pub(super) fn score_name(record: &Record, score: Score) -> String {
    let name = |place: usize| record.metrics[place].as_str();
    match score {
        Score::Inner(one, other) => format!("{} and {}", name(one), name(other)),
        Score::Outer(metric) => format!("{} with itself", name(metric)),
    }
}

pub(super) fn sentences(record: &Record, judged: &[Judged]) -> Vec<String> {
    let mut sentences = Vec::new();
    for (place, step) in record.steps.iter().enumerate().skip(1) {
        let of = |arm: Arm| judged.iter().find(|one| one.step == place && one.arm == arm);
        if let Some(only) = of(Arm::AsBuilt) {
            sentences.push(verdict(step, only));
        } else if let (Some(layouts), Some(fixed)) = (of(Arm::Layouts), of(Arm::Fixed)) {
            sentences.push(verdict_of_both(step, layouts, fixed));
        }
    }
    sentences.extend(recoveries(record, judged));
    let flat = flat(record);
    if !flat.is_empty() {
        sentences
            .push(format!("Flat in all baselines, so nothing is known of: {}.", flat.join(", ")));
    }
    let late: usize = record.runs.iter().map(|run| run.late).sum();
    let records: usize =
        record.runs.iter().filter_map(|run| run.signals.first()).map(Vec::len).sum();
    if late * 100 > records {
        sentences.push(format!(
            "{:.0} % of the intervals were longer than one and a half: the machine was busy, or \
             --interval is too short for it.",
            100.0 * late as f64 / records as f64
        ));
    }
    let metrics = record.metrics.len();
    for &arm in &record.arms {
        let runs = |step: usize| record.runs_of(step, arm).count();
        let steps = judged.iter().filter(|one| one.arm == arm).count();
        let least = smallest_adjusted_p(runs(0), runs(1), metrics) * steps as f64;
        if steps > 0 && least > ALPHA {
            sentences.push("So few runs could not have shown anything: raise --runs.".to_owned());
            break;
        }
    }
    sentences.push(format!(
        "Error rate of all this {:.0} % (exact rank-sum tests, Holm); \"not shown\" is not \
         \"none\".",
        100.0 * ALPHA
    ));
    sentences
}

fn verdict(step: &Step, judged: &Judged) -> String {
    match judged.shown().count() {
        0 => format!("{}: no perturbation is shown.", step.name),
        count => {
            format!("{}: it perturbs what is measured ({count} {}).", step.name, scores(count))
        }
    }
}

const fn scores(count: usize) -> &'static str {
    if count == 1 { "correlation" } else { "correlations" }
}

fn verdict_of_both(step: &Step, layouts: &Judged, fixed: &Judged) -> String {
    let (over, alike) = (layouts.shown().count(), fixed.shown().count());
    let common = layouts.shown().filter(|change| fixed.shows(change.score)).count();
    let name = &step.name;
    match (over, alike) {
        (0, 0) => format!("{name}: no perturbation is shown, over layouts or in one."),
        (0, _) => format!(
            "{name}: {alike} {} changed in one layout, and no more over layouts than layouts do \
             themselves: moved code would explain it.",
            scores(alike)
        ),
        (_, 0) => format!(
            "{name}: it perturbs what is measured over layouts ({over} {}); in the one layout that \
             was held it is not shown.",
            scores(over)
        ),
        _ => format!(
            "{name}: it perturbs what is measured ({over} {} over layouts, {alike} with code held, \
             {common} in both): not by moving code.",
            scores(over)
        ),
    }
}

/// Where more that is added perturbs less.
fn recoveries(record: &Record, judged: &[Judged]) -> Vec<String> {
    let mut sentences = Vec::new();
    for pair in judged.windows(2) {
        let [before, after] = pair else { continue };
        let is_larger = !record.steps[before.step].probes.is_empty()
            && record.steps[after.step].probes.starts_with(&record.steps[before.step].probes);
        if before.arm != after.arm || !is_larger {
            continue;
        }
        let recovered: Vec<String> = before
            .shown()
            .filter(|change| !after.shows(change.score))
            .map(|change| score_name(record, change.score))
            .collect();
        if !recovered.is_empty() {
            sentences.push(format!(
                "With {} added ({}) no change is shown any more of: {}.",
                record.steps[after.step].name,
                arm_name(after.arm),
                recovered.join(", ")
            ));
        }
    }
    sentences
}

/// How to split metrics over runs.
pub(super) fn advice(split: &Split) -> String {
    let mut text = String::new();
    for (number, group) in split.groups.iter().enumerate() {
        text.push_str(&format!(
            "Run {}: all metrics from outside, and {}.\n",
            number + 1,
            group.join(", ")
        ));
    }
    if !split.refused.is_empty() {
        text.push_str(&format!(
            "Perturb even alone, and cannot be had so: {}.\n",
            split.refused.join(", ")
        ));
    }
    text.push_str("Each of these runs was measured, and no perturbation was shown in it.\n");
    text
}
