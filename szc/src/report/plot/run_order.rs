//! Run-order plot: every run in the order of time, so that a drift of the machine can be seen.
#![forbid(unsafe_code)]

use super::frame::{Frame, Margins};
use super::scale::{Kind, extent};
use super::svg::Alternative;
use super::{SERIES, marks};

/// The runs of one program.
#[derive(Clone, Debug, PartialEq)]
pub struct Series {
    /// Number of its colour and shape.
    pub series: usize,
    /// Number of the run in the order of time, from 1, and its value.
    pub runs: Vec<(f64, f64)>,
    /// Mean over each block at the middle of the block: the line through the noise.
    pub line: Vec<(f64, f64)>,
}

/// Draws all `series` over one vertical axis called `axis`, at `width` user units.
#[must_use]
pub fn plot(series: &[Series], axis: &str, width: f64, alternative: &Alternative) -> String {
    let all = || series.iter().flat_map(|one| one.runs.iter().copied());
    let values = extent(all().map(|(_, value)| value), 0.05);
    let margins = Margins { top: 28.0, right: 12.0, bottom: 42.0, left: 52.0 };
    let margins = margins.with_labels(values);
    let height = if width < 480.0 { 240.0 } else { 280.0 };
    let mut frame = Frame::new(
        [width, height],
        margins,
        [Kind::Linear, Kind::Linear],
        [extent(all().map(|(run, _)| run), 0.01), values],
    );
    frame.horizontal_axis("run, in the order of time");
    frame.vertical_axis(axis);
    let count = all().count();
    let size = match count {
        0..200 => 6.0,
        200..1000 => 4.5,
        _ => 3.0,
    };
    for one in series {
        let number = one.series % SERIES;
        let line: Vec<[f64; 2]> = one.line.iter().map(|(x, y)| frame.place(*x, *y)).collect();
        frame.svg.path(&format!("line s{number}"), &marks::polyline(&line));
        let places: Vec<[f64; 2]> = one.runs.iter().map(|(x, y)| frame.place(*x, *y)).collect();
        frame.svg.path(&format!("dots s{number}"), &marks::points(number, &places, size));
    }
    frame.svg.finish("plot run-order-plot", alternative)
}

#[cfg(test)]
mod tests {
    use super::super::WIDE;
    use super::*;

    #[test]
    fn runs_are_points_and_block_means_a_line() {
        let series = Series {
            series: 1,
            runs: vec![(1.0, 5.0), (2.0, 6.0), (4.0, 5.5)],
            line: vec![(1.5, 5.5), (4.0, 5.5)],
        };
        let alternative =
            Alternative { id: "r".to_owned(), title: "t".to_owned(), description: "d".to_owned() };
        let text = plot(&[series], "ms", WIDE, &alternative);
        let dots = text.lines().find(|line| line.contains("dots s1")).unwrap();
        assert_eq!(dots.matches('M').count(), 3);
        assert!(text.contains("class=\"line s1\""));
    }
}
