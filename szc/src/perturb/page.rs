//! What was found, as one HTML page that needs no network.
#![forbid(unsafe_code)]

use maud::{Markup, html};
use serde::Serialize;
use szc_stats::perturbation::{Change, Score};

use super::plot;
use super::record::{Arm, Record};
use super::results::{ALPHA, Judged};
use super::text::{arm_name, score_name, sentences};
use crate::report::html::document::Document;
use crate::report::html::element::{Figure, Span, count, number, sentences as list, table, text};
use crate::report::number::short_p;
use crate::samples::printable;

/// Most rows of a plot of scores: those that changed most.
const MAX_ROWS: usize = 20;

/// Most metrics of a step whose traces are drawn.
const MAX_TRACES: usize = 4;

/// The data of a page.
#[derive(Serialize)]
struct Data<'a> {
    format: &'static str,
    version: u32,
    command: &'a [String],
    date: &'a str,
    seed: u64,
    interval_ms: f64,
    metrics: &'a [String],
    error_rate: f64,
    steps: Vec<Found<'a>>,
}

/// What a step did in an arm.
#[derive(Serialize)]
struct Found<'a> {
    name: &'a str,
    arm: Arm,
    runs: usize,
    baselines: usize,
    cpu_ratio: f64,
    scores: Vec<FoundScore>,
    #[serde(skip)]
    step: usize,
    /// Metrics of scores that changed, those that changed most first.
    #[serde(skip)]
    moved: Vec<usize>,
}

/// A score, with and without.
#[derive(Serialize)]
struct FoundScore {
    name: String,
    is_inner: bool,
    before: f64,
    range: [f64; 2],
    after: f64,
    p: f64,
    adjusted_p: f64,
    is_shown: bool,
}

/// The page.
///
/// # Errors
/// The data cannot be written as JSON.
pub(super) fn page(record: &Record, judged: &[Judged]) -> serde_json::Result<String> {
    let heading = printable(&record.command.join(" "));
    let data = Data {
        format: "szc-perturb",
        version: 1,
        command: &record.command,
        date: &record.date,
        seed: record.seed,
        interval_ms: record.interval_ms,
        metrics: &record.metrics,
        error_rate: ALPHA,
        steps: judged.iter().map(|one| found(record, one)).collect(),
    };
    let contents = html! {
        section id="verdicts" aria-labelledby="verdicts-h" {
            h2 id="verdicts-h" { "Verdicts" }
            (list(&sentences(record, judged)))
            (overview(&data))
            p.quiet {
                "A record every " (number("/interval_ms", data.interval_ms,
                    &data.interval_ms.to_string()))
                " ms, seed " (number("/seed", data.seed, &data.seed.to_string())) "."
            }
        }
        @for (place, step) in data.steps.iter().enumerate() { (section(record, place, step)) }
    };
    let document = Document {
        title: &format!("{heading} · szc perturb"),
        heading: &heading,
        skip: ("verdicts", "Skip to the verdicts"),
        source: "the result in this page",
        data: serde_json::to_string(&data)?,
    };
    Ok(document.html(&contents))
}

fn found<'a>(record: &'a Record, judged: &Judged) -> Found<'a> {
    let mut changes: Vec<&Change> = judged.changes.iter().collect();
    let size = |change: &Change| (change.after - change.before).abs();
    changes.sort_by(|one, other| {
        let is_shown = |change: &Change| change.is_shown(ALPHA);
        is_shown(other).cmp(&is_shown(one)).then(size(other).total_cmp(&size(one)))
    });
    let mut moved = Vec::new();
    for change in changes.iter().filter(|change| change.is_shown(ALPHA)) {
        let of = match change.score {
            Score::Inner(one, other) => vec![one, other],
            Score::Outer(one) => vec![one],
        };
        for metric in of {
            if !moved.contains(&metric) {
                moved.push(metric);
            }
        }
    }
    let score = |change: &&Change| FoundScore {
        name: score_name(record, change.score),
        is_inner: matches!(change.score, Score::Inner(..)),
        before: change.before,
        range: change.range,
        after: change.after,
        p: change.p,
        adjusted_p: change.adjusted_p,
        is_shown: change.is_shown(ALPHA),
    };
    Found {
        name: &record.steps[judged.step].name,
        arm: judged.arm,
        runs: record.runs_of(judged.step, judged.arm).count(),
        baselines: record.runs_of(0, judged.arm).count(),
        cpu_ratio: judged.cpu_ratio,
        scores: changes.iter().map(score).collect(),
        step: judged.step,
        moved,
    }
}

fn overview(data: &Data<'_>) -> Markup {
    let row = |(place, step): (usize, &Found<'_>)| {
        let base = format!("/steps/{place}");
        let shown = step.scores.iter().filter(|score| score.is_shown).count();
        vec![
            text(&printable(step.name)),
            text(arm_name(step.arm)),
            count(&format!("{base}/runs"), step.runs),
            count(&format!("{base}/baselines"), step.baselines),
            number(
                &format!("{base}/cpu_ratio"),
                step.cpu_ratio,
                &format!("{:+.1} %", 100.0 * (step.cpu_ratio - 1.0)),
            ),
            text(&format!("{shown} of {}", step.scores.len())),
        ]
    };
    let rows: Vec<Vec<Markup>> = data.steps.iter().enumerate().map(row).collect();
    let head = ["with", "layouts", "runs", "baselines", "CPU time", "correlations changed"];
    table("What was added, one on top of the other", &head, &rows)
}

fn section(record: &Record, place: usize, step: &Found<'_>) -> Markup {
    let id = format!("s{place}");
    html! {
        section id=(id) aria-labelledby={ (id) "-h" } {
            h2 id={ (id) "-h" } { (printable(step.name)) ", layouts " (arm_name(step.arm)) }
            (changed(place, step))
            div.figures {
                (scores(&id, step))
                @for metric in step.moved.iter().take(MAX_TRACES) {
                    (traces(&id, record, step, *metric))
                }
            }
        }
    }
}

fn changed(place: usize, step: &Found<'_>) -> Markup {
    let cells = |(at, score): (usize, &FoundScore)| {
        let base = format!("/steps/{place}/scores/{at}");
        let two = |field: &str, value: f64| {
            number(&format!("{base}/{field}"), value, &format!("{value:.2}"))
        };
        let [low, high] = score.range;
        vec![
            text(&score.name),
            two("before", score.before),
            html! { (two("range/0", low)) " to " (two("range/1", high)) },
            two("after", score.after),
            number(&format!("{base}/adjusted_p"), score.adjusted_p, &short_p(score.adjusted_p)),
        ]
    };
    let shown = step.scores.iter().enumerate().filter(|(_, score)| score.is_shown);
    let rows: Vec<Vec<Markup>> = shown.map(cells).collect();
    let head = ["correlation", "baseline", "its range", "with it", "adjusted p"];
    html! {
        @if rows.is_empty() { p { "No change is shown." } }
        @else { (table("Correlations that are shown to have changed", &head, &rows)) }
    }
}

fn scores(id: &str, step: &Found<'_>) -> Markup {
    let row = |score: &FoundScore| plot::Score {
        label: score.name.clone(),
        range: score.range,
        before: score.before,
        after: score.after,
    };
    let rows: Vec<plot::Score> = step.scores.iter().take(MAX_ROWS).map(row).collect();
    let words: Vec<String> = rows
        .iter()
        .map(|row| format!("{} {:.2}, with it {:.2}", row.label, row.before, row.after))
        .collect();
    Figure {
        id: format!("{id}-scores"),
        title: format!("Correlations with and without {}", printable(step.name)),
        description: format!("{}.", words.join("; ")),
        caption:
            "Circle and line: median and range of the baseline; square: median with it. Those \
                  that are shown to have changed come first."
                .to_owned(),
        draw: &|width, alternative| plot::scores(&rows, width, alternative),
    }
    .html(Span::Wide)
}

fn traces(id: &str, record: &Record, step: &Found<'_>, metric: usize) -> Markup {
    let first = |step: usize, arm: Arm| record.runs_of(step, arm).next();
    let runs = first(0, step.arm).zip(first(step.step, step.arm));
    let Some((without, with)) = runs else { return html! {} };
    let signals = [&without.signals[metric][..], &with.signals[metric][..]];
    let name = &record.metrics[metric];
    let [before, after] = signals.map(<[f64]>::len);
    Figure {
        id: format!("{id}-m{metric}"),
        title: format!("{name} in a run with {} and one without", printable(step.name)),
        description: format!("{before} records without, {after} with it."),
        caption: "The first runs of both; blue without, red with it.".to_owned(),
        draw: &|width, alternative| plot::traces(signals, name, width, alternative),
    }
    .html(Span::Wide)
}

#[cfg(test)]
mod tests {
    use super::super::results::judge;
    use super::super::tests::perturbed;
    use super::*;
    use crate::report::html::checked::{data_of, numbers_of};

    const HOSTILE: &str = "</script><img src=x onerror='alert(1)'>";

    fn shown() -> String {
        let mut record = perturbed();
        record.command = vec![HOSTILE.to_owned()];
        HOSTILE.clone_into(&mut record.steps[1].name);
        let judged = judge(&record).unwrap();
        page(&record, &judged).unwrap()
    }

    #[test]
    fn every_number_is_in_the_data_and_names_stay_text() {
        let page = shown();
        let data = data_of(&page);
        let numbers = numbers_of(&page, &data);
        assert!(numbers >= 8, "{numbers}");
        assert_eq!(page.matches("<script").count(), 2);
        assert!(!page.contains("<img") && !page.contains("NaN"));
    }

    #[test]
    fn scores_and_traces_of_what_changed_are_drawn() {
        let page = shown();
        assert!(page.contains("it perturbs what is measured"), "{page}");
        // At two widths each: the scores, and both metrics of the pair.
        assert_eq!(page.matches("plot scores-plot").count(), 2);
        assert_eq!(page.matches("plot traces-plot").count(), 4);
        let dots = page.lines().find(|line| line.contains("dots s1")).unwrap();
        assert_eq!(dots.matches('M').count(), 3, "one pair, two metrics");
    }
}
