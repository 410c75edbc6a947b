//! What was found, as one HTML page that needs no network: the rows, how much of all subpaths the
//! most frequent ones are, and the instructions of each row.
#![forbid(unsafe_code)]

use maud::{Markup, html};

use super::code::Code;
use super::listing::listing;
use super::merge::Merged;
use super::places::Places;
use super::rows::{Curve, Row, curves};
use super::text::{number as short, path};
use crate::report::html::document::Document;
use crate::report::html::element::{Figure, Span, folded, number, table, text};
use crate::report::number::percent;
use crate::report::plot::frame::{Frame, Margins, TEXT_SIZE};
use crate::report::plot::scale::Kind;
use crate::report::plot::svg::{Alternative, Anchor};
use crate::report::plot::{SERIES, marks};
use crate::samples::printable;

/// The page; `json` is what [`super::export`] made of the same rows, of which so many are shown.
pub(super) fn page(
    merged: &Merged,
    rows: &[Row<'_>],
    top: usize,
    (places, code): (&mut Places, &mut Code),
    json: String,
) -> String {
    let heading = printable(&merged.programs.join(", "));
    let shown = &rows[..rows.len().min(top)];
    let curves = curves(merged);
    let contents = html! {
        section id="subpaths" aria-labelledby="subpaths-h" {
            h2 id="subpaths-h" { "Subpaths" }
            p {
                (number("/blocks", merged.blocks, &short(merged.blocks as f64)))
                " blocks executed by " (number("/threads", merged.threads,
                    &merged.threads.to_string()))
                " threads; "
                @if merged.is_exact() { "all subpaths counted." }
                @else {
                    "a subpath began at one block in "
                    (number("/spacing", merged.spacing, &merged.spacing.to_string())) "."
                }
            }
            (heaviest(merged, shown, places))
            div.figures { (coverage(&curves)) }
        }
        section id="blocks" aria-labelledby="blocks-h" {
            h2 id="blocks-h" { "Their blocks" }
            @for row in shown {
                (folded(&path(merged, row.key, places), true, &html! {
                    pre { code { (listing(merged, std::slice::from_ref(row), places, code)) } }
                }))
            }
        }
    };
    let document = Document {
        title: &format!("{heading} · szc paths"),
        heading: &heading,
        skip: ("subpaths", "Skip to the subpaths"),
        source: "the result in this page",
        data: json,
    };
    document.html(&contents)
}

fn heaviest(merged: &Merged, rows: &[Row<'_>], places: &mut Places) -> Markup {
    let mut cells = |(at, row): (usize, &Row<'_>)| {
        let base = format!("/subpaths/{at}");
        let of = |field: &str, value: f64| number(&format!("{base}/{field}"), value, &short(value));
        vec![
            text(&path(merged, row.key, places)),
            of("executions", row.count),
            html! { (of("lower", row.interval.lower)) " to " (of("upper", row.interval.upper)) },
            of("length", row.key.blocks.len() as f64),
            of("cycles", row.cycles as f64),
        ]
    };
    let rows: Vec<Vec<Markup>> = rows.iter().enumerate().map(&mut cells).collect();
    let head = ["blocks, as function:line", "executions", "95 % interval", "length", "cycles"];
    table("The heaviest subpaths", &head, &rows)
}

fn coverage(curves: &[Curve]) -> Markup {
    let words: Vec<String> = curves
        .iter()
        .map(|curve| {
            let share = |rank: usize| {
                let found = curve.points.iter().take_while(|point| point.0 <= rank).last();
                percent(found.map_or(0.0, |point| point.1))
            };
            format!("{} blocks: {} the first, {} the first 10", curve.length, share(1), share(10))
        })
        .collect();
    Figure {
        id: "coverage".to_owned(),
        title: "Share of all subpaths of a length that the most frequent ones are".to_owned(),
        description: format!("{}.", words.join("; ")),
        caption: "A line for each length, with the number of its blocks at the end.".to_owned(),
        draw: &|width, alternative| plot(curves, width, alternative),
    }
    .html(Span::Wide)
}

fn plot(curves: &[Curve], width: f64, alternative: &Alternative) -> String {
    let height = if width < 480.0 { 240.0 } else { 300.0 };
    let margins = Margins { top: 28.0, right: 34.0, bottom: 42.0, left: 46.0 };
    let most = curves.iter().filter_map(|curve| curve.points.last()).map(|point| point.0);
    let most = most.max().unwrap_or(1).max(10) as f64;
    let kinds = [Kind::Logarithmic, Kind::Linear];
    let mut frame = Frame::new([width, height], margins, kinds, [[1.0, most], [0.0, 100.0]]);
    frame.horizontal_axis("most frequent subpaths");
    frame.vertical_axis("share (%)");
    for (index, curve) in curves.iter().enumerate() {
        let place = |point: &(usize, f64)| frame.place(point.0 as f64, 100.0 * point.1);
        let places: Vec<[f64; 2]> = curve.points.iter().map(place).collect();
        let class = format!("line strong s{}", index % SERIES);
        frame.svg.path(&class, &marks::polyline(&places));
        if let Some([x, y]) = places.last() {
            let end = [x + 4.0, y + TEXT_SIZE / 3.0];
            frame.svg.text("label", Anchor::Start, end, &curve.length.to_string());
        }
    }
    frame.svg.finish("plot coverage-plot", alternative)
}

#[cfg(test)]
mod tests {
    use super::super::export;
    use super::super::options::Weight;
    use super::super::rows::{rows, tests::merged};
    use super::*;
    use crate::report::html::checked::{data_of, numbers_of};

    #[test]
    fn every_number_is_in_the_data_and_names_stay_text() {
        let hostile = "</script><img src=x onerror='alert(1)'>";
        let mut merged = merged(1000, &[(&[1, 2], 100), (&[2, 3], 7), (&[1; 4], 80)]);
        merged.programs = vec![hostile.to_owned()];
        let (mut places, mut code) = (Places::default(), Code::default());
        let rows = rows(&merged, Weight::Count, 2, &mut code);
        let json = export::json(&merged, &rows, &mut places, &[hostile.to_owned()], None);
        let page = page(&merged, &rows, 2, (&mut places, &mut code), json);
        let data = data_of(&page);
        let numbers = numbers_of(&page, &data);
        assert_eq!(numbers, 3 + 2 * 5);
        assert_eq!(page.matches("<script").count(), 2);
        assert!(!page.contains("<img") && page.contains("some 4 cycles each"));
        // Two lengths at two widths.
        assert_eq!(page.matches("line strong s").count(), 4);
    }
}
