//! What setups do to an answer: cards, tables and figures of an experiment on bias.
#![forbid(unsafe_code)]

use maud::{Markup, html};
use szc_stats::density::density;
use szc_stats::quantile::type_7;

use super::element::{Figure, Span, count, number, sentence, sentences, table, text};
use super::{figures, simulated};
use crate::report::bias::names::{factor_name, setup_name};
use crate::report::bias::{SIGNIFICANT, held, quantity, sd_interval, verdict_word};
use crate::report::number::{percent, quantities, short_p};
use crate::report::plot::{offsets, violin};
use crate::report::view::{Experiment, Tone, plots};
use crate::samples::bias::{
    BiasRecord, CausalRecord, CauseRecord, CauseVerdict, Factor, FactorRecord, SetupRecord,
};
use crate::samples::setups::PAGE_BYTES;

/// Places at which a density is drawn.
const DENSITY_PLACES: usize = 80;

/// The verdict of an experiment, its first sentence large.
pub(super) fn card(experiment: &Experiment) -> Markup {
    let (tone, word) = verdict(experiment.file.bias.as_ref());
    let said = experiment.verdicts();
    html! {
        article class={ "verdict " (tone.class()) } {
            p { span.word { (word) } span.from { (experiment.title()) } }
            @if let Some((first, rest)) = said.split_first() {
                p.sentence { (sentence(first)) }
                @if !rest.is_empty() { (sentences(rest)) }
            }
        }
    }
}

fn verdict(found: Option<&BiasRecord>) -> (Tone, &'static str) {
    let Some(found) = found else { return (Tone::Open, "not known yet") };
    let matters = |one: &FactorRecord| one.p.is_some_and(|p| p < SIGNIFICANT);
    if let Some(drawn) = &found.drawn {
        let misleads = drawn.wrong_side.is_some_and(|share| share >= 0.05) || drawn.off >= 0.05;
        return match misleads {
            true => (Tone::Bad, "a single setup misleads"),
            false => (Tone::Even, "a single setup would do"),
        };
    }
    let changing: Vec<&FactorRecord> = found.factors.iter().filter(|one| matters(one)).collect();
    if changing.iter().any(|one| one.straddles == Some(true)) {
        (Tone::Bad, "which is faster depends on the setup")
    } else if !changing.is_empty() {
        (Tone::Bad, "depends on the setup")
    } else {
        (Tone::Open, "no difference of setups shown")
    }
}

/// Tables and figures of the experiment at `place` of the page.
pub(super) fn section(place: usize, experiment: &Experiment) -> Markup {
    let Some(found) = &experiment.file.bias else { return html! {} };
    let base = format!("/experiments/{place}/samples/bias");
    html! {
        (factors_table(&base, experiment, found))
        (drawn_table(&base, experiment, found))
        (split_table(&base, found))
        @if let Some(causal) = &found.causal { (causes_table(&base, causal)) }
        (simulated::tables(&base, experiment))
        h3 { "Figures" }
        div.figures {
            (violins(place, experiment, found))
            @for (at, setups) in by_size(found).into_iter().enumerate() {
                (positions(&format!("e{place}-positions-{at}"), experiment, setups))
            }
            (figures::run_order(place, experiment, &experiment.file.design.metric))
        }
    }
}

/// A ratio, or an amount of the metric.
fn amount(experiment: &Experiment, pointer: &str, value: f64) -> Markup {
    if experiment.file.programs.len() > 1 {
        return number(pointer, value, &format!("{value:.3}"));
    }
    let [shown] = quantities(&experiment.file.design.metric, [value]);
    number(pointer, value, &shown)
}

fn share(pointer: &str, value: Option<f64>) -> Markup {
    value.map_or_else(|| text("~"), |value| number(pointer, value, &percent(value)))
}

fn factors_table(base: &str, experiment: &Experiment, found: &BiasRecord) -> Markup {
    if found.factors.is_empty() {
        return html! {};
    }
    let head = ["factor", "setups", "lowest", "highest", "height", "straddles 1", "sd", "p"];
    let row = |(at, one): (usize, &FactorRecord)| {
        let at = |field: &str| format!("{base}/factors/{at}/{field}");
        vec![
            text(factor_name(one.factor)),
            text(&one.setups.len().to_string()),
            amount(experiment, &at("lowest"), one.lowest),
            amount(experiment, &at("highest"), one.highest),
            share(&at("height"), Some(one.height)),
            text(match one.straddles {
                Some(true) => "yes",
                Some(false) => "no",
                None => "~",
            }),
            share(&at("sd_setups"), one.sd_setups),
            one.p.map_or_else(|| text("~"), |p| number(&at("p"), p, &short_p(p))),
        ]
    };
    let rows: Vec<Vec<Markup>> = found.factors.iter().enumerate().map(row).collect();
    table(&format!("{} by setup, each factor by itself", quantity(&experiment.file)), &head, &rows)
}

fn drawn_table(base: &str, experiment: &Experiment, found: &BiasRecord) -> Markup {
    let Some(drawn) = &found.drawn else { return html! {} };
    let at = |field: &str| format!("{base}/drawn/{field}");
    let bound =
        |which: usize| amount(experiment, &at(&format!("interval/{which}")), drawn.interval[which]);
    let head = ["setups", "mean", "95 % interval", "±", "sd", "off", "wrong side"];
    let row = vec![
        count(&at("n"), drawn.n),
        amount(experiment, &at("value"), drawn.value),
        html! { (bound(0)) " to " (bound(1)) },
        share(&at("precision"), Some(drawn.precision)),
        share(&at("sd_setups"), Some(drawn.sd_setups)),
        share(&at("off"), Some(drawn.off)),
        share(&at("wrong_side"), drawn.wrong_side),
    ];
    let caption = format!("{} over setups drawn at random", quantity(&experiment.file));
    table(&caption, &head, &[row])
}

fn split_table(base: &str, found: &BiasRecord) -> Markup {
    if found.split.is_empty() {
        return html! {};
    }
    let rows: Vec<Vec<Markup>> = found
        .split
        .iter()
        .enumerate()
        .map(|(at, part)| {
            let at = |field: &str| format!("{base}/split/{at}/{field}");
            vec![
                text(factor_name(part.factor)),
                share(&at("sd"), Some(part.sd)),
                text(&sd_interval(part)),
                number(&at("p"), part.p, &short_p(part.p)),
            ]
        })
        .collect();
    let head = ["factor", "sd of its levels", "95 % interval", "p"];
    table("What drawn setups differ by", &head, &rows)
}

fn causes_table(base: &str, causal: &CausalRecord) -> Markup {
    if !causal.shown {
        return html! {};
    }
    let cells = |base: &str, effect: f64, interval: [f64; 2]| {
        let bound = |which: usize| {
            number(
                &format!("{base}/interval/{which}"),
                interval[which],
                &format!("{:.4}", interval[which]),
            )
        };
        [
            number(&format!("{base}/effect"), effect, &format!("{effect:.4}")),
            html! { (bound(0)) " to " (bound(1)) },
        ]
    };
    let mut rows = vec![vec![text("nothing")]];
    rows[0].extend(cells(&format!("{base}/causal"), causal.effect, causal.interval));
    rows[0].extend([text(""), text("")]);
    rows.extend(causal.causes.iter().enumerate().map(|(at, cause): (usize, &CauseRecord)| {
        let at = format!("{base}/causal/causes/{at}");
        let mut row = vec![text(held(cause.cause))];
        row.extend(cells(&at, cause.effect, cause.interval));
        row.push(share(&format!("{at}/remains"), Some(cause.remains)));
        let tone = match cause.verdict {
            CauseVerdict::Confirmed => Tone::Bad,
            CauseVerdict::Rejected => Tone::Even,
            CauseVerdict::Undecided => Tone::Open,
        };
        let class = tone.class();
        row.push(html! { span class={ "tone " (class) } { (verdict_word(cause.verdict)) } });
        row
    }));
    let head = ["held", "difference", "95 % interval", "remains", "as a cause"];
    let [low, high] = causal.sizes_bytes;
    let caption = format!("+{high} against +{low} bytes of environment, by what is held");
    table(&caption, &head, &rows)
}

/// Setups of a list with what they are called.
fn violin_row(label: String, series: usize, setups: &[SetupRecord], unit: f64) -> violin::Row {
    let values: Vec<f64> = setups.iter().map(|setup| setup.value / unit).collect();
    let quartile = |share| type_7(&values, share).unwrap_or_default();
    violin::Row {
        label,
        series,
        density: density(&values, DENSITY_PLACES).unwrap_or_default(),
        quartiles: [0.25, 0.5, 0.75].map(quartile),
        values,
    }
}

/// What values are divided by, the title of their axis, and what is marked on it.
fn axis(experiment: &Experiment) -> (f64, String, Option<f64>) {
    if experiment.file.programs.len() > 1 {
        return (1.0, quantity(&experiment.file), Some(1.0));
    }
    let unit = plots::unit(experiment, &experiment.file.design.metric);
    (unit.size, unit.axis(&experiment.file.design.metric), None)
}

fn violins(place: usize, experiment: &Experiment, found: &BiasRecord) -> Markup {
    let (unit, title, reference) = axis(experiment);
    let mut rows: Vec<violin::Row> = found
        .factors
        .iter()
        .enumerate()
        .map(|(at, one)| violin_row(factor_name(one.factor).to_owned(), at, &one.setups, unit))
        .collect();
    if let Some(drawn) = &found.drawn {
        rows.push(violin_row("drawn at random".to_owned(), rows.len(), &drawn.setups, unit));
    }
    let words = |row: &violin::Row| {
        let least = row.values.iter().copied().fold(f64::INFINITY, f64::min);
        let greatest = row.values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let [_, middle, _] = row.quartiles;
        let setups = row.values.len();
        format!("{}: {setups} setups, {least:.3} to {greatest:.3}, median {middle:.3}.", row.label)
    };
    let straddling = if reference.is_some() {
        " A violin on both sides of the dashed line straddles 1: which is faster depends on the \
         setup."
    } else {
        ""
    };
    html! {
        @if !rows.is_empty() {
            (Figure {
                id: format!("e{place}-setups"),
                title: format!("What setups say: {}", quantity(&experiment.file)),
                description: rows.iter().map(words).collect::<Vec<_>>().join(" "),
                caption: format!(
                    "Each point is a setup; the outline is their estimated density, the bar goes \
                     from quartile to quartile, the tick is the median.{straddling}"
                ),
                draw: &|width, alternative| {
                    let of = violin::Values { axis: &title, noun: "setups", reference };
                    violin::plot(&rows, of, width, alternative)
                },
            }
            .html(Span::Wide))
        }
    }
}

/// Lists of setups that differ in the size of the environment.
fn by_size(found: &BiasRecord) -> Vec<&[SetupRecord]> {
    let of_factor = found.factors.iter().filter(|one| one.factor == Factor::Env);
    let lists = of_factor.map(|one| &one.setups[..]);
    let drawn = found.drawn.as_ref().map(|drawn| &drawn.setups[..]);
    let differs = |list: &&[SetupRecord]| list.iter().any(|setup| setup.size_bytes > 0);
    lists.chain(drawn).filter(differs).collect()
}

fn positions(id: &str, experiment: &Experiment, setups: &[SetupRecord]) -> Markup {
    let (unit, up, reference) = axis(experiment);
    let data = offsets::Data {
        points: setups
            .iter()
            .map(|setup| [f64::from(setup.size_bytes), setup.value / unit])
            .collect(),
        levels: Vec::new(),
        reference,
        domain: [0.0, f64::from(PAGE_BYTES)],
        across: "bytes that the environment is larger by".to_owned(),
        up,
    };
    let by_value = |one: &&SetupRecord, other: &&SetupRecord| one.value.total_cmp(&other.value);
    let ends = setups.iter().min_by(by_value).zip(setups.iter().max_by(by_value));
    let description = ends.map_or_else(String::new, |(low, high)| {
        let name = |setup: &SetupRecord| setup_name(&experiment.file, setup);
        format!("{} setups, lowest at {}, highest at {}.", setups.len(), name(low), name(high))
    });
    Figure {
        id: id.to_owned(),
        title: "By the size of the environment".to_owned(),
        caption: format!("Where the stack begins in a page moves with the size. {description}"),
        description,
        draw: &|width, alternative| offsets::plot(&data, width, alternative),
    }
    .html(Span::Wide)
}
