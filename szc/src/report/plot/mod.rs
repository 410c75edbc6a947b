//! Plots as SVG text: scales, axes, and the few forms that the reports need.
//!
//! A plot is a pure function of numbers and a width. It names classes instead of colours, so the
//! page's style decides how it looks in a light and in a dark theme, and it carries a title and a
//! description for readers who do not see it. Sizes are user units, one CSS pixel at the plot's
//! natural width. Reports draw each plot at [`NARROW`] and at [`WIDE`] and show the one that fits,
//! because text that shrinks with the plot cannot be read on a phone.
#![forbid(unsafe_code)]

pub mod frame;
pub mod interval;
pub mod marks;
pub mod offsets;
pub mod qq;
pub mod qq_panels;
pub mod run_order;
pub mod scale;
pub mod sequence;
pub mod shares;
pub mod svg;
pub mod violin;

/// Natural width of the form for phones and columns.
pub const NARROW: f64 = 300.0;
/// Natural width of the form for a full line of a desktop page.
pub const WIDE: f64 = 680.0;

/// Number of colours and of shapes of series before they repeat.
pub const SERIES: usize = 8;
