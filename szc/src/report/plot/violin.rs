//! Violins with dots: how the runs of each program spread over its layouts, or answers over setups.
//!
//! A row is the estimated density, mirrored; the values as points inside it; and a bar from
//! quartile to quartile with the median (Hintze and Nelson 1998, "Violin plots").
#![forbid(unsafe_code)]

use super::frame::{Frame, Margins, TEXT_SIZE};
use super::scale::{Kind, extent};
use super::svg::{Alternative, Anchor, fit};
use super::{SERIES, marks};

/// What the values of all rows are.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Values<'a> {
    /// Title of the axis.
    pub axis: &'a str,
    /// What there is a value of: "runs".
    pub noun: &'a str,
    /// A value that is marked, if any.
    pub reference: Option<f64>,
}

/// The values of one program, or of one factor.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// The program.
    pub label: String,
    /// Number of its colour and shape.
    pub series: usize,
    /// All values, in the unit of the axis.
    pub values: Vec<f64>,
    /// Density at ascending values; empty if there is none, as for equal values.
    pub density: Vec<(f64, f64)>,
    /// Lower quartile, median, upper quartile.
    pub quartiles: [f64; 3],
}

/// Half the height of a violin.
const HALF: f64 = 26.0;
const ROW: f64 = 2.0 * HALF + 28.0;

/// Draws `rows` over one axis at `width` user units.
#[must_use]
pub fn plot(rows: &[Row], of: Values<'_>, width: f64, alternative: &Alternative) -> String {
    let margins = Margins { top: 4.0, right: 14.0, bottom: 42.0, left: 14.0 };
    let height = margins.top + margins.bottom + ROW * rows.len() as f64;
    let values = rows.iter().flat_map(|row| row.values.iter().copied()).chain(of.reference);
    let mut frame = Frame::new(
        [width, height],
        margins,
        [Kind::Linear, Kind::Linear],
        [extent(values, 0.03), [0.0, 1.0]],
    );
    frame.horizontal_axis(of.axis);
    if let Some(value) = of.reference {
        let x = frame.x.place(value);
        frame.svg.line("reference", [x, frame.start[1]], [x, frame.end[1]]);
    }
    for (index, row) in rows.iter().enumerate() {
        let top = frame.start[1] + ROW * index as f64;
        let label = fit(&row.label, width - 100.0, TEXT_SIZE);
        frame.svg.text("label", Anchor::Start, [frame.start[0], top + 15.0], &label);
        let count = format!("{} {}", row.values.len(), of.noun);
        frame.svg.text("numbers", Anchor::End, [frame.end[0], top + 15.0], &count);
        draw_row(&mut frame, row, top + 20.0 + HALF);
    }
    frame.svg.finish("plot violin-plot", alternative)
}

fn draw_row(frame: &mut Frame, row: &Row, middle: f64) {
    let series = row.series % SERIES;
    let highest = row.density.iter().map(|(_, density)| *density).fold(0.0, f64::max);
    let half_at = |density: f64| if highest > 0.0 { HALF * density / highest } else { 0.0 };
    let edge = |sign: f64| -> Vec<[f64; 2]> {
        let at = |(value, density): &(f64, f64)| {
            [frame.x.place(*value), middle + sign * half_at(*density)]
        };
        row.density.iter().map(at).collect()
    };
    let violin = marks::band(&edge(-1.0), &edge(1.0));
    frame.svg.path(&format!("violin s{series}"), &violin);

    let places: Vec<[f64; 2]> = row
        .values
        .iter()
        .enumerate()
        .map(|(index, value)| {
            let room = 0.85 * half_at(density_at(&row.density, *value)).max(3.0);
            let y = middle + room * (2.0 * marks::spread(index) - 1.0);
            [frame.x.place(*value), y]
        })
        .collect();
    let size = if row.values.len() > 300 { 3.5 } else { 5.0 };
    frame.svg.path(&format!("dots s{series}"), &marks::points(series, &places, size));

    let [lower, median, upper] = row.quartiles.map(|value| frame.x.place(value));
    frame.svg.line("quartiles", [lower, middle], [upper, middle]);
    frame.svg.line("median", [median, middle - 11.0], [median, middle + 11.0]);
}

/// The density at the place nearest to `value`.
fn density_at(density: &[(f64, f64)], value: f64) -> f64 {
    let after = density.partition_point(|(place, _)| *place < value);
    density.get(after).or(density.last()).map_or(0.0, |(_, density)| *density)
}

#[cfg(test)]
mod tests {
    use super::super::NARROW;
    use super::*;

    const RUNS: Values<'_> = Values { axis: "ms", noun: "runs", reference: None };

    fn alternative() -> Alternative {
        Alternative { id: "v".to_owned(), title: "t".to_owned(), description: "d".to_owned() }
    }

    #[test]
    fn every_program_has_a_violin_and_all_its_dots() {
        let row = |series| Row {
            label: "A".to_owned(),
            series,
            values: vec![1.0, 2.0, 3.0],
            density: vec![(1.0, 0.1), (2.0, 0.6), (3.0, 0.1)],
            quartiles: [1.5, 2.0, 2.5],
        };
        let text = plot(&[row(0), row(9)], RUNS, NARROW, &alternative());
        assert!(text.contains("violin s0") && text.contains("violin s1"));
        let dots = text.lines().find(|line| line.contains("dots s1")).unwrap();
        assert_eq!(dots.matches('M').count(), 3, "{dots}");
        assert!(text.contains("3 runs") && !text.contains("class=\"reference\""));
        let setups = Values { axis: "B / A", noun: "setups", reference: Some(1.0) };
        let text = plot(&[row(0)], setups, NARROW, &alternative());
        assert!(text.contains("3 setups") && text.contains("class=\"reference\""));
    }

    #[test]
    fn equal_values_are_dots_without_a_violin() {
        let row = Row {
            label: "A".to_owned(),
            series: 0,
            values: vec![7.0; 5],
            density: Vec::new(),
            quartiles: [7.0; 3],
        };
        let text = plot(&[row], RUNS, NARROW, &alternative());
        assert!(!text.contains("class=\"violin") && text.contains("dots s0"));
        assert!(!text.contains("NaN"));
    }
}
