//! The plot of a finding: by how much the program changes over the speedup of a place.
#![forbid(unsafe_code)]

use super::finding::Finding;
use crate::report::plot::frame::{Frame, Margins};
use crate::report::plot::marks;
use crate::report::plot::scale::{Kind, extent};
use crate::report::plot::svg::Alternative;

/// Room that the intervals get beyond the estimates, as a share of the largest estimate: those of
/// few experiments reach far.
const ROOM: f64 = 1.0;

/// The changes that all plots of a page show, so that they can be compared, in percent.
#[must_use]
pub fn range<'a>(findings: impl IntoIterator<Item = &'a Finding>) -> [f64; 2] {
    let values: Vec<f64> = findings
        .into_iter()
        .flat_map(|finding| {
            let line = finding.slope.map(|slope| slope.change.value);
            finding.steps.iter().map(|step| step.change.value).chain(line)
        })
        .map(|value| 100.0 * value.clamp(-2.0, 2.0))
        .collect();
    let [low, high] = extent(values.iter().copied().chain([0.0]), 0.1);
    let largest = low.abs().max(high.abs()).max(1.0);
    [low.min(-0.1 * ROOM * largest), high.max(0.25 * ROOM * largest)]
}

/// Draws the steps with their intervals, the line through them, and the line's own interval as a
/// band, on an axis of changes in percent.
#[must_use]
pub fn plot(finding: &Finding, range: [f64; 2], width: f64, alternative: &Alternative) -> String {
    let margins = Margins { top: 26.0, right: 12.0, bottom: 40.0, left: 44.0 };
    let mut frame = Frame::new(
        [width, 0.62 * width.min(420.0)],
        margins,
        [Kind::Linear, Kind::Linear],
        [[0.0, 100.0], range],
    );
    frame.horizontal_axis("speedup of the place (%)");
    frame.vertical_axis("change of the program (%)");
    if let Some(slope) = finding.slope {
        let [lower, upper] = slope.change.bounds();
        let origin = frame.place(0.0, 0.0);
        let end = |slope: f64| frame.place(100.0, 100.0 * slope.clamp(-1e3, 1e3));
        let (upper, lower, middle) = (end(upper), end(lower), end(slope.change.value));
        frame.svg.path("sequence s0", &marks::band(&[origin, upper], &[origin, lower]));
        frame.svg.path("line strong s0", &marks::polyline(&[origin, middle]));
    }
    let zero = frame.place(0.0, 0.0)[1];
    frame.svg.line("reference", [frame.start[0], zero], [frame.end[0], zero]);
    let mut places = Vec::new();
    for step in &finding.steps {
        let [lower, upper] = step.change.bounds();
        let x = 100.0 * step.speedup;
        let ends = [lower, upper].map(|end| frame.place(x, 100.0 * end.clamp(-1e3, 1e3)));
        frame.svg.line("axis", ends[0], ends[1]);
        places.push(frame.place(x, 100.0 * step.change.value));
    }
    frame.svg.path("points s1", &marks::points(0, &places, 6.0));
    frame.svg.finish("plot causal-plot", alternative)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::causal::analysis::tests::{profile, simulated};
    use crate::causal::analysis::{Question, analyse};
    use crate::causal::file::tests::line;
    use crate::causal::finding::{Change, Step};
    use crate::report::plot::NARROW;
    use szc_stats::calibration::noise::Noise;

    fn drawn(finding: &Finding) -> String {
        let alternative =
            Alternative { id: "i".into(), title: "t".into(), description: "d".into() };
        plot(finding, range([finding]), NARROW, &alternative)
    }

    fn finding() -> Finding {
        let experiments = simulated(&mut Noise::new(5), &line("a.c", 7), 0.6, 40);
        analyse(&profile(experiments), &Question::default()).findings.remove(0)
    }

    #[test]
    fn every_step_has_a_point_and_an_interval_around_a_line_with_a_band() {
        let finding = finding();
        let text = drawn(&finding);
        let points = text.lines().find(|line| line.contains("points s1")).unwrap();
        assert_eq!(points.matches('M').count(), finding.steps.len());
        assert_eq!(text.matches("class=\"sequence s0\"").count(), 1);
        assert_eq!(text.matches("class=\"line strong s0\"").count(), 1);
    }

    #[test]
    fn open_and_absurd_intervals_still_give_numbers() {
        let change = Change { value: -1e9, lower: None, upper: None };
        let step = Step { speedup: 0.5, change, experiments: 2 };
        let wild = Finding { steps: vec![step], ..finding() };
        let text = drawn(&wild);
        assert!(!text.contains("NaN") && !text.contains("inf"), "{text}");
    }
}
