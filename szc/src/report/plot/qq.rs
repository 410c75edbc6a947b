//! QQ plot: ordered values against the normal quantiles expected at their ranks. Normal data follow
//! the line, and stay inside the band.
#![forbid(unsafe_code)]

use super::frame::{Frame, Margins};
use super::scale::{Kind, extent};
use super::svg::Alternative;
use super::{SERIES, marks};

/// The values of one plot.
#[derive(Clone, Debug, PartialEq)]
pub struct Data {
    /// Number of the colour and shape.
    pub series: usize,
    /// Normal quantile and value, ascending.
    pub points: Vec<(f64, f64)>,
    /// Intercept and slope of the line.
    pub line: [f64; 2],
    /// Lower and upper normal quantile between which a normal value of this rank lies, for each
    /// point; empty if not known.
    pub band: Vec<(f64, f64)>,
}

/// Draws `data` over axes called "normal quantile" and `axis`, at `width` user units.
#[must_use]
pub fn plot(data: &Data, axis: &str, width: f64, alternative: &Alternative) -> String {
    let margins = Margins { top: 28.0, right: 12.0, bottom: 42.0, left: 52.0 };
    let height = if width < 480.0 { 260.0 } else { 320.0 };
    let [intercept, slope] = data.line;
    let values = extent(data.points.iter().map(|(_, value)| *value), 0.05);
    let mut frame = Frame::new(
        [width, height],
        margins.with_labels(values),
        [Kind::Linear, Kind::Linear],
        [extent(data.points.iter().map(|(quantile, _)| *quantile), 0.05), values],
    );
    frame.horizontal_axis("normal quantile");
    frame.vertical_axis(axis);
    let edge = |end: fn(&(f64, f64)) -> f64| -> Vec<[f64; 2]> {
        let rows = data.points.iter().zip(&data.band);
        rows.map(|((x, _), band)| frame.place(*x, intercept + slope * end(band))).collect()
    };
    let band = marks::band(&edge(|band| band.1), &edge(|band| band.0));
    frame.svg.path("band", &band);
    if let Some((from, to)) = visible_part(&frame, data.line) {
        frame.svg.line("reference", from, to);
    }
    let places: Vec<[f64; 2]> = data.points.iter().map(|(x, y)| frame.place(*x, *y)).collect();
    let series = data.series % SERIES;
    frame.svg.path(&format!("points s{series}"), &marks::points(series, &places, 6.0));
    frame.svg.finish("plot qq-plot", alternative)
}

/// The part of the line that lies in the plotting area.
pub(super) fn visible_part(
    frame: &Frame,
    [intercept, slope]: [f64; 2],
) -> Option<([f64; 2], [f64; 2])> {
    let [low, high] = frame.x.domain();
    let [bottom, top] = frame.y.domain();
    let at = |x: f64| intercept + slope * x;
    let (mut from, mut to) = (low, high);
    if slope > 0.0 {
        from = from.max((bottom - intercept) / slope);
        to = to.min((top - intercept) / slope);
    }
    (from < to && at(from).is_finite() && at(to).is_finite())
        .then(|| (frame.place(from, at(from)), frame.place(to, at(to))))
}

#[cfg(test)]
mod tests {
    use super::super::{NARROW, WIDE};
    use super::*;

    fn alternative() -> Alternative {
        Alternative { id: "q".to_owned(), title: "t".to_owned(), description: "d".to_owned() }
    }

    #[test]
    fn points_line_and_band_are_drawn() {
        let data = Data {
            series: 2,
            points: vec![(-1.0, 9.0), (0.0, 10.0), (1.0, 11.5)],
            line: [10.0, 1.0],
            band: vec![(-2.0, 0.0), (-0.5, 0.5), (0.0, 2.0)],
        };
        for width in [NARROW, WIDE] {
            let text = plot(&data, "%", width, &alternative());
            assert!(text.contains("points s2") && text.contains("class=\"band\""));
            assert!(text.contains("class=\"reference\""));
        }
    }

    #[test]
    fn a_line_outside_the_area_is_cut() {
        let data = Data {
            series: 0,
            points: vec![(-1.0, 0.0), (1.0, 1.0)],
            line: [0.0, 50.0],
            band: Vec::new(),
        };
        let text = plot(&data, "%", NARROW, &alternative());
        let line = text.lines().find(|line| line.contains("class=\"reference\"")).unwrap();
        assert!(line.contains("y1=\"218\"") && line.contains("y2=\"28\""), "{line}");
    }
}
