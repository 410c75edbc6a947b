//! Flame graphs of folded stacks.
//!
//! Source: Gregg, "The flame graph" (2016).
#![forbid(unsafe_code)]

use anyhow::{Context as _, Result};
use inferno::flamegraph::{Options, from_lines};

/// The name of a frame in folded stacks, where a semicolon parts frames, and a line ends a stack.
pub(crate) fn frame_name(name: &str) -> String {
    name.replace(';', ":").replace('\n', " ")
}

/// Folded stacks as SVG, with numbers of this unit.
///
/// # Errors
/// There are no stacks.
pub(crate) fn flame_graph(
    folded: &str,
    title: String,
    unit: &str,
    mut options: Options<'_>,
) -> Result<Vec<u8>> {
    options.title = title;
    options.count_name = unit.to_owned();
    let mut svg = Vec::new();
    from_lines(&mut options, folded.lines(), &mut svg).context("no flame graph")?;
    Ok(svg)
}
