//! Table 4.1 and figure 4.5: are times normal, with one layout for a run and with many, and do they
//! spread alike?
#![forbid(unsafe_code)]

use szc::report::html;
use szc::report::plot::qq_panels::{self, Panel};
use szc::report::plot::svg::Alternative;
use szc::report::view::plots;
use szc::samples::Metric;
use szc::samples::sample::values_of;
use szc_stats::describe::{mean, median, standard_deviation};
use szc_stats::groups::brown_forsythe;
use szc_stats::multiplicity::holm;
use szc_stats::shapiro_wilk::shapiro_wilk;

use super::row::{ALPHA, Row};
use super::table::{Table, origin, probability};
use crate::evaluate::record::Measured;

/// What the picture shows.
pub const CAPTION: &str = "Normal QQ plots of CPU times, in percent of their mean, over normal \
    quantiles. Points of normal times lie along a line; a steeper line is a greater spread.";

/// One way to randomize against one layout for a run.
struct Against {
    shapiro_wilk_p: f64,
    brown_forsythe_p: f64,
    /// Standard deviation over that with one layout.
    spread: f64,
    layouts: f64,
}

struct Analysis {
    once_shapiro_wilk_p: f64,
    once_spread: f64,
    repeated: Vec<Against>,
}

fn analysed(measured: &Measured) -> Option<Analysis> {
    let runs = &measured.file.runs;
    let values = |program| values_of(runs, program, &Metric::Cpu);
    let once = values(0);
    let spread_of_once = standard_deviation(&once)?;
    let repeated = (1..measured.file.programs.len()).map(|program| {
        let own = values(program);
        let epochs: Option<Vec<f64>> = runs
            .iter()
            .filter(|run| run.program == program)
            .map(|run| run.epochs.map(|epochs| epochs as f64))
            .collect();
        Some(Against {
            shapiro_wilk_p: shapiro_wilk(&own).ok()?.p,
            brown_forsythe_p: brown_forsythe(&[&once, &own]).ok()?.p,
            spread: standard_deviation(&own)? / spread_of_once,
            layouts: median(&epochs?)?,
        })
    });
    Some(Analysis {
        once_shapiro_wilk_p: shapiro_wilk(&once).ok()?.p,
        once_spread: spread_of_once / mean(&once)?,
        repeated: repeated.collect::<Option<_>>()?,
    })
}

/// The names of the ways to randomize, the first being one layout for a run.
fn names(rows: &[Row]) -> Option<Vec<String>> {
    let measured = rows.iter().find_map(Row::measured)?;
    Some(measured.evaluation.configurations.iter().map(|one| one.name.clone()).collect())
}

/// The table, and what it says over all programs.
pub fn section(rows: &[Row]) -> String {
    let names = names(rows).unwrap_or_else(|| vec!["once".to_owned(), "repeated".to_owned()]);
    let repeated = names.get(1..).unwrap_or_default();
    let mut titles =
        vec!["program".to_owned(), "Shapiro–Wilk p, once".to_owned(), "SD, once".to_owned()];
    for name in repeated {
        titles.extend([
            format!("Shapiro–Wilk p, {name}"),
            "Brown–Forsythe p".to_owned(),
            "SD over that of once".to_owned(),
            "new layouts in a run".to_owned(),
        ]);
    }
    let mut table = Table::new(&titles.iter().map(String::as_str).collect::<Vec<&str>>());
    let mut analyses = Vec::new();
    for row in rows {
        let analysis = row.measured().and_then(analysed);
        table.add_program(row, analysis.as_ref().map(cells));
        analyses.extend(analysis);
    }
    let mut text = format!("{}{}\n", origin(rows), table.finish());
    if !analyses.is_empty() {
        let p: Vec<f64> = analyses.iter().map(|one| one.once_shapiro_wilk_p).collect();
        text.push_str(&format!("With one layout for a run: {}.\n", not_normal(&p)));
        for (place, name) in repeated.iter().enumerate() {
            text.push_str(&sentence(&analyses, place, name));
        }
    }
    text
}

fn cells(analysis: &Analysis) -> Vec<String> {
    let mut cells = vec![
        probability(analysis.once_shapiro_wilk_p),
        format!("{:.2} %", 100.0 * analysis.once_spread),
    ];
    for one in &analysis.repeated {
        cells.extend([
            probability(one.shapiro_wilk_p),
            probability(one.brown_forsythe_p),
            format!("{:.2}", one.spread),
            format!("{:.0}", one.layouts),
        ]);
    }
    cells
}

fn not_normal(p: &[f64]) -> String {
    let adjusted = holm(p).unwrap_or_default();
    let below = |list: &[f64]| list.iter().filter(|p| **p < ALPHA).count();
    format!("{} of {} not normal at 5 % ({} after Holm)", below(p), p.len(), below(&adjusted))
}

fn sentence(analyses: &[Analysis], place: usize, name: &str) -> String {
    let of: Vec<&Against> =
        analyses.iter().filter_map(|analysis| analysis.repeated.get(place)).collect();
    let normality: Vec<f64> = of.iter().map(|one| one.shapiro_wilk_p).collect();
    let changed = |is: fn(&Against) -> bool| {
        of.iter().filter(|one| one.brown_forsythe_p < ALPHA && is(one)).count()
    };
    let spreads: Vec<f64> = of.iter().map(|one| one.spread).collect();
    format!(
        "A new layout {name}: {}; the variance is lower for {}, higher for {} (Brown–Forsythe at 5 \
         %); standard deviation over that of once, median {:.2}.\n",
        not_normal(&normality),
        changed(|one| one.spread < 1.0),
        changed(|one| one.spread > 1.0),
        median(&spreads).unwrap_or_default(),
    )
}

/// The QQ plots of all programs that were measured; `None` without any.
pub fn picture(rows: &[Row]) -> Option<String> {
    let names = names(rows)?;
    let panels: Vec<Panel> = rows
        .iter()
        .filter_map(|row| {
            let runs = &row.measured()?.file.runs;
            let series = (0..names.len()).filter_map(|program| {
                let values = values_of(runs, program, &Metric::Cpu);
                let center = mean(&values)?;
                let relative: Vec<f64> =
                    values.iter().map(|value| 100.0 * (value / center - 1.0)).collect();
                plots::qq(&relative, program)
            });
            Some(Panel { title: row.program.clone(), series: series.collect() })
        })
        .collect();
    let alternative = Alternative {
        id: "qq".to_owned(),
        title: format!("QQ plots of {} programs", panels.len()),
        description: CAPTION.to_owned(),
    };
    Some(html::picture(&qq_panels::plot(&panels, &names, &alternative)))
}
