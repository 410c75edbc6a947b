//! The top of a page: every verdict in a sentence, and all of them in one picture.
#![forbid(unsafe_code)]

use maud::{Markup, html};

use super::element::{Figure, Span, count, number, sentence};
use crate::report::number::quantities;
use crate::report::plot::interval::{self, Labels};
use crate::report::text::verdicts;
use crate::report::view::plots::interval_row;
use crate::report::view::{Experiment, Tone, ratio_and_interval, summary_sentence};
use crate::samples::metric::Kind;
use crate::samples::{Metric, ResultRecord, SummaryRecord};

/// Verdicts of all experiments.
pub(super) fn section(experiments: &[Experiment]) -> Markup {
    html! {
        section id="verdicts" aria-labelledby="verdicts-h" {
            h2 id="verdicts-h" { "Verdicts" }
            @for (at, one) in experiments.iter().enumerate() { (cards(at, one)) }
            (intervals(experiments))
        }
    }
}

/// Results, or why there are none, or summaries of single programs.
fn cards(place: usize, experiment: &Experiment) -> Markup {
    let source = experiment.title();
    let has_results = experiment.deciding().next().is_some();
    let has_summaries = experiment.deciding_summaries().next().is_some();
    html! {
        @for (at, result) in experiment.deciding() {
            @let base = format!("/experiments/{place}/samples/results/{at}");
            @let (tone, word) = (Tone::of(result.verdict), result.verdict.word());
            (card(tone, word, &source, &result.sentence, &numbers(&base, result)))
        }
        // A comparison without results is no summary: it says why there is no verdict.
        @if !has_results && (experiment.file.programs.len() > 1 || !has_summaries) {
            @let why = verdicts(&experiment.file).join(" ");
            (card(Tone::Open, "no verdict", &source, &why, &html! {}))
        }
        @if !has_results {
            @for (at, summary) in experiment.deciding_summaries() {
                @let base = format!("/experiments/{place}/samples/summaries/{at}");
                @let sentence = summary_sentence(experiment, summary);
                (card(Tone::Open, "measured", &source, &sentence, &mean(&base, summary)))
            }
        }
    }
}

fn card(tone: Tone, word: &str, source: &str, text: &str, numbers: &Markup) -> Markup {
    html! {
        article class={ "verdict " (tone.class()) } {
            p { span.word { (word) } span.from { (source) } }
            p.sentence { (sentence(text)) }
            p.quiet { (numbers) }
        }
    }
}

/// Mean and interval of a summary; `base` is its JSON pointer.
fn mean(base: &str, summary: &SummaryRecord) -> Markup {
    let [mean] = quantities(&summary.metric, [summary.mean]);
    html! {
        "Mean " (number(&format!("{base}/mean"), summary.mean, &mean))
        @if let Some(bounds) = summary.interval {
            @let shown = quantities(&summary.metric, bounds);
            ", 95 % interval " (number(&format!("{base}/interval/0"), bounds[0], &shown[0]))
            " to " (number(&format!("{base}/interval/1"), bounds[1], &shown[1]))
        }
    }
}

/// Ratio, interval, n and method of a result; `base` is its JSON pointer.
fn numbers(base: &str, result: &ResultRecord) -> Markup {
    let (ratio, range) = ratio_and_interval(result);
    let bounds: Vec<&str> = range.split(" to ").collect();
    let bound = |which: usize| {
        let shown = bounds.get(which).copied().unwrap_or_default();
        number(&format!("{base}/interval/{which}"), result.interval[which], shown)
    };
    let confidence = format!("{:.4}", 100.0 * result.confidence);
    let confidence = confidence.trim_end_matches('0').trim_end_matches('.');
    html! {
        "Ratio " (number(&format!("{base}/ratio"), result.ratio, &ratio))
        ", interval " (bound(0)) " to " (bound(1))
        " (" (number(&format!("{base}/confidence"), result.confidence, confidence))
        " % confidence), n = " (count(&format!("{base}/n"), result.n))
        ". Method: " (result.method) "."
    }
}

/// What less and more of a metric is called.
pub(super) fn directions(metric: &Metric) -> [&'static str; 2] {
    match metric.kind() {
        Kind::Time => ["faster", "slower"],
        Kind::Memory => ["smaller", "larger"],
        Kind::Count => ["lower", "higher"],
    }
}

/// One interval plot for each metric that decides something.
fn intervals(experiments: &[Experiment]) -> Markup {
    let all: Vec<(&Experiment, &ResultRecord)> = experiments
        .iter()
        .flat_map(|one| one.deciding().map(move |(_, result)| (one, result)))
        .collect();
    let mut metrics: Vec<&Metric> = all.iter().map(|(_, result)| &result.metric).collect();
    metrics.sort();
    metrics.dedup();
    html! {
        div.figures {
            @for (at, metric) in metrics.into_iter().enumerate() {
                @let chosen: Vec<_> =
                    all.iter().filter(|(_, result)| result.metric == *metric).copied().collect();
                (figure(at, metric, &chosen, experiments.len() > 1))
            }
        }
    }
}

fn figure(
    at: usize,
    metric: &Metric,
    chosen: &[(&Experiment, &ResultRecord)],
    with_source: bool,
) -> Markup {
    let rows: Vec<interval::Row> = chosen
        .iter()
        .map(|(experiment, result)| {
            let pair = experiment.pair(result);
            let label = if with_source { format!("{}: {pair}", experiment.title()) } else { pair };
            interval_row(result, label)
        })
        .collect();
    let description: Vec<String> = rows
        .iter()
        .zip(chosen)
        .map(|(row, (_, result))| {
            format!("{}: {}, {}.", row.label, row.numbers, result.verdict.word())
        })
        .collect();
    let tolerances: Vec<Option<f64>> =
        chosen.iter().map(|(experiment, _)| experiment.file.design.tolerance).collect();
    let common = tolerances.windows(2).all(|pair| pair[0] == pair[1]);
    let tolerance = tolerances.first().copied().flatten().filter(|_| common);
    let [below, above] = directions(metric).map(str::to_owned);
    let labels =
        Labels { axis: "ratio to the reference (logarithmic)".to_owned(), below, above, tolerance };
    let band = if tolerance.is_some() { " The green band is the tolerated change." } else { "" };
    let figure = Figure {
        id: format!("intervals-{at}"),
        title: format!("Ratios of {}, with their intervals", metric.title()),
        description: description.join(" "),
        caption: format!(
            "Each line is the interval of the ratio, each diamond the estimate. An interval that \
             holds 1 decides nothing by itself.{band}"
        ),
        draw: &|width, alternative| interval::plot(&rows, &labels, width, alternative),
    };
    figure.html(Span::Wide)
}
