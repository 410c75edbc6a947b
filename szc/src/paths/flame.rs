//! What follows what, as a picture in the form of a flame graph: a stack is a subpath, its first
//! block on top, and stacks that begin alike are drawn together.
//!
//! Every execution of a block lies in as many subpaths of a length as that has blocks, so subpaths
//! of one length share out the time of the whole program, each the mean of its blocks. Those of
//! several lengths would count it several times.
#![forbid(unsafe_code)]

use anyhow::{Result, anyhow};
use inferno::flamegraph::{Direction, Options};

use super::merge::Merged;
use super::places::Places;
use super::rows::Row;
use crate::profile::flame::{flame_graph, frame_name};

/// How many blocks the subpaths of the picture have, if nobody asks for longer ones: as many as
/// have names of a readable size.
const LENGTH: u32 = 8;

/// The picture, as SVG, of the rows of the shortest length that is at least `min_length` and 8.
///
/// # Errors
/// No subpath is that long.
pub(super) fn svg(
    merged: &Merged,
    rows: &[Row<'_>],
    places: &mut Places,
    min_length: u32,
) -> Result<Vec<u8>> {
    let length = min_length.max(LENGTH).next_power_of_two().min(merged.longest);
    let text = folded(merged, rows, places, length);
    if text.is_empty() {
        return Err(anyhow!(
            "the sample has no subpath of {length} blocks to draw: give --flame a smaller \
             --max-length, or the program more to do"
        ));
    }
    let mut options = Options::default();
    "Block:".clone_into(&mut options.name_type);
    options.direction = Direction::Inverted;
    let title = format!("Subpaths of {length} blocks, {}", merged.programs.join(", "));
    flame_graph(&text, title, "cycles", options)
}

/// Lines of blocks and estimated cycles, in order.
fn folded(merged: &Merged, rows: &[Row<'_>], places: &mut Places, length: u32) -> String {
    let wanted = rows.iter().filter(|row| row.key.blocks.len() == length as usize);
    let mut lines: Vec<String> = wanted
        .map(|row| {
            let name = |&block: &u32| {
                frame_name(&places.of(&merged.programs, row.key.program, block).short())
            };
            let names: Vec<String> = row.key.blocks.iter().map(name).collect();
            let cycles = row.count * row.cycles as f64 / f64::from(length);
            format!("{} {cycles:.0}\n", names.join(";"))
        })
        .collect();
    lines.sort();
    lines.concat()
}

#[cfg(test)]
mod tests {
    use super::super::code::Code;
    use super::super::options::Weight;
    use super::super::rows::{rows, tests::merged};
    use super::*;

    fn folded_of(counts: &[(&[u32], u64)], length: u32) -> String {
        let merged = merged(1000, counts);
        let rows = rows(&merged, Weight::Count, 2, &mut Code::default());
        folded(&merged, &rows, &mut Places::default(), length)
    }

    #[test]
    fn subpaths_of_one_length_share_out_the_time() {
        // A block of code that cannot be read is a cycle; of four blocks one is drawn in four.
        let text = folded_of(&[(&[1, 2], 100), (&[1, 2, 3, 1], 8), (&[2, 3, 1, 2], 4)], 4);
        let cycles: Vec<&str> =
            text.lines().map(|line| line.rsplit_once(' ').expect("a number").1).collect();
        assert_eq!(cycles, ["32000", "16000"]);
        assert!(text.lines().all(|line| line.matches(';').count() == 3), "{text}");
    }

    #[test]
    fn a_length_that_the_sample_does_not_have_is_an_error() {
        let mut merged = merged(1000, &[(&[1, 2], 100)]);
        merged.longest = 64;
        let rows = rows(&merged, Weight::Count, 2, &mut Code::default());
        let svg = |min_length| svg(&merged, &rows, &mut Places::default(), min_length);
        assert!(svg(2).unwrap_err().to_string().contains("no subpath of 8 blocks"));
        assert!(svg(9).unwrap_err().to_string().contains("of 16 blocks"));
    }

    #[test]
    fn the_picture_has_a_box_for_each_block() {
        let mut merged = merged(1000, &[(&[1, 2], 3), (&[5, 6], 1)]);
        merged.longest = 2;
        let rows = rows(&merged, Weight::Count, 2, &mut Code::default());
        let svg = svg(&merged, &rows, &mut Places::default(), 2).unwrap();
        let text = String::from_utf8(svg).unwrap();
        assert!(text.contains("Subpaths of 2 blocks") && text.contains("75.00%"), "{text}");
    }
}
