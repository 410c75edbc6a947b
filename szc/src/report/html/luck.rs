//! Whose placement it is, as a page: what is said, the functions that are named, and a plot of each
//! over its offsets.
#![forbid(unsafe_code)]

use maud::{Markup, html};
use szc_stats::describe::mean;

use super::document::Document;
use super::element::{Figure, Span, count, number, sentence, sentences as list, table, text};
use crate::report::luck::sentences;
use crate::report::luck::words::{called, counted, feature, head, share, whose};
use crate::report::number::{percent, short_p};
use crate::report::plot::offsets;
use crate::report::view::Tone;
use crate::samples::luck::{
    Confirmation, Feature, InterventionRecord, LuckRecord, NamedRecord, OffsetRecord,
};
use crate::samples::printable;

/// Functions that have a plot; the table has all.
const MAX_PLOTS: usize = 12;

/// Classes whose means are told in words; of more the least and the greatest are.
const MAX_TOLD: usize = 8;

/// The page.
///
/// # Errors
/// The result cannot be written as JSON.
pub fn page(found: &LuckRecord) -> serde_json::Result<String> {
    let heading = if found.command.is_empty() { "Luck" } else { &found.command };
    let contents = html! {
        section id="verdicts" aria-labelledby="verdicts-h" {
            h2 id="verdicts-h" { "Verdict" }
            (card(found))
            (named_table(found))
            (intervention_table(found))
            (fix_table(found))
        }
        @if !found.named.is_empty() {
            section id="offsets" aria-labelledby="offsets-h" {
                h2 id="offsets-h" { "Times by offset" }
                div.figures {
                    @for (at, named) in found.named.iter().take(MAX_PLOTS).enumerate() {
                        (figure(at, found, named))
                    }
                }
            }
        }
    };
    let document = Document {
        title: &format!("{heading} · szc luck"),
        heading,
        skip: ("verdicts", "Skip to the verdict"),
        source: "the result in this page",
        data: serde_json::to_string(found)?,
    };
    Ok(document.html(&contents))
}

fn card(found: &LuckRecord) -> Markup {
    let (tone, word) = match found.intervention.as_ref().map(|one| one.verdict) {
        Some(Confirmation::Confirmed) => (Tone::Bad, "confirmed"),
        Some(Confirmation::Rejected) => (Tone::Even, "rejected"),
        Some(Confirmation::Undecided) => (Tone::Open, "not decided"),
        None if found.named.is_empty() => (Tone::Open, "nothing named"),
        None => (Tone::Open, "named, not moved"),
    };
    let said = sentences(found);
    html! {
        article class={ "verdict " (tone.class()) } {
            p { span.word { (word) } }
            @if let Some((first, rest)) = said.split_first() {
                p.sentence { (sentence(first)) }
                @if !rest.is_empty() { (list(rest)) }
            }
            p.quiet {
                (count("/layouts", found.layouts)) " layouts, " (count("/runs", found.runs))
                " runs, " (count("/functions", found.functions)) " " (counted(found.part)) ", seed "
                (number("/seed", found.seed, &found.seed.to_string())) "."
            }
        }
    }
}

fn named_table(found: &LuckRecord) -> Markup {
    if found.named.is_empty() {
        return html! {};
    }
    let row = |(at, named): (usize, &NamedRecord)| {
        let base = format!("/named/{at}");
        let mut offsets: Vec<(usize, &OffsetRecord)> = named.offsets.iter().enumerate().collect();
        offsets.sort_by(|one, other| one.1.ratio.total_cmp(&other.1.ratio));
        let end = |found: Option<&(usize, &OffsetRecord)>| match found {
            Some((class, one)) => {
                let ratio = &format!("{:.3}", one.ratio);
                html! {
                    (number(&format!("{base}/offsets/{class}/ratio"), one.ratio, ratio))
                    " at " (one.offset)
                }
            }
            None => text("~"),
        };
        vec![
            text(&whose(named)),
            text(feature(named.feature)),
            named
                .share
                .map_or_else(|| text("~"), |of| number(&format!("{base}/share"), of, &share(of))),
            number(&format!("{base}/adjusted_p"), named.adjusted_p, &short_p(named.adjusted_p)),
            end(offsets.first()),
            end(offsets.last()),
        ]
    };
    let rows: Vec<Vec<Markup>> = found.named.iter().enumerate().map(row).collect();
    table("Whose placement goes with the time, at 5 % together", &head(found.part), &rows)
}

fn intervention_table(found: &LuckRecord) -> Markup {
    let Some(one) = &found.intervention else { return html! {} };
    let InterventionRecord { offsets: [best, worst], modulus, .. } = one;
    let what = match one.feature {
        Some(Feature::Draw) => "draw: ",
        Some(feature) if feature.is_of_pad() => "pad: ",
        Some(feature) if feature.is_of_frame() => "frame: ",
        Some(_) => "distance: ",
        None => "",
    };
    let at = |field: &str| format!("/intervention/{field}");
    let fixed = |field: &str, value: f64| number(&at(field), value, &format!("{value:.4}"));
    let bound = |which: usize| fixed(&format!("interval/{which}"), one.interval[which]);
    let row = vec![
        text(&called(&one.function, one.feature)),
        text(&format!("{what}{worst} against {best}, of {modulus}")),
        fixed("ratio", one.ratio),
        html! { (bound(0)) " to " (bound(1)) },
        count(&at("n"), one.n),
    ];
    let head = ["what", "offset", "ratio", "95 % interval", "layouts"];
    table("Moved alone, all others as they were", &head, &[row])
}

fn fix_table(found: &LuckRecord) -> Markup {
    let Some(fix) = &found.fix else { return html! {} };
    let at = |field: &str| format!("/fix/{field}");
    let fixed = |field: &str, value: f64| number(&at(field), value, &format!("{value:.4}"));
    let bound = |which: usize| fixed(&format!("interval/{which}"), fix.interval[which]);
    let sd =
        |which: usize| number(&at(&format!("sd/{which}")), fix.sd[which], &percent(fix.sd[which]));
    let row = vec![
        text(&format!("{} of {}", fix.offset, fix.modulus)),
        sd(0),
        sd(1),
        number(&at("p"), fix.p, &short_p(fix.p)),
        fixed("ratio", fix.ratio),
        html! { (bound(0)) " to " (bound(1)) },
        count(&at("runs"), fix.runs),
    ];
    let head = ["held at", "sd anywhere", "sd held", "p", "held / anywhere", "interval", "runs"];
    html! {
        (table("With the function held where the change would put it", &head, &[row]))
        pre { code { (fix.advice.join("\n")) } }
    }
}

/// Each layout's time relative to all, over the offset of the function, with the means of classes.
fn figure(at: usize, found: &LuckRecord, named: &NamedRecord) -> Markup {
    let (modulus, width) = named.feature.bytes();
    let logs: Vec<f64> = found
        .values
        .iter()
        .map(|runs| mean(&runs.iter().map(|run| run.ln()).collect::<Vec<_>>()).unwrap_or(0.0))
        .collect();
    let centre = mean(&logs).unwrap_or(0.0);
    let point = |(place, log): (&u32, &f64)| [f64::from(place % modulus), (log - centre).exp()];
    let level = |one: &OffsetRecord| {
        let from = f64::from(one.offset);
        ([from, from + f64::from(width)], one.ratio)
    };
    let what = feature(named.feature);
    let across = match &named.from {
        _ if named.feature.is_of_pad() => "pad in bytes".to_owned(),
        _ if named.feature == Feature::Draw => "draw".to_owned(),
        Some(from) => format!("bytes behind {} in a page", printable(from)),
        None => format!("offset in {modulus} bytes"),
    };
    let data = offsets::Data {
        points: named.places.iter().zip(&logs).map(point).collect(),
        levels: named.offsets.iter().map(level).collect(),
        reference: Some(1.0),
        domain: [0.0, f64::from(modulus)],
        across,
        up: format!("{} / mean", found.metric.title()),
    };
    let mut told: Vec<&OffsetRecord> = named.offsets.iter().collect();
    if told.len() > MAX_TOLD {
        told.sort_by(|one, other| one.ratio.total_cmp(&other.ratio));
        told.drain(1..told.len() - 1);
    }
    let words: Vec<String> = told
        .iter()
        .map(|one| format!("{:.3} at {} ({} layouts)", one.ratio, one.offset, one.layouts))
        .collect();
    let it = match named.feature {
        Feature::Draw => "the blocks have that draw",
        _ if named.from.is_some() => "the two lie so far apart",
        feature if feature.is_of_pad() => "the function's pad is that large",
        feature if feature.is_of_frame() => "the function's frame begins there",
        _ => "the function lies there",
    };
    Figure {
        id: format!("offsets-{at}"),
        title: format!("{}: {what}", whose(named)),
        description: format!("Means by offset: {}.", words.join(", ")),
        caption: format!(
            "Each point is a layout; a bar is the mean of the layouts in which {it}: {}.",
            words.join(", ")
        ),
        draw: &|width, alternative| offsets::plot(&data, width, alternative),
    }
    .html(Span::Wide)
}

#[cfg(test)]
mod tests {
    use super::super::checked::{data_of, numbers_of};
    use super::*;
    use crate::samples::Metric;
    use crate::samples::luck::{FORMAT, FixRecord, Part};

    const HOSTILE: &str = "</script><img src=x onerror='alert(1)'>";

    fn record() -> LuckRecord {
        let places: Vec<u32> = (0..40).map(|layout| 16 * (layout * 7 % 256)).collect();
        let value = |place: &u32| if place % 64 == 32 { 1.1 } else { 1.0 };
        let offset = |offset, ratio| OffsetRecord { offset, layouts: 10, ratio };
        LuckRecord {
            format: FORMAT.to_owned(),
            command: HOSTILE.to_owned(),
            seed: 7,
            part: Part::Code,
            metric: Metric::Cpu,
            layouts: 40,
            runs: 40,
            functions: 9,
            hottest: Vec::new(),
            pairs: 0,
            values: places.iter().map(|place| vec![value(place)]).collect(),
            p_layouts: Some(1e-9),
            sd_layouts: Some(0.05),
            named: vec![NamedRecord {
                function: HOSTILE.to_owned(),
                from: None,
                feature: Feature::Line,
                asked_by: Vec::new(),
                adjusted_p: 0.001,
                share: Some(0.9),
                offsets: vec![offset(0, 0.98), offset(32, 1.07)],
                places,
            }],
            intervention: Some(InterventionRecord {
                function: HOSTILE.to_owned(),
                from: None,
                feature: None,
                offsets: [0, 32],
                modulus: 64,
                n: 12,
                ratio: 1.1,
                interval: [1.08, 1.12],
                verdict: Confirmation::Confirmed,
            }),
            fix: Some(FixRecord {
                function: HOSTILE.to_owned(),
                offset: 0,
                modulus: 64,
                advice: vec!["aligned".to_owned()],
                runs: 60,
                sd: [0.05, 0.01],
                p: 1e-6,
                ratio: 0.97,
                interval: [0.96, 0.98],
            }),
        }
    }

    #[test]
    fn every_number_is_in_the_data_and_names_stay_text() {
        let page = page(&record()).unwrap();
        let data = data_of(&page);
        let numbers = numbers_of(&page, &data);
        assert!(numbers >= 12, "{numbers}");
        assert_eq!(page.matches("<script").count(), 2);
        assert!(!page.contains("<img") && !page.contains("NaN"));
        assert!(serde_json::from_value::<LuckRecord>(data).is_ok_and(|read| read == record()));
    }

    #[test]
    fn each_layout_is_a_point_and_each_class_a_bar() {
        let page = page(&record()).unwrap();
        let dots = page.lines().find(|line| line.contains("dots s0")).unwrap();
        assert_eq!(dots.matches('M').count(), 40);
        assert_eq!(page.matches("line strong s1").count(), 4, "two bars at two widths");
    }

    #[test]
    fn without_a_function_there_is_no_plot() {
        let none = LuckRecord { named: Vec::new(), intervention: None, fix: None, ..record() };
        let page = page(&none).unwrap();
        assert!(page.contains("nothing named") && !page.contains("<figure"));
    }
}
