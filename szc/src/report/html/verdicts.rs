//! The top of a page: every verdict in a sentence, and all of them in one picture. Of the rows of a
//! harness the counts come first, then the picture, and the sentences are folded.
#![forbid(unsafe_code)]

use maud::{Markup, html};

use super::bias;
use super::element::{Figure, Span, count, folded, number, sentence};
use crate::report::number::quantities;
use crate::report::plot::interval::{self, Labels};
use crate::report::rows;
use crate::report::view::plots::interval_row;
use crate::report::view::{Experiment, Tone, ratio_and_interval, summary_sentence};
use crate::samples::metric::Kind;
use crate::samples::{Metric, ResultRecord, SummaryRecord, Verdict};

/// Verdicts of all experiments.
pub(super) fn section(experiments: &[Experiment]) -> Markup {
    html! {
        section id="verdicts" aria-labelledby="verdicts-h" {
            h2 id="verdicts-h" { "Verdicts" }
            @for (at, one) in experiments.iter().enumerate() {
                @if one.is_bias() {
                    (bias::card(one))
                } @else if rows::decide(&one.file) {
                    (rows_card(one))
                } @else {
                    (cards(at, one))
                }
            }
            (intervals(experiments))
            @for (at, one) in experiments.iter().enumerate() {
                @if rows::decide(&one.file) {
                    @let title = format!("Every row of {} in a sentence", one.title());
                    (folded(&title, true, &cards(at, one)))
                }
            }
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
            @let why = experiment.verdicts().join(" ");
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

/// How many rows have which verdict, and those that differ.
fn rows_card(experiment: &Experiment) -> Markup {
    let verdicts: Vec<Verdict> = experiment.deciding().map(|(_, one)| one.verdict).collect();
    let tones: Vec<Tone> = verdicts.iter().map(|verdict| Tone::of(*verdict)).collect();
    let order = [Tone::Bad, Tone::Open, Tone::Good, Tone::Even];
    let worst = order.into_iter().find(|tone| tones.contains(tone)).unwrap_or(Tone::Open);
    let of_worst = verdicts.iter().filter(|verdict| Tone::of(**verdict) == worst);
    let word = of_worst.clone().next().map_or("no verdict", |verdict| verdict.word());
    let word = format!("{} of {} {word}", of_worst.count(), verdicts.len());
    let sentences = experiment.verdicts();
    html! {
        article class={ "verdict " (worst.class()) } {
            p { span.word { (word) } span.from { (experiment.title()) } }
            @if let Some((first, rest)) = sentences.split_first() {
                p.sentence { (sentence(first)) }
                @if !rest.is_empty() { (super::element::sentences(rest)) }
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
    // All rows are one picture.
    let kind = |result: &ResultRecord| match &result.metric {
        Metric::Row(_) => Metric::Rows,
        metric => metric.clone(),
    };
    let mut metrics: Vec<Metric> = all.iter().map(|(_, result)| kind(result)).collect();
    metrics.sort();
    metrics.dedup();
    html! {
        @if !metrics.is_empty() { h3 { "Intervals" } }
        div.figures {
            @for (at, metric) in metrics.iter().enumerate() {
                @let chosen: Vec<_> =
                    all.iter().filter(|(_, result)| kind(result) == *metric).copied().collect();
                (figure(at, metric, &chosen, experiments.len() > 1))
            }
        }
    }
}

/// Rows that the description of a picture has: nobody listens to sixty of them.
const MAX_DESCRIBED: usize = 12;

fn figure(
    at: usize,
    metric: &Metric,
    chosen: &[(&Experiment, &ResultRecord)],
    with_source: bool,
) -> Markup {
    let mut chosen = chosen.to_vec();
    if *metric == Metric::Rows {
        // The slowest on top.
        chosen.sort_by(|one, other| other.1.ratio.total_cmp(&one.1.ratio));
    }
    let shares: Vec<Option<f64>> = chosen
        .iter()
        .map(|(experiment, result)| result.tolerance.or(experiment.file.design.tolerance))
        .collect();
    let common = shares.windows(2).all(|pair| pair[0] == pair[1]);
    let tolerance = shares.first().copied().flatten().filter(|_| common);
    let rows: Vec<interval::Row> = chosen
        .iter()
        .zip(&shares)
        .map(|((experiment, result), share)| {
            let subject = experiment.subject(result);
            let source = || format!("{}: {subject}", experiment.title());
            let label = if with_source { source() } else { subject.clone() };
            let of_row = share.filter(|_| !common && *metric == Metric::Rows);
            interval::Row { tolerance: of_row, ..interval_row(result, label) }
        })
        .collect();
    let described = rows.iter().zip(&chosen).filter(|(_, (_, result))| {
        rows.len() <= MAX_DESCRIBED || !matches!(Tone::of(result.verdict), Tone::Open | Tone::Even)
    });
    let mut description: Vec<String> = described
        .take(MAX_DESCRIBED)
        .map(|(row, (_, result))| {
            format!("{}: {}, {}.", row.label, row.numbers, result.verdict.word())
        })
        .collect();
    if description.len() < rows.len() {
        description.insert(0, format!("{} intervals; some of them:", rows.len()));
        description.push("All are in the tables of the page.".to_owned());
    }
    let [below, above] = directions(metric).map(str::to_owned);
    let labels =
        Labels { axis: "ratio to the reference (logarithmic)".to_owned(), below, above, tolerance };
    let band = match (tolerance, rows.iter().any(|row| row.tolerance.is_some())) {
        (Some(_), _) => " The green band is the tolerated change.",
        (None, true) => " The green band of each row is the change tolerated in it.",
        (None, false) => "",
    };
    let figure = Figure {
        id: format!("intervals-{at}"),
        title: match metric {
            Metric::Rows => format!("Ratios of {} rows, with their intervals", rows.len()),
            metric => format!("Ratios of {}, with their intervals", metric.title()),
        },
        description: description.join(" "),
        caption: format!(
            "Each line is the interval of the ratio, each diamond the estimate. An interval that \
             holds 1 decides nothing by itself.{band}"
        ),
        draw: &|width, alternative| interval::plot(&rows, &labels, width, alternative),
    };
    figure.html(Span::Wide)
}
