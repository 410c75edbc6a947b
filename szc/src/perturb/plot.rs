//! Plots of scores with and without something, and of a metric in two runs.
#![forbid(unsafe_code)]

use crate::report::plot::frame::{Frame, Margins, TEXT_SIZE};
use crate::report::plot::marks;
use crate::report::plot::scale::{Kind, extent};
use crate::report::plot::svg::{Alternative, Anchor, fit_with_end};

/// A row of the plot of scores.
pub(super) struct Score {
    /// What correlates with what.
    pub(super) label: String,
    /// Lowest and highest in the baseline.
    pub(super) range: [f64; 2],
    /// Median of the baseline.
    pub(super) before: f64,
    /// Median with what is tested.
    pub(super) after: f64,
}

const ROW_HEIGHT: f64 = 40.0;

/// Draws correlations from −1 to 1, a row each.
pub(super) fn scores(rows: &[Score], width: f64, alternative: &Alternative) -> String {
    let margins = Margins { top: 12.0, right: 14.0, bottom: 42.0, left: 14.0 };
    let height = margins.top + margins.bottom + ROW_HEIGHT * rows.len() as f64;
    let kinds = [Kind::Linear, Kind::Linear];
    let mut frame = Frame::new([width, height], margins, kinds, [[-1.0, 1.0], [0.0, 1.0]]);
    frame.horizontal_axis("correlation");
    let zero = frame.x.place(0.0);
    frame.svg.line("reference", [zero, frame.start[1]], [zero, frame.end[1]]);
    let (mut before, mut after) = (Vec::new(), Vec::new());
    for (index, row) in rows.iter().enumerate() {
        let top = frame.start[1] + ROW_HEIGHT * index as f64;
        let y = top + ROW_HEIGHT - 10.0;
        let label = fit_with_end(&row.label, width - 20.0, TEXT_SIZE);
        frame.svg.text("label", Anchor::Start, [10.0, top + 16.0], &label);
        let ends = row.range.map(|value| [frame.x.place(value), y]);
        frame.svg.path("line strong s0", &marks::polyline(&ends));
        before.push([frame.x.place(row.before), y]);
        after.push([frame.x.place(row.after), y]);
    }
    frame.svg.path("dots s0", &marks::points(0, &before, 8.0));
    frame.svg.path("dots s1", &marks::points(1, &after, 8.0));
    frame.svg.finish("plot scores-plot", alternative)
}

/// Draws a metric in a run without (first colour) and in one with what is tested.
pub(super) fn traces(
    [without, with]: [&[f64]; 2],
    metric: &str,
    width: f64,
    alternative: &Alternative,
) -> String {
    let height = if width < 480.0 { 220.0 } else { 260.0 };
    let shown = extent(without.iter().chain(with).copied(), 0.06);
    let margins = Margins { top: 28.0, right: 12.0, bottom: 42.0, left: 52.0 };
    let records = without.len().max(with.len()).max(2) as f64;
    let mut frame = Frame::new(
        [width, height],
        margins.with_labels(shown),
        [Kind::Linear, Kind::Linear],
        [[0.0, records], shown],
    );
    frame.horizontal_axis("interval");
    frame.vertical_axis(metric);
    for (class, values) in [("line s0", without), ("line s1", with)] {
        let places: Vec<[f64; 2]> =
            values.iter().enumerate().map(|(at, value)| frame.place(at as f64, *value)).collect();
        frame.svg.path(class, &marks::polyline(&places));
    }
    frame.svg.finish("plot traces-plot", alternative)
}
