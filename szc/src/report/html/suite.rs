//! The levels of a sweep over all its programs: what was found, a picture, and the analysis of
//! variance in numbers.
#![forbid(unsafe_code)]

use maud::{Markup, html};
use szc_stats::fixed::Interval;

use super::element::{Figure, Span, count, number, sentences, table, text};
use super::verdicts::directions;
use crate::report::number::{decimals_for, range, short_p};
use crate::report::plot::interval::{self, Labels, Row};
use crate::report::suite_sentences::suite_sentences;
use crate::report::view::{Experiment, Tone};
use crate::samples::{LevelRecord, OverMachinesRecord, SuiteRecord};

/// The section of the experiment at `place` of the page; empty if it is no sweep.
pub(super) fn section(place: usize, experiment: &Experiment) -> Markup {
    html! {
        @if experiment.is_sweep() {
            h3 id={ "e" (place) "-suite" } { "Over all programs" }
            (sentences(&suite_sentences(&experiment.file)))
            (over_machines(place, experiment))
            @if let Some(suite) = &experiment.file.suite {
                @let base = format!("/experiments/{place}/samples/suite");
                (levels(&base, suite))
                (variance(&base, suite))
                div.figures { (figure(place, experiment, suite)) }
            }
        }
    }
}

/// Programs that several machines measured; empty if there are none.
fn over_machines(place: usize, experiment: &Experiment) -> Markup {
    let records = &experiment.file.over_machines;
    if records.is_empty() {
        return html! {};
    }
    let row = |(at, record): (usize, &OverMachinesRecord)| {
        let base = format!("/experiments/{place}/samples/over_machines/{at}");
        let mut row = vec![
            text(&record.workload),
            html! { (record.level) " against " (record.reference) },
            text(&record.machines.len().to_string()),
        ];
        row.extend(ratio_cells(&base, ["ratio", "interval"], record.ratio, record.interval));
        row.push(p_value(&format!("{base}/p_holm"), record.p_holm));
        row.push(p_value(&format!("{base}/agreement/p"), record.agreement.p));
        row
    };
    let rows: Vec<Vec<Markup>> = records.iter().enumerate().map(row).collect();
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

fn p_value(pointer: &str, p: f64) -> Markup {
    number(pointer, p, &short_p(p))
}

/// Two numbers with as many digits as the interval deserves, and their interval.
fn ratio_cells(base: &str, names: [&str; 2], ratio: f64, ends: [f64; 2]) -> [Markup; 2] {
    let decimals = decimals_for(ratio, Interval { lower: ends[0], upper: ends[1] });
    let shown = |field: &str, value: f64| {
        number(&format!("{base}/{field}"), value, &format!("{value:.decimals$}"))
    };
    let [ratio_name, interval_name] = names;
    let [lower, upper] = [0, 1].map(|end| shown(&format!("{interval_name}/{end}"), ends[end]));
    [shown(ratio_name, ratio), html! { (lower) " to " (upper) }]
}

fn levels(base: &str, suite: &SuiteRecord) -> Markup {
    let row = |(at, level): (usize, &LevelRecord)| {
        let base = format!("{base}/levels/{at}");
        let mut row = vec![text(&level.level)];
        match (level.interval, level.p_holm) {
            (Some(ends), Some(p)) => {
                row.extend(ratio_cells(&base, ["ratio", "interval"], level.ratio, ends));
                row.push(p_value(&format!("{base}/p_holm"), p));
            }
            _ => row.extend(["reference", "", ""].map(text)),
        }
        let names = ["ratio_to_mean", "interval_to_mean"];
        row.extend(ratio_cells(&base, names, level.ratio_to_mean, level.interval_to_mean));
        row
    };
    let rows: Vec<Vec<Markup>> = suite.levels.iter().enumerate().map(row).collect();
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

/// The analysis of variance: a row for the levels, and one for what machines do to them.
fn variance(base: &str, suite: &SuiteRecord) -> Markup {
    let at = |field: &str| format!("{base}/{field}");
    let digits = |field: &str, value: f64, decimals: usize| {
        number(&at(field), value, &format!("{value:.decimals$}"))
    };
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
    let mut rows = vec![vec![
        text("levels"),
        digits("f", suite.f, 3),
        degrees(base, suite.degrees_of_freedom),
        p_value(&at("p"), suite.p),
        digits("epsilon", suite.epsilon, 3),
        p_value(&at("p_corrected"), suite.p_corrected),
        digits("partial_eta_squared", suite.partial_eta_squared, 3),
        digits("generalized_eta_squared", suite.generalized_eta_squared, 5),
    ]];
    if let Some(found) = suite.by_block {
        let mut row = vec![
            text("levels by machines"),
            digits("by_block/f", found.f, 3),
            degrees(&at("by_block"), found.degrees_of_freedom),
            p_value(&at("by_block/p"), found.p),
        ];
        row.resize(head.len(), html! {});
        rows.push(row);
    }
    table("Analysis of variance within programs, of mean log values", &head, &rows)
}

/// Degrees of freedom of an effect and of its error.
fn degrees(base: &str, counts: [usize; 2]) -> Markup {
    let part = |which: usize| count(&format!("{base}/degrees_of_freedom/{which}"), counts[which]);
    html! { (part(0)) ", " (part(1)) }
}

fn figure(place: usize, experiment: &Experiment, suite: &SuiteRecord) -> Markup {
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
        caption: "Each line is the interval of a level's geometric mean ratio over the programs, \
                  whose spread it comes from: a few programs that do not agree make it \
                  wide."
            .to_owned(),
        draw: &|width, alternative| interval::plot(&rows, &labels, width, alternative),
    };
    figure.html(Span::Wide)
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
        tolerance: None,
        ratio: level.ratio,
        interval: ends,
    })
}
