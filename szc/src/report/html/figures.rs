//! The figures of one experiment.
#![forbid(unsafe_code)]

use maud::{Markup, html};
use szc_stats::describe::median;
use szc_stats::shapiro_wilk::shapiro_wilk;

use super::element::{Figure, Span, folded};
use crate::report::number::quantities;
use crate::report::plot::{SERIES, marks, qq, run_order, sequence, shares, violin};
use crate::report::rows;
use crate::report::view::{Experiment, plots, probability};
use crate::samples::sample::values_of;
use crate::samples::{Metric, ResultRecord};

/// Most rows of a harness that have figures of their own.
const MAX_ROWS: usize = 6;

/// Results that have figures of their own: all, but of the rows of a harness those that differ
/// most.
fn shown(experiment: &Experiment) -> Vec<(usize, &ResultRecord)> {
    let mut all: Vec<(usize, &ResultRecord)> = experiment.deciding().collect();
    if rows::decide(&experiment.file) {
        all.sort_by(|(_, one), (_, other)| {
            other.mean_log_ratio.abs().total_cmp(&one.mean_log_ratio.abs())
        });
        all.truncate(MAX_ROWS);
    }
    all
}

/// All figures on the deciding metric; folded, where they are of the rows of a harness.
pub(super) fn section(place: usize, experiment: &Experiment) -> Markup {
    let by_rows = rows::decide(&experiment.file);
    let count = experiment.deciding().count();
    let title = match count.min(MAX_ROWS) {
        shown if shown < count => {
            format!("Figures of all rows together, and of the {shown} that differ most")
        }
        _ => "Figures".to_owned(),
    };
    folded(&title, by_rows, &figures(place, experiment))
}

fn figures(place: usize, experiment: &Experiment) -> Markup {
    let shown = shown(experiment);
    let metric = &experiment.file.design.metric;
    let has_values = experiment.file.runs.iter().any(|run| run.value(metric) > 0.0);
    html! {
        @if has_values {
            h3 { "Figures" }
            p { @for program in 0..experiment.file.programs.len() { (key(experiment, program)) } }
            div.figures {
                (violins(place, experiment, metric))
                (run_order(place, experiment, metric))
                @if let Some(variance) = variance(place, experiment, metric) { (variance) }
                @for (at, result) in shown.iter().copied() {
                    @if let Some(plot) = sequence(place, at, experiment, result) { (plot) }
                }
            }
            h3 { "Against the normal distribution" }
            p.quiet {
                "Normal values lie along the dashed line, within the grey band (95 % for each \
                 point by itself). Layouts that change during a run average out, which is what \
                 makes sums of them normal."
            }
            div.figures {
                @for (at, result) in shown.iter().copied() {
                    @if let Some(plot) = qq_of_differences(place, at, experiment, result) { (plot) }
                }
                @for program in 0..experiment.file.programs.len() {
                    @if let Some(plot) = qq_of_program(place, experiment, metric, program) {
                        (plot)
                    }
                }
            }
        }
    }
}

/// Colour and shape of a program.
fn key(experiment: &Experiment, program: usize) -> Markup {
    let series = program % SERIES;
    html! {
        span.key {
            svg viewBox="0 0 14 14" aria-hidden="true" {
                path class={ "points s" (series) } d=(marks::points(series, &[[7.0, 7.0]], 9.0)) {}
            }
            (experiment.name(program))
        }
        "\n"
    }
}

fn violins(place: usize, experiment: &Experiment, metric: &Metric) -> Markup {
    let rows = plots::violins(experiment, metric);
    let axis = plots::unit(experiment, metric).axis(metric);
    let description: Vec<String> = rows
        .iter()
        .map(|row| {
            let values = values_of(&experiment.file.runs, row.series, metric);
            let least = values.iter().copied().fold(f64::INFINITY, f64::min);
            let greatest = values.iter().copied().fold(0.0, f64::max);
            let middle = median(&values).unwrap_or(least);
            let [least, middle, greatest] = quantities(metric, [least, middle, greatest]);
            format!(
                "{}: {} runs from {least} to {greatest}, median {middle}.",
                row.label,
                values.len()
            )
        })
        .collect();
    Figure {
        id: format!("e{place}-violins"),
        title: format!("How runs spread: {}", metric.title()),
        description: description.join(" "),
        caption: "Each point is a run, most of them with a layout of their own; the outline is \
                  their estimated density, the bar goes from quartile to quartile, the tick is the \
                  median."
            .to_owned(),
        draw: &|width, alternative| {
            let of = violin::Values { axis: &axis, noun: "runs", reference: None };
            violin::plot(&rows, of, width, alternative)
        },
    }
    .html(Span::Wide)
}

pub(super) fn run_order(place: usize, experiment: &Experiment, metric: &Metric) -> Markup {
    let series = plots::run_order(experiment, metric);
    let axis = plots::unit(experiment, metric).axis(metric);
    let runs = experiment.file.runs.len();
    Figure {
        id: format!("e{place}-order"),
        title: "Drift: runs in the order of time".to_owned(),
        description: format!(
            "{runs} runs in the order in which they were made. \
                              {}",
            drift(experiment)
        ),
        caption: format!(
            "Lines are means of blocks. The programs are interleaved, so that what changes with \
             time changes them alike. {}",
            drift(experiment)
        ),
        draw: &|width, alternative| run_order::plot(&series, &axis, width, alternative),
    }
    .html(Span::Wide)
}

/// What the trend test says about the summaries of programs.
fn drift(experiment: &Experiment) -> String {
    let found: Vec<String> = experiment
        .deciding_summaries()
        .filter_map(|(_, summary)| {
            let p = summary.diagnostics.trend_p?;
            Some(format!("{} {}", experiment.name(summary.program), probability(p)))
        })
        .collect();
    if found.is_empty() {
        "No test of a trend.".to_owned()
    } else {
        format!("Test of “no trend”: {}.", found.join(", "))
    }
}

fn variance(place: usize, experiment: &Experiment, metric: &Metric) -> Option<Markup> {
    let data = plots::variance(experiment, metric)?;
    let description: Vec<String> = data
        .bars
        .iter()
        .map(|bar| {
            let parts: Vec<String> = bar
                .shares
                .iter()
                .zip(&data.parts)
                .map(|(share, part)| format!("{:.1} % {part}", 100.0 * share))
                .collect();
            format!("{}: {}.", bar.label, parts.join(", "))
        })
        .collect();
    let description = description.join(" ");
    let figure = Figure {
        id: format!("e{place}-variance"),
        title: "Where the variance comes from".to_owned(),
        description: description.clone(),
        caption: description,
        draw: &|width, alternative| shares::plot(&data.bars, &data.parts, width, alternative),
    };
    Some(figure.html(Span::Wide))
}

fn sequence(
    place: usize,
    at: usize,
    experiment: &Experiment,
    result: &ResultRecord,
) -> Option<Markup> {
    let data = plots::sequence(experiment, result)?;
    let subject = experiment.subject(result);
    let end = data.intervals.last().map_or_else(String::new, |(blocks, [mean, low, high])| {
        format!(" After {blocks} blocks: {mean:+.2} %, interval {low:+.2} % to {high:+.2} %.")
    });
    let figure = Figure {
        id: format!("e{place}-sequence-{at}"),
        title: format!("Block by block: {subject}"),
        description: format!(
            "{} block differences, and how the interval of their mean closed.{end}",
            data.differences.len()
        ),
        caption: format!(
            "Each point is the difference within one block, less is better; the line is their \
             mean so far, the band its interval for this pair alone.{end}"
        ),
        draw: &|width, alternative| sequence::plot(&data, "difference (%)", width, alternative),
    };
    Some(figure.html(Span::Wide))
}

fn qq_of_differences(
    place: usize,
    at: usize,
    experiment: &Experiment,
    result: &ResultRecord,
) -> Option<Markup> {
    let differences = plots::differences(experiment, result);
    let percents: Vec<f64> = differences.iter().map(|value| 100.0 * value.exp_m1()).collect();
    let data = plots::qq(&percents, result.program)?;
    let subject = experiment.subject(result);
    let test = normality(result.diagnostics.shapiro_wilk_p);
    let figure = Figure {
        id: format!("e{place}-qq-{at}"),
        title: format!("Block differences: {subject}"),
        description: format!(
            "{} block differences against normal quantiles. {test}",
            data.points.len()
        ),
        caption: test,
        draw: &|width, alternative| qq::plot(&data, "difference (%)", width, alternative),
    };
    Some(figure.html(Span::Small))
}

/// Runs of a program, re-randomized or not.
fn qq_of_program(
    place: usize,
    experiment: &Experiment,
    metric: &Metric,
    program: usize,
) -> Option<Markup> {
    let unit = plots::unit(experiment, metric);
    let axis = unit.axis(metric);
    let mut values = values_of(&experiment.file.runs, program, metric);
    values.iter_mut().for_each(|value| *value /= unit.size);
    let data = plots::qq(&values, program)?;
    let layouts = match plots::layouts_per_run(experiment, program) {
        Some(count) if count > 1.0 => format!("re-randomized, {count:.0} layouts a run"),
        Some(_) => "one layout a run".to_owned(),
        None => "no log of its layouts".to_owned(),
    };
    let test = normality(shapiro_wilk(&values).ok().map(|test| test.p));
    let figure = Figure {
        id: format!("e{place}-qq-program-{program}"),
        title: format!("Runs of {}: {layouts}", experiment.name(program)),
        description: format!("{} runs against normal quantiles. {test}", values.len()),
        caption: test,
        draw: &|width, alternative| qq::plot(&data, &axis, width, alternative),
    };
    Some(figure.html(Span::Small))
}

fn normality(p: Option<f64>) -> String {
    match p {
        Some(p) => format!("Shapiro–Wilk {}.", probability(p)),
        None => "No test of normality.".to_owned(),
    }
}
