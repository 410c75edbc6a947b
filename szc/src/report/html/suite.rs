//! The levels of a sweep over all its programs: what was found, a picture, and the analysis of
//! variance in numbers.
#![forbid(unsafe_code)]

use szc_stats::fixed::Interval;

use super::element::{Figure, number, sentence, table};
use super::verdicts::directions;
use crate::report::number::{decimals_for, range, short_p};
use crate::report::plot::interval::{self, Labels, Row};
use crate::report::plot::svg::escape;
use crate::report::suite_sentences::suite_sentences;
use crate::report::view::{Experiment, Tone};
use crate::samples::{LevelRecord, OverMachinesRecord, SuiteRecord};

/// The section of the experiment at `place` of the page; empty if it is no sweep.
pub(super) fn section(place: usize, experiment: &Experiment) -> String {
    if !experiment.is_sweep() {
        return String::new();
    }
    let sentences: String = suite_sentences(&experiment.file)
        .iter()
        .map(|text| format!("<li>{}</li>\n", sentence(text)))
        .collect();
    let numbers = experiment.file.suite.as_ref().map(|suite| {
        let base = format!("/experiments/{place}/samples/suite");
        format!(
            "{}{}<div class=\"figures\">\n{}</div>\n",
            levels(&base, suite),
            variance(&base, suite),
            figure(place, experiment, suite)
        )
    });
    format!(
        "<h3 id=\"e{place}-suite\">Over all programs</h3>\n<ul class=\"remarks\">\n{sentences}</ul>\n{}{}",
        over_machines(place, experiment),
        numbers.unwrap_or_default()
    )
}

/// Programs that several machines measured; empty if there are none.
fn over_machines(place: usize, experiment: &Experiment) -> String {
    let records = &experiment.file.over_machines;
    if records.is_empty() {
        return String::new();
    }
    let row = |(at, record): (usize, &OverMachinesRecord)| {
        let base = format!("/experiments/{place}/samples/over_machines/{at}");
        let mut row = vec![
            escape(&record.workload),
            escape(&format!("{} against {}", record.level, record.reference)),
            record.machines.len().to_string(),
        ];
        row.extend(ratio_cells(&base, ["ratio", "interval"], record.ratio, record.interval));
        row.push(number(&format!("{base}/p_holm"), record.p_holm, &short_p(record.p_holm)));
        let p = record.agreement.p;
        row.push(number(&format!("{base}/agreement/p"), p, &short_p(p)));
        row
    };
    let rows: Vec<Vec<String>> = records.iter().enumerate().map(row).collect();
    let head = [
        "program",
        "compared",
        "machines",
        "ratio",
        "interval (95 % for all levels)",
        "p (Holm)",
        "p of agreement",
    ];
    table("Programs over several machines, which are blocks and count the same", &head, &rows)
}

/// Two numbers with as many digits as the interval deserves, and their interval.
fn ratio_cells(base: &str, names: [&str; 2], ratio: f64, ends: [f64; 2]) -> [String; 2] {
    let decimals = decimals_for(ratio, Interval { lower: ends[0], upper: ends[1] });
    let shown = |field: &str, value: f64| {
        number(&format!("{base}/{field}"), value, &format!("{value:.decimals$}"))
    };
    let [ratio_name, interval_name] = names;
    let [lower, upper] = [0, 1].map(|end| shown(&format!("{interval_name}/{end}"), ends[end]));
    [shown(ratio_name, ratio), format!("{lower} to {upper}")]
}

fn levels(base: &str, suite: &SuiteRecord) -> String {
    let rows: Vec<Vec<String>> = suite
        .levels
        .iter()
        .enumerate()
        .map(|(at, level)| {
            let base = format!("{base}/levels/{at}");
            let mut row = vec![escape(&level.level)];
            match (level.interval, level.p_holm) {
                (Some(ends), Some(p)) => {
                    row.extend(ratio_cells(&base, ["ratio", "interval"], level.ratio, ends));
                    row.push(number(&format!("{base}/p_holm"), p, &short_p(p)));
                }
                _ => row.extend(["reference", "", ""].map(str::to_owned)),
            }
            row.extend(ratio_cells(
                &base,
                ["ratio_to_mean", "interval_to_mean"],
                level.ratio_to_mean,
                level.interval_to_mean,
            ));
            row
        })
        .collect();
    let head = [
        "level",
        "ratio to the reference",
        "interval (95 % for all levels)",
        "p (Holm)",
        "ratio to the mean of levels",
        "interval of Loftus and Masson",
    ];
    table(&format!("Levels over {} programs, geometric means", suite.workloads.len()), &head, &rows)
}

/// The analysis of variance as a table of one row.
fn variance(base: &str, suite: &SuiteRecord) -> String {
    let at = |field: &str| format!("{base}/{field}");
    let [of_levels, of_error] = suite.degrees_of_freedom;
    let degrees = [of_levels, of_error].map(|count| count.to_string());
    let row = vec![
        "levels".to_owned(),
        number(&at("f"), suite.f, &format!("{:.3}", suite.f)),
        format!(
            "{}, {}",
            number(&at("degrees_of_freedom/0"), of_levels as f64, &degrees[0]),
            number(&at("degrees_of_freedom/1"), of_error as f64, &degrees[1])
        ),
        number(&at("p"), suite.p, &short_p(suite.p)),
        number(&at("epsilon"), suite.epsilon, &format!("{:.3}", suite.epsilon)),
        number(&at("p_corrected"), suite.p_corrected, &short_p(suite.p_corrected)),
        number(
            &at("partial_eta_squared"),
            suite.partial_eta_squared,
            &format!("{:.3}", suite.partial_eta_squared),
        ),
        number(
            &at("generalized_eta_squared"),
            suite.generalized_eta_squared,
            &format!("{:.5}", suite.generalized_eta_squared),
        ),
    ];
    let head = [
        "effect",
        "F",
        "df",
        "p",
        "ε (Greenhouse–Geisser)",
        "p with ε",
        "partial η²",
        "generalized η²",
    ];
    let mut rows = vec![row];
    if let Some(found) = suite.by_block {
        let at = |field: &str| format!("{base}/by_block/{field}");
        let [of_blocks, of_error] = found.degrees_of_freedom;
        let mut row = vec![
            "levels by machines".to_owned(),
            number(&at("f"), found.f, &format!("{:.3}", found.f)),
            format!(
                "{}, {}",
                number(&at("degrees_of_freedom/0"), of_blocks as f64, &of_blocks.to_string()),
                number(&at("degrees_of_freedom/1"), of_error as f64, &of_error.to_string())
            ),
            number(&at("p"), found.p, &short_p(found.p)),
        ];
        row.resize(head.len(), String::new());
        rows.push(row);
    }
    table("Analysis of variance within programs, of mean log values", &head, &rows)
}

fn figure(place: usize, experiment: &Experiment, suite: &SuiteRecord) -> String {
    let reference = suite.levels.first().map_or("", |level| level.level.as_str());
    let rows: Vec<Row> = suite.levels.iter().filter_map(|level| row(level, reference)).collect();
    let description: Vec<String> =
        rows.iter().map(|row| format!("{}: {}.", row.label, row.numbers)).collect();
    let [below, above] = directions(&suite.metric).map(str::to_owned);
    let labels = Labels {
        axis: "ratio to the reference (logarithmic)".to_owned(),
        below,
        above,
        tolerance: experiment.file.design.tolerance,
    };
    let figure = Figure {
        id: format!("e{place}-levels"),
        title: format!("Levels over {} programs: {}", suite.workloads.len(), suite.metric.title()),
        description: description.join(" "),
        caption: "Each line is the interval of a level's geometric mean ratio over the programs, whose spread it comes from: a few programs that do not agree make it wide.".to_owned(),
        draw: &|width, alternative| interval::plot(&rows, &labels, width, alternative),
    };
    figure.html("wide")
}

/// A level against the reference; none for the reference.
fn row(level: &LevelRecord, reference: &str) -> Option<Row> {
    let ends = level.interval?;
    let interval = Interval { lower: ends[0], upper: ends[1] };
    let decimals = decimals_for(level.ratio, interval);
    let tone = match (level.is_resolved(), level.ratio < 1.0) {
        (false, _) => Tone::Open,
        (true, true) => Tone::Good,
        (true, false) => Tone::Bad,
    };
    Some(Row {
        label: format!("{} against {reference}", level.level),
        numbers: format!(
            "{:.decimals$} [{}]",
            level.ratio,
            range(interval, decimals).replace(" to ", ", ")
        ),
        class: tone.class(),
        ratio: level.ratio,
        interval: ends,
    })
}
