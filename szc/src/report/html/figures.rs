//! The figures of one experiment.
#![forbid(unsafe_code)]

use szc_stats::shapiro_wilk::shapiro_wilk;

use super::element::Figure;
use crate::report::number::quantities;
use crate::report::plot::svg::escape;
use crate::report::plot::{SERIES, marks, qq, run_order, sequence, shares, violin};
use crate::report::view::{Experiment, plots, probability};
use crate::samples::sample::values_of;
use crate::samples::{Metric, ResultRecord};

/// All figures on the deciding metric.
pub(super) fn section(place: usize, experiment: &Experiment) -> String {
    let metric = &experiment.file.design.metric;
    let has_values = experiment.file.runs.iter().any(|run| run.value(metric) > 0.0);
    if !has_values {
        return String::new();
    }
    let mut figures =
        vec![violins(place, experiment, metric), run_order(place, experiment, metric)];
    figures.extend(variance(place, experiment, metric));
    for (at, result) in experiment.deciding() {
        figures.extend(sequence(place, at, experiment, result));
    }
    let differences: String = experiment
        .deciding()
        .filter_map(|(at, result)| qq_of_differences(place, at, experiment, result))
        .collect();
    let programs = qq_of_programs(place, experiment, metric);
    format!(
        "<h3>Figures</h3>\n{}<div class=\"figures\">\n{}</div>\n\
         <h3>Against the normal distribution</h3>\n\
         <p class=\"quiet\">Normal values lie along the dashed line, within the grey band (95 % for each point by itself). \
         Layouts that change during a run average out, which is what makes sums of them normal.</p>\n\
         <div class=\"figures\">\n{differences}{programs}</div>\n",
        key(experiment),
        figures.concat()
    )
}

/// Colours and shapes of the programs.
fn key(experiment: &Experiment) -> String {
    let items: String = (0..experiment.file.programs.len())
        .map(|program| {
            let series = program % SERIES;
            let mark = marks::points(series, &[[7.0, 7.0]], 9.0);
            format!(
                "<span class=\"key\"><svg viewBox=\"0 0 14 14\" aria-hidden=\"true\"><path class=\"points s{series}\" d=\"{mark}\"/></svg>{}</span>\n",
                escape(&experiment.name(program))
            )
        })
        .collect();
    format!("<p>{items}</p>\n")
}

fn violins(place: usize, experiment: &Experiment, metric: &Metric) -> String {
    let rows = plots::violins(experiment, metric);
    let axis = plots::unit(experiment, metric).axis(metric);
    let description: Vec<String> = rows
        .iter()
        .map(|row| {
            let values = values_of(&experiment.file.runs, row.series, metric);
            let least = values.iter().copied().fold(f64::INFINITY, f64::min);
            let greatest = values.iter().copied().fold(0.0, f64::max);
            let middle = szc_stats::describe::median(&values).unwrap_or(least);
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
        caption: "Each point is a run, most of them with a layout of their own; the outline is their estimated density, the bar goes from quartile to quartile, the tick is the median.".to_owned(),
        draw: &|width, alternative| violin::plot(&rows, &axis, width, alternative),
    }
    .html("wide")
}

fn run_order(place: usize, experiment: &Experiment, metric: &Metric) -> String {
    let series = plots::run_order(experiment, metric);
    let axis = plots::unit(experiment, metric).axis(metric);
    let runs = experiment.file.runs.len();
    Figure {
        id: format!("e{place}-order"),
        title: "Drift: runs in the order of time".to_owned(),
        description: format!("{runs} runs in the order in which they were made. {}", drift(experiment)),
        caption: format!(
            "Lines are means of blocks. The programs are interleaved, so that what changes with time changes them alike. {}",
            drift(experiment)
        ),
        draw: &|width, alternative| run_order::plot(&series, &axis, width, alternative),
    }
    .html("wide")
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

fn variance(place: usize, experiment: &Experiment, metric: &Metric) -> Option<String> {
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
    Some(figure.html("wide"))
}

fn sequence(
    place: usize,
    at: usize,
    experiment: &Experiment,
    result: &ResultRecord,
) -> Option<String> {
    let data = plots::sequence(experiment, result)?;
    let pair = experiment.pair(result);
    let end = data.intervals.last().map_or_else(String::new, |(blocks, [mean, low, high])| {
        format!(" After {blocks} blocks: {mean:+.2} %, interval {low:+.2} % to {high:+.2} %.")
    });
    let figure = Figure {
        id: format!("e{place}-sequence-{at}"),
        title: format!("Block by block: {pair}"),
        description: format!(
            "{} block differences, and how the interval of their mean closed.{end}",
            data.differences.len()
        ),
        caption: format!(
            "Each point is the difference within one block, {}; the line is their mean so far, the band its interval for this pair alone.{end}",
            "less is better"
        ),
        draw: &|width, alternative| sequence::plot(&data, "difference (%)", width, alternative),
    };
    Some(figure.html("wide"))
}

fn qq_of_differences(
    place: usize,
    at: usize,
    experiment: &Experiment,
    result: &ResultRecord,
) -> Option<String> {
    let differences = plots::differences(experiment, result);
    let percents: Vec<f64> = differences.iter().map(|value| 100.0 * value.exp_m1()).collect();
    let data = plots::qq(&percents, result.program)?;
    let pair = experiment.pair(result);
    let test = normality(result.diagnostics.shapiro_wilk_p);
    let figure = Figure {
        id: format!("e{place}-qq-{at}"),
        title: format!("Block differences: {pair}"),
        description: format!(
            "{} block differences against normal quantiles. {test}",
            data.points.len()
        ),
        caption: test,
        draw: &|width, alternative| qq::plot(&data, "difference (%)", width, alternative),
    };
    Some(figure.html("small"))
}

/// Runs of each program, re-randomized or not.
fn qq_of_programs(place: usize, experiment: &Experiment, metric: &Metric) -> String {
    let unit = plots::unit(experiment, metric);
    let axis = unit.axis(metric);
    (0..experiment.file.programs.len())
        .filter_map(|program| {
            let values: Vec<f64> = values_of(&experiment.file.runs, program, metric)
                .into_iter()
                .map(|value| value / unit.size)
                .collect();
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
            Some(figure.html("small"))
        })
        .collect()
}

fn normality(p: Option<f64>) -> String {
    match p {
        Some(p) => format!("Shapiro–Wilk {}.", probability(p)),
        None => "No test of normality.".to_owned(),
    }
}
