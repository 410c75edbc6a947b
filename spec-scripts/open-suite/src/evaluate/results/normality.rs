//! Table 4.1 and figure 4.5: are times normal, with one layout for a run and with many, and do they
//! spread alike?
#![forbid(unsafe_code)]

use szc::report::html;
use szc::report::plot::qq_panels::{self, Panel};
use szc::report::plot::svg::Alternative;
use szc::report::view::plots;
use szc::samples::Metric;
use szc::samples::sample::block_log_ratios;
use szc_stats::describe::{mean, median, standard_deviation};
use szc_stats::groups::brown_forsythe;
use szc_stats::multiplicity::holm;
use szc_stats::shapiro_wilk::shapiro_wilk;

use super::row::{ALPHA, Row};
use super::table::{Table, origin, percent, probability};
use crate::evaluate::record::Measured;

/// What the picture shows.
pub const CAPTION: &str = "Normal QQ plots of CPU times over that of a plain run, in percent of \
    their mean, over normal quantiles. Points of normal times lie along a line; a steeper line is \
    a greater spread.";

/// Many layouts for a run against one, of the same build.
struct Pair {
    once: Times,
    often: Times,
    brown_forsythe_p: f64,
    /// Median number of layouts of a run behind the first one.
    layouts: f64,
}

/// The times of one configuration.
struct Times {
    shapiro_wilk_p: f64,
    /// Standard deviation over the mean.
    spread: f64,
}

impl Times {
    fn of(values: &[f64]) -> Option<Self> {
        Some(Self {
            shapiro_wilk_p: shapiro_wilk(values).ok()?.p,
            spread: standard_deviation(values)? / mean(values)?,
        })
    }
}

impl Pair {
    fn ratio(&self) -> f64 {
        self.often.spread / self.once.spread
    }
}

/// The times of a configuration over that of the first, which is not randomized, in the same block:
/// so the machine's drift is in neither, and what the first varies by in all.
fn relative_times(measured: &Measured, program: usize) -> Option<Vec<f64>> {
    let file = &measured.file;
    let logs = block_log_ratios(&file.runs, file.design.complete_blocks, 0, program, &Metric::Cpu)?;
    Some(logs.into_iter().map(f64::exp).collect())
}

/// A pair for each two configurations behind the first.
fn analysed(measured: &Measured) -> Option<Vec<Pair>> {
    let runs = &measured.file.runs;
    let pair = |place: usize| {
        let randomized_often = 2 * place + 2;
        let once = relative_times(measured, 2 * place + 1)?;
        let often = relative_times(measured, randomized_often)?;
        // Of values over their mean: it asks about spreads, and means differ.
        let relative = |values: &[f64]| -> Option<Vec<f64>> {
            let center = mean(values)?;
            Some(values.iter().map(|value| value / center).collect())
        };
        let epochs: Option<Vec<f64>> = runs
            .iter()
            .filter(|run| run.program == randomized_often)
            .map(|run| run.epochs.map(|epochs| epochs as f64))
            .collect();
        Some(Pair {
            once: Times::of(&once)?,
            often: Times::of(&often)?,
            brown_forsythe_p: brown_forsythe(&[&relative(&once)?, &relative(&often)?]).ok()?.p,
            layouts: median(&epochs?)?,
        })
    };
    (0..measured.file.programs.len().saturating_sub(1) / 2).map(pair).collect()
}

/// The names of the randomized configurations: one layout for a run and many, in pairs.
fn names(rows: &[Row]) -> Option<Vec<String>> {
    let measured = rows.iter().find_map(Row::measured)?;
    Some(measured.evaluation.configurations.iter().skip(1).map(|one| one.name.clone()).collect())
}

/// The table, and what it says over all programs.
pub fn section(rows: &[Row]) -> String {
    let names = names(rows).unwrap_or_else(|| vec!["once".to_owned(), "often".to_owned()]);
    let mut titles = vec!["program".to_owned()];
    for pair in names.chunks_exact(2) {
        titles.extend([
            format!("Shapiro–Wilk p, {}", pair[0]),
            "SD".to_owned(),
            format!("Shapiro–Wilk p, {}", pair[1]),
            "SD over that of once".to_owned(),
            "Brown–Forsythe p".to_owned(),
            "new layouts in a run".to_owned(),
        ]);
    }
    let mut table = Table::new(&titles.iter().map(String::as_str).collect::<Vec<&str>>());
    let mut analyses = Vec::new();
    for row in rows {
        let analysis = row.measured().and_then(analysed);
        table.add_program(row, analysis.as_deref().map(cells));
        analyses.extend(analysis);
    }
    let mut text = format!("{}{}\n", origin(rows), table.finish());
    for (place, pair) in names.chunks_exact(2).enumerate() {
        let of: Vec<&Pair> = analyses.iter().filter_map(|pairs| pairs.get(place)).collect();
        if !of.is_empty() {
            text.push_str(&sentence(&of, pair));
        }
    }
    text
}

fn cells(pairs: &[Pair]) -> Vec<String> {
    let of = |pair: &Pair| {
        [
            probability(pair.once.shapiro_wilk_p),
            percent(pair.once.spread),
            probability(pair.often.shapiro_wilk_p),
            format!("{:.2}", pair.ratio()),
            probability(pair.brown_forsythe_p),
            format!("{:.0}", pair.layouts),
        ]
    };
    pairs.iter().flat_map(of).collect()
}

fn not_normal(p: &[f64]) -> String {
    let adjusted = holm(p).unwrap_or_default();
    let below = |list: &[f64]| list.iter().filter(|p| **p < ALPHA).count();
    format!("{} of {} not normal at 5 % ({} after Holm)", below(p), p.len(), below(&adjusted))
}

fn sentence(pairs: &[&Pair], names: &[String]) -> String {
    let p = |times: fn(&Pair) -> &Times| -> Vec<f64> {
        pairs.iter().map(|pair| times(pair).shapiro_wilk_p).collect()
    };
    let changed = |is: fn(&Pair) -> bool| {
        pairs.iter().filter(|pair| pair.brown_forsythe_p < ALPHA && is(pair)).count()
    };
    let ratios: Vec<f64> = pairs.iter().map(|pair| pair.ratio()).collect();
    format!(
        "{}: {}. {}: {}; the variance is lower for {}, higher for {} (Brown–Forsythe at 5 %); \
         standard deviation over that of once, median {:.2}.\n",
        names[0],
        not_normal(&p(|pair| &pair.once)),
        names[1],
        not_normal(&p(|pair| &pair.often)),
        changed(|pair| pair.ratio() < 1.0),
        changed(|pair| pair.ratio() > 1.0),
        median(&ratios).unwrap_or_default(),
    )
}

/// The QQ plots of all programs that were measured; `None` without any.
pub fn picture(rows: &[Row]) -> Option<String> {
    let names = names(rows)?;
    let panels: Vec<Panel> = rows
        .iter()
        .filter_map(|row| {
            let measured = row.measured()?;
            let series = (0..names.len()).filter_map(|place| {
                let values = relative_times(measured, place + 1)?;
                let center = mean(&values)?;
                let relative: Vec<f64> =
                    values.iter().map(|value| 100.0 * (value / center - 1.0)).collect();
                plots::qq(&relative, place)
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
