//! How often blocks are executed, in the form that llvm-profgen reads (`--unsymbolized-profile`),
//! which makes of it a profile for clang's `-fprofile-sample-use`.
//!
//! Every subpath of the sample began at a block that was drawn with the same probability, so each
//! of its n blocks has been executed spacing / n times for it.
#![forbid(unsafe_code)]

use std::collections::BTreeMap;

use super::code::Code;
use super::merge::Merged;

/// The file: of several programs, of that which has executed most blocks.
pub(super) fn text(merged: &Merged, code: &mut Code) -> String {
    let counts = (0..merged.programs.len()).map(|program| counts(merged, program));
    let total = |counts: &BTreeMap<u32, f64>| counts.values().sum::<f64>();
    let all = merged.programs.iter().zip(counts);
    let Some((program, counts)) = all.max_by(|a, b| total(&a.1).total_cmp(&total(&b.1))) else {
        return "0\n0\n".to_owned();
    };
    let mut ranges = Vec::new();
    for (block, count) in counts {
        for [first, last] in code.ranges(program, block) {
            ranges.push(format!("{first:x}-{last:x}:{count:.0}\n"));
        }
    }
    // No branches are known.
    format!("{}\n{}0\n", ranges.len(), ranges.concat())
}

/// Executions of the blocks of a program.
fn counts(merged: &Merged, program: usize) -> BTreeMap<u32, f64> {
    let mut counts = BTreeMap::new();
    // If all are counted, each block begins one of each length.
    let wanted = merged
        .counts
        .iter()
        .filter(|(key, _)| key.program == program && (!merged.is_exact() || key.blocks.len() == 2));
    for (key, &seen) in wanted {
        let each = seen as f64 * f64::from(merged.spacing) / key.blocks.len() as f64;
        for &block in &key.blocks {
            *counts.entry(block).or_default() += each;
        }
    }
    counts
}

#[cfg(test)]
mod tests {
    use super::super::rows::tests::merged;
    use super::*;

    #[test]
    fn blocks_count_for_their_share_of_each_subpath() {
        let merged = merged(1000, &[(&[1, 2], 100), (&[1, 1, 1, 3], 8)]);
        let found = counts(&merged, 0);
        assert_eq!(found[&1], 50_000.0 + 6000.0);
        assert_eq!((found[&2], found[&3]), (50_000.0, 2000.0));
        assert!(counts(&merged, 1).is_empty());
    }

    #[test]
    fn exact_counts_are_those_of_the_shortest_subpaths() {
        let merged = merged(1, &[(&[1, 2], 100), (&[1, 2, 1, 2], 98)]);
        assert_eq!(counts(&merged, 0)[&1], 50.0);
    }

    #[test]
    fn of_a_program_that_cannot_be_read_there_are_no_ranges() {
        let merged = merged(1000, &[(&[1, 2], 100)]);
        assert_eq!(text(&merged, &mut Code::default()), "0\n0\n");
    }
}
