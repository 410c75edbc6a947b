//! Bars of shares: how much of a whole comes from each of its parts, one bar for each whole.
#![forbid(unsafe_code)]

use super::svg::{Alternative, Anchor, Svg, fit};

/// One whole.
#[derive(Clone, Debug, PartialEq)]
pub struct Bar {
    /// What it is.
    pub label: String,
    /// Shares from 0 to 1 in the order of the names of the parts.
    pub shares: Vec<f64>,
}

/// Class names of the parts' colours; a part beyond the last has the last.
const CLASSES: [&str; 4] = ["part-0", "part-1", "part-2", "part-3"];

/// Draws `bars`, whose parts are called `parts`, at `width` user units.
#[must_use]
pub fn plot(bars: &[Bar], parts: &[String], width: f64, alternative: &Alternative) -> String {
    let legend = 22.0 * parts.len() as f64;
    let height = 52.0 * bars.len() as f64 + legend + 10.0;
    let mut svg = Svg::new(width, height);
    let (left, room) = (8.0, width - 16.0);
    let class = |part: usize| CLASSES[part.min(CLASSES.len() - 1)];
    for (index, bar) in bars.iter().enumerate() {
        let top = 52.0 * index as f64;
        svg.text("label", Anchor::Start, [left, top + 14.0], &fit(&bar.label, room, 12.0));
        let mut x = left;
        for (part, share) in bar.shares.iter().enumerate() {
            let share = if share.is_finite() { share.clamp(0.0, 1.0) } else { 0.0 };
            let extent = share * room;
            svg.rectangle(&format!("part {}", class(part)), [x, top + 20.0], [extent, 24.0]);
            if extent > 44.0 {
                let place = [x + extent / 2.0, top + 36.5];
                let percent = format!("{:.0} %", 100.0 * share);
                svg.text(&format!("inside in-{}", class(part)), Anchor::Middle, place, &percent);
            }
            x += extent;
        }
    }
    for (part, name) in parts.iter().enumerate() {
        let y = 52.0 * bars.len() as f64 + 22.0 * part as f64 + 4.0;
        svg.rectangle(&format!("part {}", class(part)), [left, y], [14.0, 14.0]);
        svg.text("legend", Anchor::Start, [left + 22.0, y + 11.5], &fit(name, room - 22.0, 12.0));
    }
    svg.finish("plot shares-plot", alternative)
}

#[cfg(test)]
mod tests {
    use super::super::NARROW;
    use super::*;

    #[test]
    fn parts_follow_one_another_and_are_named() {
        let alternative =
            Alternative { id: "h".to_owned(), title: "t".to_owned(), description: "d".to_owned() };
        let bars = [Bar { label: "A".to_owned(), shares: vec![0.75, 0.25] }];
        let parts = ["layouts".to_owned(), "runs".to_owned()];
        let text = plot(&bars, &parts, NARROW, &alternative);
        assert!(text.contains("75 %") && text.contains("25 %"), "{text}");
        assert!(text.contains("x=\"8\" y=\"20\" width=\"213\""), "{text}");
        assert!(text.contains("x=\"221\" y=\"20\" width=\"71\""), "{text}");
        assert!(text.contains(">layouts<") && text.contains(">runs<"));
    }
}
