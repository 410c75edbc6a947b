//! The section of one experiment: tables, figures, remarks, facts.
#![forbid(unsafe_code)]

use maud::{Markup, html};

use super::element::{count, folded, number, sentences, table, text};
use super::{bias, facts, figures, suite};
use crate::report::number::{decimals_for, percent, quantities, short_p};
use crate::report::view::{Experiment, Tone};
use crate::samples::{ResultRecord, SummaryRecord};

/// Lines that a list or a table shows unfolded.
const MAX_OPEN: usize = 20;

/// Everything about the experiment at `place` of the page.
pub(super) fn section(place: usize, experiment: &Experiment) -> Markup {
    let file = &experiment.file;
    html! {
        section id={ "e" (place) } aria-labelledby={ "e" (place) "-h" } {
            h2 id={ "e" (place) "-h" } { (experiment.title()) }
            p.quiet {
                (file.runs.len()) " runs in " (file.design.complete_blocks)
                " complete blocks, begun " (file.created) "."
            }
            (suite::section(place, experiment))
            (results_table(place, experiment))
            (summaries_table(place, experiment))
            @if experiment.is_bias() {
                (bias::section(place, experiment))
            } @else {
                (remarks(experiment))
                (figures::section(place, experiment))
            }
            (facts::section(place, experiment))
        }
    }
}

fn remarks(experiment: &Experiment) -> Markup {
    let remarks = [experiment.remarks(), experiment.file.advice.clone()].concat();
    html! {
        h3 { "Remarks" }
        @if remarks.is_empty() {
            p {
                "None: the data show no drift, no correlation of neighbours, and no other reason \
                 to distrust the interval."
            }
        } @else {
            @let title = format!("{} remarks", remarks.len());
            (folded(&title, remarks.len() > MAX_OPEN, &sentences(&remarks)))
        }
    }
}

/// Every pair by every metric.
fn results_table(place: usize, experiment: &Experiment) -> Markup {
    let results = &experiment.file.results;
    if results.is_empty() {
        return html! {};
    }
    let several = results.iter().any(|one| one.program != results[0].program);
    let row = |(at, result): (usize, &ResultRecord)| {
        let base = format!("/experiments/{place}/samples/results/{at}");
        result_row(&base, experiment, result, several)
    };
    let rows: Vec<Vec<Markup>> = results.iter().enumerate().map(row).collect();
    let mut head = vec![
        if several { "program" } else { "metric" },
        if several { "metric" } else { "compared" },
        "reference median",
        "median",
        "ratio",
        "interval",
        "verdict",
        "n",
        "p",
    ];
    if has_tolerances(experiment) {
        head.push("tolerance");
    }
    let whole = table("Ratios to the reference; “~” is not known, and not the same", &head, &rows);
    folded(&format!("Table of all {} ratios", rows.len()), rows.len() > MAX_OPEN, &whole)
}

/// Whether rows of a harness have tolerances of their own.
fn has_tolerances(experiment: &Experiment) -> bool {
    !experiment.file.design.row_tolerances.is_empty()
}

fn result_row(
    base: &str,
    experiment: &Experiment,
    result: &ResultRecord,
    several: bool,
) -> Vec<Markup> {
    let at = |field: &str| format!("{base}/{field}");
    let decimals = decimals_for(result.ratio, result.bounds());
    let fixed = |field: &str, value: f64| number(&at(field), value, &format!("{value:.decimals$}"));
    let medians = quantities(&result.metric, result.medians);
    let median = |which: usize| {
        number(&at(&format!("medians/{which}")), result.medians[which], &medians[which])
    };
    let bound = |which: usize| fixed(&format!("interval/{which}"), result.interval[which]);
    let pair = text(&experiment.pair(result));
    let metric = text(result.metric.title());
    let (first, second) = if several { (pair, metric) } else { (metric, pair) };
    let verdict = result.verdict;
    let mut cells = vec![
        first,
        second,
        median(0),
        median(1),
        fixed("ratio", result.ratio),
        html! { (bound(0)) " to " (bound(1)) },
        html! { span class={ "tone " (Tone::of(verdict).class()) } { (verdict.mark()) } },
        count(&at("n"), result.n),
        number(&at("p_adjusted"), result.p_adjusted, &short_p(result.p_adjusted)),
    ];
    if has_tolerances(experiment) {
        cells.push(match result.tolerance {
            Some(share) => number(&at("tolerance"), share, &percent(share)),
            None => html! {},
        });
    }
    cells
}

/// Every program by itself.
fn summaries_table(place: usize, experiment: &Experiment) -> Markup {
    let summaries = &experiment.file.summaries;
    if summaries.is_empty() {
        return html! {};
    }
    let row = |(at, summary): (usize, &SummaryRecord)| {
        let base = format!("/experiments/{place}/samples/summaries/{at}");
        summary_row(&base, experiment, summary)
    };
    let rows: Vec<Vec<Markup>> = summaries.iter().enumerate().map(row).collect();
    let head = [
        "program",
        "metric",
        "mean",
        "95 % interval",
        "median",
        "sd",
        "least",
        "greatest",
        "outliers",
        "layouts",
        "runs",
    ];
    let whole =
        table("Each program over its layouts; outliers are counted, never dropped", &head, &rows);
    folded(
        &format!("Table of all {} programs and metrics", rows.len()),
        rows.len() > MAX_OPEN,
        &whole,
    )
}

fn summary_row(base: &str, experiment: &Experiment, summary: &SummaryRecord) -> Vec<Markup> {
    let at = |field: &str| format!("{base}/{field}");
    let ends = summary.interval.unwrap_or([summary.mean; 2]);
    let values = [summary.mean, ends[0], ends[1], summary.median, summary.min, summary.max];
    let [mean, low, high, median, min, max] = quantities(&summary.metric, values);
    let low = low.split(' ').next().unwrap_or_default();
    let interval = match summary.interval {
        Some([lower, upper]) => html! {
            (number(&at("interval/0"), lower, low)) " to " (number(&at("interval/1"), upper, &high))
        },
        None => text("~"),
    };
    let spread = match summary.sd {
        Some(sd) if summary.mean > 0.0 => number(&at("sd"), sd, &percent(sd / summary.mean)),
        _ => text("~"),
    };
    vec![
        text(&experiment.name(summary.program)),
        text(summary.metric.title()),
        number(&at("mean"), summary.mean, &mean),
        interval,
        number(&at("median"), summary.median, &median),
        spread,
        number(&at("min"), summary.min, &min),
        number(&at("max"), summary.max, &max),
        text(&summary.outliers.count().to_string()),
        count(&at("layouts"), summary.layouts),
        count(&at("runs"), summary.runs),
    ]
}
