//! The section of one experiment: tables, figures, remarks, facts.
#![forbid(unsafe_code)]

use super::element::{number, sentence, table};
use super::{facts, figures, suite};
use crate::report::number::{decimals_for, percent, quantities, short_p};
use crate::report::plot::svg::escape;
use crate::report::view::{Experiment, Tone};
use crate::samples::{ResultRecord, SummaryRecord};

/// Everything about the experiment at `place` of the page.
pub(super) fn section(place: usize, experiment: &Experiment) -> String {
    let title = escape(&experiment.title());
    let file = &experiment.file;
    let remarks = remarks(experiment);
    format!(
        "<section id=\"e{place}\" aria-labelledby=\"e{place}-h\">\n<h2 id=\"e{place}-h\">{title}</h2>\n\
         <p class=\"quiet\">{} runs in {} complete blocks, begun {}.</p>\n{}{}{}{remarks}{}{}</section>\n",
        file.runs.len(),
        file.design.complete_blocks,
        escape(&file.created),
        suite::section(place, experiment),
        results_table(place, experiment),
        summaries_table(place, experiment),
        figures::section(place, experiment),
        facts::section(place, experiment),
    )
}

fn remarks(experiment: &Experiment) -> String {
    let items: String = experiment
        .remarks()
        .iter()
        .chain(&experiment.file.advice)
        .map(|text| format!("<li>{}</li>\n", sentence(text)))
        .collect();
    if items.is_empty() {
        let text = "None: the data show no drift, no correlation of neighbours, and no other reason to distrust the interval.";
        return format!("<h3>Remarks</h3>\n<p>{text}</p>\n");
    }
    format!("<h3>Remarks</h3>\n<ul class=\"remarks\">\n{items}</ul>\n")
}

/// Every pair by every metric.
fn results_table(place: usize, experiment: &Experiment) -> String {
    let results = &experiment.file.results;
    if results.is_empty() {
        return String::new();
    }
    let several = results.iter().any(|one| one.program != results[0].program);
    let rows: Vec<Vec<String>> = results
        .iter()
        .enumerate()
        .map(|(at, result)| {
            let base = format!("/experiments/{place}/samples/results/{at}");
            result_row(&base, experiment, result, several)
        })
        .collect();
    let head = [
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
    table("Ratios to the reference; “~” is not known, and not the same", &head, &rows)
}

fn result_row(
    base: &str,
    experiment: &Experiment,
    result: &ResultRecord,
    several: bool,
) -> Vec<String> {
    let at = |field: &str| format!("{base}/{field}");
    let decimals = decimals_for(result.ratio, result.bounds());
    let fixed = |field: &str, value: f64| number(&at(field), value, &format!("{value:.decimals$}"));
    let medians = quantities(&result.metric, result.medians);
    let median = |which: usize| {
        number(&at(&format!("medians/{which}")), result.medians[which], &medians[which])
    };
    let interval = [0, 1].map(|which| fixed(&format!("interval/{which}"), result.interval[which]));
    let pair = escape(&experiment.pair(result));
    let metric = escape(result.metric.title());
    let (first, second) = if several { (pair, metric) } else { (metric, pair) };
    vec![
        first,
        second,
        median(0),
        median(1),
        fixed("ratio", result.ratio),
        format!("{} to {}", interval[0], interval[1]),
        format!(
            "<span class=\"tone {}\">{}</span>",
            Tone::of(result.verdict).class(),
            result.verdict.mark()
        ),
        number(&at("n"), result.n as f64, &result.n.to_string()),
        number(&at("p_adjusted"), result.p_adjusted, &short_p(result.p_adjusted)),
    ]
}

/// Every program by itself.
fn summaries_table(place: usize, experiment: &Experiment) -> String {
    let summaries = &experiment.file.summaries;
    if summaries.is_empty() {
        return String::new();
    }
    let rows: Vec<Vec<String>> = summaries
        .iter()
        .enumerate()
        .map(|(at, summary)| {
            summary_row(
                &format!("/experiments/{place}/samples/summaries/{at}"),
                experiment,
                summary,
            )
        })
        .collect();
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
    table("Each program over its layouts; outliers are counted, never dropped", &head, &rows)
}

fn summary_row(base: &str, experiment: &Experiment, summary: &SummaryRecord) -> Vec<String> {
    let at = |field: &str| format!("{base}/{field}");
    let ends = summary.interval.unwrap_or([summary.mean; 2]);
    let values = [summary.mean, ends[0], ends[1], summary.median, summary.min, summary.max];
    let [mean, low, high, median, min, max] = quantities(&summary.metric, values);
    let without_unit = |text: &str| text.split(' ').next().unwrap_or_default().to_owned();
    let interval = match summary.interval {
        Some([lower, upper]) => format!(
            "{} to {}",
            number(&at("interval/0"), lower, &without_unit(&low)),
            number(&at("interval/1"), upper, &high)
        ),
        None => "~".to_owned(),
    };
    let spread = match summary.sd {
        Some(sd) if summary.mean > 0.0 => number(&at("sd"), sd, &percent(sd / summary.mean)),
        _ => "~".to_owned(),
    };
    let count = |field: &str, count: usize| number(&at(field), count as f64, &count.to_string());
    vec![
        escape(&experiment.name(summary.program)),
        escape(summary.metric.title()),
        number(&at("mean"), summary.mean, &mean),
        interval,
        number(&at("median"), summary.median, &median),
        spread,
        number(&at("min"), summary.min, &min),
        number(&at("max"), summary.max, &max),
        summary.outliers.count().to_string(),
        count("layouts", summary.layouts),
        count("runs", summary.runs),
    ]
}
