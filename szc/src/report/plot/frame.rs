//! The area of a plot with its axes: grid lines, ticks, titles.
#![forbid(unsafe_code)]

use super::scale::{Kind, Scale};
use super::svg::{Anchor, Svg, fit, width_of_text};

/// Size of the letters of ticks and titles, as in the page's style.
pub const TEXT_SIZE: f64 = 12.0;

/// Ticks of a vertical axis, about.
const VERTICAL_TICKS: usize = 5;

/// Room around the plotting area.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Margins {
    /// Above.
    pub top: f64,
    /// To the right.
    pub right: f64,
    /// Below: ticks and the title of the axis.
    pub bottom: f64,
    /// To the left.
    pub left: f64,
}

impl Margins {
    /// The same with room for the labels of a vertical axis, which are long where values differ
    /// little.
    #[must_use]
    pub fn with_labels(self, domain: [f64; 2]) -> Self {
        let ticks = Scale::new(Kind::Linear, domain, [1.0, 0.0]).ticks(VERTICAL_TICKS);
        let widths =
            ticks.values.iter().map(|value| width_of_text(&ticks.label(*value), TEXT_SIZE));
        Self { left: widths.fold(self.left, |left, width| left.max(width + 10.0)), ..self }
    }
}

/// An image, its plotting area, and the scales of both directions.
#[derive(Clone, Debug)]
pub struct Frame {
    /// The image.
    pub svg: Svg,
    /// Horizontal scale.
    pub x: Scale,
    /// Vertical scale, upwards.
    pub y: Scale,
    /// Upper left corner of the plotting area.
    pub start: [f64; 2],
    /// Lower right corner of the plotting area.
    pub end: [f64; 2],
}

impl Frame {
    /// An empty frame of `size`, horizontal axis first in `kinds` and `domains`.
    #[must_use]
    pub fn new(size: [f64; 2], margins: Margins, kinds: [Kind; 2], domains: [[f64; 2]; 2]) -> Self {
        let start = [margins.left, margins.top];
        let end = [size[0] - margins.right, size[1] - margins.bottom];
        Self {
            svg: Svg::new(size[0], size[1]),
            x: Scale::new(kinds[0], domains[0], [start[0], end[0]]),
            y: Scale::new(kinds[1], domains[1], [end[1], start[1]]),
            start,
            end,
        }
    }

    /// Draws the horizontal axis with a grid line at each tick.
    pub fn horizontal_axis(&mut self, title: &str) {
        let ticks = self.x.ticks(if self.width() < 360.0 { 4 } else { 7 });
        for value in &ticks.values {
            let x = self.x.place(*value);
            self.svg.line("grid", [x, self.start[1]], [x, self.end[1]]);
            let place = [x, self.end[1] + 16.0];
            self.svg.text("tick", Anchor::Middle, place, &ticks.label(*value));
        }
        self.svg.line("axis", [self.start[0], self.end[1]], self.end);
        let title = fit(title, self.svg.width() - 8.0, TEXT_SIZE);
        // In the middle of the axis, unless the title would leave the image there.
        let half = 0.3 * TEXT_SIZE * title.chars().count() as f64;
        let middle = f64::midpoint(self.start[0], self.end[0]);
        let middle = middle.max(half + 4.0).min((self.svg.width() - half - 4.0).max(half + 4.0));
        self.svg.text("axis-title", Anchor::Middle, [middle, self.end[1] + 34.0], &title);
    }

    /// Draws the vertical axis; its title stands above it.
    pub fn vertical_axis(&mut self, title: &str) {
        let ticks = self.y.ticks(VERTICAL_TICKS);
        for value in &ticks.values {
            let y = self.y.place(*value);
            self.svg.line("grid", [self.start[0], y], [self.end[0], y]);
            let place = [self.start[0] - 6.0, y + 4.0];
            self.svg.text("tick", Anchor::End, place, &ticks.label(*value));
        }
        let title = fit(title, self.svg.width() - 8.0, TEXT_SIZE);
        self.svg.text("axis-title", Anchor::Start, [2.0, self.start[1] - 10.0], &title);
    }

    /// The place of a point.
    #[must_use]
    pub fn place(&self, x: f64, y: f64) -> [f64; 2] {
        [self.x.place(x), self.y.place(y)]
    }

    fn width(&self) -> f64 {
        self.end[0] - self.start[0]
    }
}
