//! Marks of data: points in shapes that differ without colour, lines, bands.
//!
//! All points of a series are one path, so that thousands of them stay a small file.
#![forbid(unsafe_code)]

use std::fmt::Write;

use super::svg::short;

/// Most points that are drawn of one series; of longer ones every k-th is.
pub const MAX_POINTS: usize = 4000;

/// The outlines of `points` in the shape of series number `series`, each about `size` across.
#[must_use]
pub fn points(series: usize, points: &[[f64; 2]], size: f64) -> String {
    let every = points.len().div_ceil(MAX_POINTS).max(1);
    let mut data = String::new();
    let r = size / 2.0;
    for [x, y] in points.iter().step_by(every).filter(|place| place.iter().all(|c| c.is_finite())) {
        let shape = shape(series, r);
        let start = [x + shape.start[0], y + shape.start[1]].map(short);
        write!(data, "M{} {}{}", start[0], start[1], shape.outline)
            .expect("a String takes all text");
    }
    data
}

struct Shape {
    start: [f64; 2],
    outline: String,
}

/// Circle, square, triangle, diamond, and the same again upside down or slim.
fn shape(series: usize, r: f64) -> Shape {
    let relative = |start: [f64; 2], steps: &[[f64; 2]]| {
        let mut outline = String::new();
        for step in steps {
            let [dx, dy] = step.map(short);
            write!(outline, "l{dx} {dy}").expect("a String takes all text");
        }
        outline.push('z');
        Shape { start, outline }
    };
    let q = 0.88 * r;
    match series % 4 {
        0 => {
            let (radius, diameter) = (short(r), short(2.0 * r));
            Shape {
                start: [-r, 0.0],
                outline: format!(
                    "a{radius} {radius} 0 1 0 {diameter} 0a{radius} {radius} 0 1 0 -{diameter} 0z"
                ),
            }
        }
        1 => relative([-q, -q], &[[2.0 * q, 0.0], [0.0, 2.0 * q], [-2.0 * q, 0.0]]),
        2 if series % 8 == 2 => relative([0.0, -1.2 * r], &[[1.2 * r, 2.1 * r], [-2.4 * r, 0.0]]),
        2 => relative([0.0, 1.2 * r], &[[1.2 * r, -2.1 * r], [-2.4 * r, 0.0]]),
        _ => {
            let d = 1.25 * r;
            relative([0.0, -d], &[[d, d], [-d, d], [-d, -d]])
        }
    }
}

/// A line through points, broken where one is not a number.
#[must_use]
pub fn polyline(points: &[[f64; 2]]) -> String {
    let mut data = String::new();
    let mut draws = false;
    for point in points {
        if !point.iter().all(|coordinate| coordinate.is_finite()) {
            draws = false;
            continue;
        }
        let [x, y] = point.map(short);
        write!(data, "{}{x} {y}", if draws { "L" } else { "M" }).expect("a String takes all text");
        draws = true;
    }
    data
}

/// The area between two lines over the same places; nothing without a line.
#[must_use]
pub fn band(upper: &[[f64; 2]], lower: &[[f64; 2]]) -> String {
    let outline: Vec<[f64; 2]> = upper.iter().chain(lower.iter().rev()).copied().collect();
    let mut data = polyline(&outline);
    if !data.is_empty() {
        data.push('z');
    }
    data
}

/// Numbers from 0 to 1 that spread evenly however many are taken (Weyl's sequence of the golden
/// ratio), to keep points of equal value apart without chance.
#[must_use]
pub fn spread(index: usize) -> f64 {
    (0.5 + index as f64 * 0.618_033_988_749_894_9).fract()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_four_series_have_four_shapes() {
        let shapes: std::collections::HashSet<String> =
            (0..4).map(|series| points(series, &[[5.0, 5.0]], 6.0)).collect();
        assert_eq!(shapes.len(), 4);
    }

    #[test]
    fn places_that_are_no_numbers_are_left_out() {
        assert_eq!(points(0, &[[f64::NAN, 1.0]], 6.0), "");
        assert_eq!(
            polyline(&[[0.0, 1.0], [f64::NAN, 0.0], [2.0, 3.0], [4.0, 5.0]]),
            "M0 1M2 3L4 5"
        );
        assert_eq!(band(&[], &[]), "");
        assert_eq!(band(&[[0.0, 0.0], [1.0, 0.0]], &[[0.0, 2.0], [1.0, 2.0]]), "M0 0L1 0L1 2L0 2z");
    }

    #[test]
    fn of_a_very_long_series_a_part_is_drawn() {
        let many = vec![[1.0, 1.0]; 10 * MAX_POINTS];
        assert!(points(1, &many, 4.0).matches('M').count() <= MAX_POINTS);
    }

    #[test]
    fn spread_numbers_fill_the_range() {
        let mut numbers: Vec<f64> = (0..100).map(spread).collect();
        numbers.sort_by(f64::total_cmp);
        assert!(numbers.windows(2).all(|pair| pair[1] - pair[0] < 0.03));
        assert!(numbers[0] < 0.03 && numbers[99] > 0.97);
    }
}
