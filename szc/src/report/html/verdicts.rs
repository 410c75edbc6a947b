//! The top of a page: every verdict in a sentence, and all of them in one picture.
#![forbid(unsafe_code)]

use super::element::{Figure, number, sentence};
use crate::report::number::quantities;
use crate::report::plot::interval::{self, Labels};
use crate::report::plot::svg::escape;
use crate::report::text::verdicts;
use crate::report::view::plots::interval_row;
use crate::report::view::{Experiment, Tone, ratio_and_interval, summary_sentence};
use crate::samples::metric::Kind;
use crate::samples::{Metric, ResultRecord, Verdict};

/// Verdicts of all experiments.
pub(super) fn section(experiments: &[Experiment]) -> String {
    let cards: String = experiments.iter().enumerate().map(|(at, one)| cards(at, one)).collect();
    let intervals = intervals(experiments);
    format!(
        "<section id=\"verdicts\" aria-labelledby=\"verdicts-h\">\n<h2 id=\"verdicts-h\">Verdicts</h2>\n\
         {cards}{intervals}</section>\n"
    )
}

fn cards(place: usize, experiment: &Experiment) -> String {
    let source = escape(&experiment.title());
    let results: String = experiment
        .deciding()
        .map(|(at, result)| {
            let base = format!("/experiments/{place}/samples/results/{at}");
            card(result.verdict, &source, &result.sentence, &numbers(&base, result))
        })
        .collect();
    if !results.is_empty() {
        return results;
    }
    let summaries: String = experiment
        .deciding_summaries()
        .map(|(at, summary)| {
            let base = format!("/experiments/{place}/samples/summaries/{at}");
            let [mean] = quantities(&summary.metric, [summary.mean]);
            let mut line = format!("Mean {}", number(&format!("{base}/mean"), summary.mean, &mean));
            if let Some(ends) = summary.interval {
                let shown = quantities(&summary.metric, ends);
                let end = |which: usize| {
                    number(&format!("{base}/interval/{which}"), ends[which], &shown[which])
                };
                line.push_str(&format!(", 95 % interval {} to {}", end(0), end(1)));
            }
            plain_card("measured", &source, &summary_sentence(experiment, summary), &line)
        })
        .collect();
    // A comparison without results is no summary: it says why there is no verdict.
    if experiment.file.programs.len() > 1 || summaries.is_empty() {
        let why = verdicts(&experiment.file).join(" ");
        return plain_card("no verdict", &source, &why, "") + &summaries;
    }
    summaries
}

fn card(verdict: Verdict, source: &str, text: &str, numbers: &str) -> String {
    format!(
        "<article class=\"verdict {}\">\n<p><span class=\"word\">{}</span><span class=\"from\">{source}</span></p>\n\
         <p class=\"sentence\">{}</p>\n<p class=\"quiet\">{numbers}</p>\n</article>\n",
        Tone::of(verdict).class(),
        verdict.word(),
        sentence(text)
    )
}

fn plain_card(word: &str, source: &str, text: &str, numbers: &str) -> String {
    format!(
        "<article class=\"verdict open\">\n<p><span class=\"word\">{word}</span><span class=\"from\">{source}</span></p>\n\
         <p class=\"sentence\">{}</p>\n<p class=\"quiet\">{numbers}</p>\n</article>\n",
        sentence(text)
    )
}

/// Ratio, interval, n and method of a result; `base` is its JSON pointer.
fn numbers(base: &str, result: &ResultRecord) -> String {
    let (ratio, range) = ratio_and_interval(result);
    let ends: Vec<&str> = range.split(" to ").collect();
    let end = |which: usize| {
        let shown = ends.get(which).copied().unwrap_or_default();
        number(&format!("{base}/interval/{which}"), result.interval[which], shown)
    };
    format!(
        "Ratio {}, interval {} to {} ({} % confidence), n = {}. Method: {}.",
        number(&format!("{base}/ratio"), result.ratio, &ratio),
        end(0),
        end(1),
        number(
            &format!("{base}/confidence"),
            result.confidence,
            format!("{:.4}", 100.0 * result.confidence).trim_end_matches('0').trim_end_matches('.')
        ),
        number(&format!("{base}/n"), result.n as f64, &result.n.to_string()),
        escape(&result.method)
    )
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
fn intervals(experiments: &[Experiment]) -> String {
    let all: Vec<(&Experiment, &ResultRecord)> = experiments
        .iter()
        .flat_map(|one| one.deciding().map(move |(_, result)| (one, result)))
        .collect();
    let mut metrics: Vec<&Metric> = all.iter().map(|(_, result)| &result.metric).collect();
    metrics.sort();
    metrics.dedup();
    let figures: String = metrics
        .iter()
        .enumerate()
        .map(|(at, metric)| {
            let chosen: Vec<_> =
                all.iter().filter(|(_, result)| result.metric == **metric).copied().collect();
            figure(at, metric, &chosen, experiments.len() > 1)
        })
        .collect();
    format!("<div class=\"figures\">\n{figures}</div>\n")
}

fn figure(
    at: usize,
    metric: &Metric,
    chosen: &[(&Experiment, &ResultRecord)],
    with_source: bool,
) -> String {
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
            "Each line is the interval of the ratio, each diamond the estimate. An interval that holds 1 decides nothing by itself.{band}"
        ),
        draw: &|width, alternative| interval::plot(&rows, &labels, width, alternative),
    };
    figure.html("wide")
}
