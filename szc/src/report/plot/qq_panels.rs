//! Normal QQ plots of many programs beside one another, as figure 4.5 of the STABILIZER paper has
//! them: a panel for each program, a series of points and a line for each way to run it.
//!
//! All series of a panel share their axes, so a steeper line is a greater spread.
#![forbid(unsafe_code)]

use super::frame::{Frame, Margins};
use super::qq::{Data, visible_part};
use super::scale::{Kind, extent};
use super::svg::{Alternative, Anchor, Svg, fit};
use super::{SERIES, WIDE, marks};

/// Panels beside one another.
const COLUMNS: usize = 4;
/// Height of a panel in user units.
const HEIGHT: f64 = 150.0;
/// Room for the names of the series above all panels.
const LEGEND: f64 = 30.0;

/// The plot of one program.
#[derive(Clone, Debug, PartialEq)]
pub struct Panel {
    /// The program.
    pub title: String,
    /// Its series; bands are not drawn.
    pub series: Vec<Data>,
}

/// Draws `panels` in their order; `names` are those of the series by their number.
#[must_use]
pub fn plot(panels: &[Panel], names: &[String], alternative: &Alternative) -> String {
    let rows = panels.len().div_ceil(COLUMNS);
    let mut image = Svg::new(WIDE, LEGEND + HEIGHT * rows as f64);
    legend(&mut image, names);
    let width = WIDE / COLUMNS as f64;
    for (index, panel) in panels.iter().enumerate() {
        let [row, column] = [index / COLUMNS, index % COLUMNS].map(|place| place as f64);
        image.inset([column * width, LEGEND + row * HEIGHT], &drawn(panel, width));
    }
    image.finish("plot qq-panels", alternative)
}

fn legend(image: &mut Svg, names: &[String]) {
    let room = WIDE / names.len().max(1) as f64;
    for (series, name) in names.iter().enumerate() {
        let left = series as f64 * room + 10.0;
        let mark = marks::points(series, &[[left, 14.0]], 8.0);
        image.path(&format!("points s{}", series % SERIES), &mark);
        let name = fit(name, room - 24.0, 12.0);
        image.text("legend", Anchor::Start, [left + 10.0, 18.0], &name);
    }
}

fn drawn(panel: &Panel, width: f64) -> Svg {
    let margins = Margins { top: 22.0, right: 8.0, bottom: 22.0, left: 38.0 };
    let points = || panel.series.iter().flat_map(|series| &series.points);
    let mut frame = Frame::new(
        [width, HEIGHT],
        margins,
        [Kind::Linear, Kind::Linear],
        [
            extent(points().map(|(quantile, _)| *quantile), 0.05),
            extent(points().map(|(_, value)| *value), 0.05),
        ],
    );
    axes(&mut frame);
    let title = fit(&panel.title, width - margins.left - margins.right, 12.0);
    frame.svg.text("label", Anchor::Start, [margins.left, 14.0], &title);
    for series in &panel.series {
        let number = series.series % SERIES;
        if let Some((from, to)) = visible_part(&frame, series.line) {
            frame.svg.line(&format!("line s{number}"), from, to);
        }
        let places: Vec<[f64; 2]> =
            series.points.iter().map(|(x, y)| frame.place(*x, *y)).collect();
        frame.svg.path(&format!("points s{number}"), &marks::points(number, &places, 4.0));
    }
    frame.svg
}

/// Few ticks and no titles: the text around the figure says what the axes are.
fn axes(frame: &mut Frame) {
    let [left, top] = frame.start;
    let [right, bottom] = frame.end;
    let ticks = frame.x.ticks(4);
    for value in &ticks.values {
        let x = frame.x.place(*value);
        frame.svg.line("grid", [x, top], [x, bottom]);
        frame.svg.text("tick", Anchor::Middle, [x, bottom + 14.0], &ticks.label(*value));
    }
    let ticks = frame.y.ticks(4);
    for value in &ticks.values {
        let y = frame.y.place(*value);
        frame.svg.line("grid", [left, y], [right, y]);
        frame.svg.text("tick", Anchor::End, [left - 4.0, y + 4.0], &ticks.label(*value));
    }
    frame.svg.line("axis", [left, bottom], [right, bottom]);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn series(number: usize, slope: f64) -> Data {
        Data {
            series: number,
            points: [-1.0, 0.0, 1.0].map(|x| (x, slope * x)).to_vec(),
            line: [0.0, slope],
            band: Vec::new(),
        }
    }

    #[test]
    fn every_panel_has_its_series_on_common_axes() {
        let panel = |title: &str| Panel {
            title: title.to_owned(),
            series: vec![series(0, 2.0), series(1, 1.0)],
        };
        let panels: Vec<Panel> = ["a", "b", "c", "d", "e<"].map(panel).to_vec();
        let names = ["once", "often"].map(str::to_owned);
        let alternative =
            Alternative { id: "q".to_owned(), title: "t".to_owned(), description: "d".to_owned() };
        let text = plot(&panels, &names, &alternative);
        assert_eq!(text.matches("class=\"points s0\"").count(), 6, "{text}");
        assert_eq!(text.matches("class=\"line s").count(), 10);
        // The fifth panel begins the second row.
        assert!(text.contains("translate(0 180)") && text.contains("e&lt;"), "{text}");
        assert!(text.contains("viewBox=\"0 0 680 330\""));
    }
}
