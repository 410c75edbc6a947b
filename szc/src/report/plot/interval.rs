//! Interval plot ("forest plot"): one row for each comparison, its estimate and its interval on a
//! common logarithmic axis of ratios, so that 2 and 1/2 are equally far from 1.
#![forbid(unsafe_code)]

use super::frame::{Frame, Margins, TEXT_SIZE};
use super::scale::{Kind, extent};
use super::svg::{Alternative, Anchor, fit, fit_with_end, width_of_text};
use super::{SERIES, marks};

/// One comparison.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// Who is compared.
    pub label: String,
    /// Ratio and interval in words, as in the tables.
    pub numbers: String,
    /// Class of the colour: that of the verdict.
    pub class: &'static str,
    /// The ratio.
    pub ratio: f64,
    /// Share δ of the change that is tolerated in it, where that is not the same in all.
    pub tolerance: Option<f64>,
    /// Lower and upper end of its interval; an end that is 0 or no finite number is open.
    pub interval: [f64; 2],
}

/// What stands around the rows.
#[derive(Clone, Debug, PartialEq)]
pub struct Labels {
    /// Title of the axis.
    pub axis: String,
    /// What a ratio below 1 means.
    pub below: String,
    /// What a ratio above 1 means.
    pub above: String,
    /// Share δ of the tolerated change, if the experiment had one.
    pub tolerance: Option<f64>,
}

/// More rows stand closer together.
const MAX_LOOSE: usize = 16;

/// Draws `rows` at `width` user units.
#[must_use]
pub fn plot(rows: &[Row], labels: &Labels, width: f64, alternative: &Alternative) -> String {
    let narrow = width < 480.0;
    let dense = rows.len() > MAX_LOOSE;
    let (label_width, row_height) = match (narrow, dense) {
        (true, false) => (0.0, 58.0),
        (true, true) => (0.0, 54.0),
        (false, false) => (label_room(rows), 34.0),
        (false, true) => (label_room(rows), 20.0),
    };
    let numbers_width = if narrow { 0.0 } else { 140.0 };
    let margins =
        Margins { top: 30.0, right: numbers_width + 14.0, bottom: 42.0, left: label_width + 14.0 };
    let height = margins.top + margins.bottom + row_height * rows.len() as f64 + 6.0;
    let mut frame = Frame::new(
        [width, height],
        margins,
        [Kind::Logarithmic, Kind::Linear],
        [domain(rows, labels.tolerance), [0.0, 1.0]],
    );
    if let Some(share) = labels.tolerance {
        let place = [frame.start[1], frame.end[1] - frame.start[1]];
        band(&mut frame, share, place);
    }
    frame.horizontal_axis(&labels.axis);
    let one = frame.x.place(1.0);
    frame.svg.line("reference", [one, frame.start[1] - 6.0], [one, frame.end[1]]);
    let [start, end] = [frame.start[0], frame.end[0]];
    for (anchor, place, room, text) in [
        (Anchor::End, one - 8.0, one - start - 8.0, format!("← {}", labels.below)),
        (Anchor::Start, one + 8.0, end - one - 8.0, format!("{} →", labels.above)),
    ] {
        // A side that is too small for its words is clear from the other one.
        if fit(&text, room + 14.0, TEXT_SIZE) == text {
            frame.svg.text("side", anchor, [place, 18.0], &text);
        }
    }
    for (index, row) in rows.iter().enumerate() {
        let top = frame.start[1] + row_height * index as f64 + 4.0;
        if let Some(share) = row.tolerance {
            band(&mut frame, share, [top - 1.0, row_height - 2.0]);
        }
        // The line is in the middle of the row, or below its words.
        let line = if narrow { top + row_height - 14.0 } else { top + row_height / 2.0 };
        draw_row(&mut frame, row, [top, line], narrow, width);
    }
    frame.svg.finish("plot interval-plot", alternative)
}

/// The tolerated change, at a height and as high as that.
fn band(frame: &mut Frame, share: f64, [top, height]: [f64; 2]) {
    let [low, high] = [1.0 / (1.0 + share), 1.0 + share].map(|ratio| frame.x.place(ratio));
    frame.svg.rectangle("tolerance", [low, top], [high - low, height]);
}

/// The row at its top and the height of its line.
fn draw_row(frame: &mut Frame, row: &Row, [top, y]: [f64; 2], narrow: bool, width: f64) {
    if narrow {
        let label = fit_with_end(&row.label, width - 20.0, TEXT_SIZE);
        frame.svg.text("label", Anchor::Start, [10.0, top + 14.0], &label);
        frame.svg.text("numbers", Anchor::Start, [10.0, top + 30.0], &row.numbers);
    } else {
        let label = fit_with_end(&row.label, frame.start[0] - 18.0, TEXT_SIZE);
        frame.svg.text("label", Anchor::Start, [4.0, y + 4.0], &label);
        frame.svg.text("numbers", Anchor::End, [width - 4.0, y + 4.0], &row.numbers);
    }
    let class = row.class;
    let open =
        [row.interval[0] <= 0.0 || !row.interval[0].is_finite(), !row.interval[1].is_finite()];
    let [low, high] = [
        if open[0] { frame.start[0] } else { frame.x.place(row.interval[0]) },
        if open[1] { frame.end[0] } else { frame.x.place(row.interval[1]) },
    ];
    frame.svg.line(&format!("interval {class}"), [low, y], [high, y]);
    for (place, open, direction) in [(low, open[0], 1.0), (high, open[1], -1.0)] {
        if open {
            let tip = [place, y];
            let [up, down] = [-5.0, 5.0].map(|offset| [place + 7.0 * direction, y + offset]);
            frame.svg.path(&format!("end {class}"), &marks::polyline(&[up, tip, down]));
        } else {
            frame.svg.line(&format!("end {class}"), [place, y - 5.0], [place, y + 5.0]);
        }
    }
    let estimate = [frame.x.place(row.ratio), y];
    // The diamond of forest plots, so that it differs from the ends without colour.
    frame.svg.path(&format!("estimate {class}"), &marks::points(SERIES - 5, &[estimate], 9.0));
}

/// Room for the longest label, within bounds.
fn label_room(rows: &[Row]) -> f64 {
    let widths = rows.iter().map(|row| width_of_text(&row.label, TEXT_SIZE));
    (widths.fold(0.0, f64::max) + 6.0).clamp(60.0, 230.0)
}

/// All finite ends, 1 and the tolerated bounds, with some room.
fn domain(rows: &[Row], tolerance: Option<f64>) -> [f64; 2] {
    let usable = |value: &f64| value.is_finite() && *value > 0.0;
    let ends = rows.iter().flat_map(|row| [row.interval[0], row.interval[1], row.ratio]);
    let shares = rows.iter().filter_map(|row| row.tolerance).chain(tolerance);
    let bounds = shares.flat_map(|share| [1.0 + share, 1.0 / (1.0 + share)]);
    let logarithms = ends.chain(bounds).chain([1.0]).filter(usable).map(f64::ln);
    let [low, high] = extent(logarithms, 0.06);
    // Some room around 1 even when every ratio is 1.
    [low.min(-0.002).exp(), high.max(0.002).exp()]
}

#[cfg(test)]
mod tests {
    use super::super::{NARROW, WIDE};
    use super::*;

    fn alternative() -> Alternative {
        Alternative { id: "i".to_owned(), title: "t".to_owned(), description: "d".to_owned() }
    }

    fn row(ratio: f64, interval: [f64; 2]) -> Row {
        Row {
            label: "-O3 against -O2".to_owned(),
            numbers: "ratio and interval".to_owned(),
            class: "faster",
            ratio,
            tolerance: None,
            interval,
        }
    }

    fn labels() -> Labels {
        Labels {
            axis: "ratio".to_owned(),
            below: "faster".to_owned(),
            above: "slower".to_owned(),
            tolerance: Some(0.01),
        }
    }

    #[test]
    fn every_row_has_an_interval_and_an_estimate() {
        for width in [NARROW, WIDE] {
            let rows = [row(0.9, [0.88, 0.92]), row(1.0, [0.99, 1.01])];
            let text = plot(&rows, &labels(), width, &alternative());
            assert_eq!(text.matches("class=\"interval faster\"").count(), 2);
            assert_eq!(text.matches("class=\"estimate faster\"").count(), 2);
            assert_eq!(text.matches("class=\"end faster\"").count(), 4);
            assert!(text.contains("class=\"tolerance\""));
        }
    }

    #[test]
    fn an_interval_without_end_reaches_the_edge_with_an_arrow() {
        let text = plot(&[row(1.1, [0.0, f64::INFINITY])], &labels(), WIDE, &alternative());
        assert_eq!(text.matches("<path class=\"end faster\"").count(), 2);
        assert!(!text.contains("NaN") && !text.contains("inf\""), "{text}");
    }

    #[test]
    fn absurd_ratios_still_give_numbers() {
        for ratio in [0.0, -1.0, f64::NAN, f64::MAX, 5e-324] {
            let text = plot(&[row(ratio, [ratio, ratio])], &labels(), NARROW, &alternative());
            assert!(!text.contains("NaN") && !text.contains("inf\""), "{ratio}");
        }
    }
}
