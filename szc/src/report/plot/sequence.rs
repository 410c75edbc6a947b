//! Differences of the blocks in the order of time, and how the interval of their mean closed.
#![forbid(unsafe_code)]

use super::frame::{Frame, Margins};
use super::scale::{Kind, extent};
use super::svg::Alternative;
use super::{SERIES, marks};

/// The blocks of one comparison.
#[derive(Clone, Debug, PartialEq)]
pub struct Data {
    /// Number of the colour and shape.
    pub series: usize,
    /// The difference of each block.
    pub differences: Vec<f64>,
    /// Number of blocks, then mean, lower and upper end of the interval after so many.
    pub intervals: Vec<(usize, [f64; 3])>,
    /// Tolerated bounds of the difference, if the experiment had any.
    pub tolerance: Option<[f64; 2]>,
}

/// Draws `data` over a vertical axis called `axis`, at `width` user units.
#[must_use]
pub fn plot(data: &Data, axis: &str, width: f64, alternative: &Alternative) -> String {
    let height = if width < 480.0 { 240.0 } else { 280.0 };
    // The first intervals are much wider than all that follows; they may leave the picture.
    let shown = data.differences.iter().copied().chain([0.0]);
    let shown = shown.chain(data.intervals.last().map_or([0.0; 3], |(_, ends)| *ends));
    let shown = extent(shown, 0.06);
    let margins = Margins { top: 28.0, right: 12.0, bottom: 42.0, left: 52.0 };
    let mut frame = Frame::new(
        [width, height],
        margins.with_labels(shown),
        [Kind::Linear, Kind::Linear],
        [[0.5, data.differences.len() as f64 + 0.5], shown],
    );
    frame.horizontal_axis("block, in the order of time");
    frame.vertical_axis(axis);
    if let Some([low, high]) = data.tolerance {
        let [top, bottom] = [high, low].map(|value| frame.y.place(value));
        let size = [frame.end[0] - frame.start[0], bottom - top];
        frame.svg.rectangle("tolerance", [frame.start[0], top], size);
    }
    let edge = |which: usize| -> Vec<[f64; 2]> {
        let at = |(blocks, ends): &(usize, [f64; 3])| frame.place(*blocks as f64, ends[which]);
        data.intervals.iter().map(at).collect()
    };
    let series = data.series % SERIES;
    let band = marks::band(&edge(2), &edge(1));
    let middle = marks::polyline(&edge(0));
    frame.svg.path(&format!("sequence s{series}"), &band);
    let zero = frame.y.place(0.0);
    frame.svg.line("reference", [frame.start[0], zero], [frame.end[0], zero]);
    frame.svg.path(&format!("line strong s{series}"), &middle);
    let blocks = (1_u32..).map(f64::from).zip(&data.differences);
    let places: Vec<[f64; 2]> =
        blocks.map(|(block, difference)| frame.place(block, *difference)).collect();
    let size = if places.len() > 200 { 4.0 } else { 6.0 };
    frame.svg.path(&format!("dots s{series}"), &marks::points(series, &places, size));
    frame.svg.finish("plot sequence-plot", alternative)
}

#[cfg(test)]
mod tests {
    use super::super::NARROW;
    use super::*;

    #[test]
    fn blocks_intervals_and_the_tolerance_are_drawn() {
        let data = Data {
            series: 1,
            differences: vec![1.0, -1.0, 0.5],
            intervals: vec![(2, [0.0, -9.0, 9.0]), (3, [0.2, -1.0, 1.4])],
            tolerance: Some([-1.0, 1.0]),
        };
        let alternative =
            Alternative { id: "s".to_owned(), title: "t".to_owned(), description: "d".to_owned() };
        let text = plot(&data, "%", NARROW, &alternative);
        assert!(text.contains("sequence s1") && text.contains("class=\"tolerance\""));
        let dots = text.lines().find(|line| line.contains("dots s1")).unwrap();
        assert_eq!(dots.matches('M').count(), 3);
    }
}
