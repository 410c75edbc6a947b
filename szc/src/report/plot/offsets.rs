//! Values over places: what a setup says by its position, a time by the offset of a function.
//!
//! Each point is a setup or a layout. A bar over a range of places is the mean of those in it.
#![forbid(unsafe_code)]

use super::frame::{Frame, Margins};
use super::marks;
use super::scale::{Kind, extent};
use super::svg::Alternative;

/// What is drawn.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Data {
    /// Place and value.
    pub points: Vec<[f64; 2]>,
    /// Ranges of places with the mean of each.
    pub levels: Vec<([f64; 2], f64)>,
    /// A value that is marked, if any.
    pub reference: Option<f64>,
    /// The first place, and the one behind the last.
    pub domain: [f64; 2],
    /// What the places are.
    pub across: String,
    /// What the values are.
    pub up: String,
}

/// Draws `data` at `width` user units.
#[must_use]
pub fn plot(data: &Data, width: f64, alternative: &Alternative) -> String {
    let height = if width < 480.0 { 240.0 } else { 280.0 };
    let values = data.points.iter().map(|point| point[1]);
    let values = values.chain(data.levels.iter().map(|level| level.1)).chain(data.reference);
    let shown = extent(values, 0.06);
    let margins = Margins { top: 28.0, right: 14.0, bottom: 42.0, left: 52.0 };
    let mut frame = Frame::new(
        [width, height],
        margins.with_labels(shown),
        [Kind::Linear, Kind::Linear],
        [data.domain, shown],
    );
    frame.horizontal_axis(&data.across);
    frame.vertical_axis(&data.up);
    if let Some(value) = data.reference {
        let y = frame.y.place(value);
        frame.svg.line("reference", [frame.start[0], y], [frame.end[0], y]);
    }
    let places: Vec<[f64; 2]> = data.points.iter().map(|[x, y]| frame.place(*x, *y)).collect();
    let size = if places.len() > 200 { 4.0 } else { 6.0 };
    frame.svg.path("dots s0", &marks::points(0, &places, size));
    for ([from, to], mean) in &data.levels {
        let ends = [*from, *to].map(|x| frame.place(x, *mean));
        frame.svg.path("line strong s1", &marks::polyline(&ends));
    }
    frame.svg.finish("plot offsets-plot", alternative)
}

#[cfg(test)]
mod tests {
    use super::super::NARROW;
    use super::*;

    #[test]
    fn every_point_is_drawn_and_every_range_has_its_mean() {
        let data = Data {
            points: vec![[0.0, 1.0], [16.0, 1.1], [32.0, 0.9]],
            levels: vec![([0.0, 32.0], 1.05), ([32.0, 64.0], 0.9)],
            reference: Some(1.0),
            domain: [0.0, 64.0],
            across: "offset".to_owned(),
            up: "ratio".to_owned(),
        };
        let alternative =
            Alternative { id: "o".to_owned(), title: "t".to_owned(), description: "d".to_owned() };
        let text = plot(&data, NARROW, &alternative);
        let dots = text.lines().find(|line| line.contains("dots s0")).unwrap();
        assert_eq!(dots.matches('M').count(), 3);
        assert_eq!(text.matches("line strong s1").count(), 2);
        assert!(text.contains("class=\"reference\""));
        let empty = plot(&Data { domain: [0.0, 64.0], ..Data::default() }, NARROW, &alternative);
        assert!(!empty.contains("NaN") && !empty.contains("dots"));
    }
}
