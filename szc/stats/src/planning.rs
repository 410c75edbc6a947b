//! How many blocks an answer takes, and how small an effect a number of blocks can see.
//!
//! The planning formulas of Cohen (1988, chapter 2) in their normal approximation, and for the
//! sequential rule the n at which its interval excludes a bound with the same probability.

use super::fixed::{CONFIDENCE, MIN_BLOCKS, POWER, normal_quantile};
use super::sequential::{ERROR_RATE, half_width};

/// When the data are looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    /// Once, after a number of blocks that was fixed before the first.
    Fixed,
    /// After every block.
    Sequential,
}

/// The smallest log ratio that `blocks` ≥ 1 blocks with standard deviation `spread` show with
/// a probability of 80 % at one look: (z₀.₉₇₅ + z₀.₈)·s/√n.
#[must_use]
pub fn minimum_detectable_effect(spread: f64, blocks: usize) -> f64 {
    quantiles() * spread / (blocks as f64).sqrt()
}

/// Blocks after which an interval that `rule` makes excludes, with a probability of 80 %, a value
/// at `distance` > 0 (log ratio) from the truth; saturates at `u64::MAX`.
///
/// Fixed: ⌈((z₀.₉₇₅ + z₀.₈)·s/distance)²⌉, at least [`MIN_BLOCKS`]. Sequential: the first n
/// where half the interval's width and z₀.₈·s/√n together are shorter than the distance.
#[must_use]
pub fn blocks_needed(rule: Rule, spread: f64, distance: f64) -> u64 {
    match rule {
        Rule::Fixed => whole_blocks((quantiles() * spread / distance).powi(2), MIN_BLOCKS),
        Rule::Sequential => sequential_blocks_needed(spread, distance),
    }
}

fn quantiles() -> f64 {
    normal_quantile(f64::midpoint(1.0, CONFIDENCE)) + normal_quantile(POWER)
}

fn whole_blocks(exact: f64, floor: usize) -> u64 {
    #[expect(
        clippy::cast_possible_truncation,
        reason = "a float-to-integer cast saturates, which is the documented result"
    )]
    let blocks = exact.ceil() as u64;
    blocks.max(floor as u64)
}

fn sequential_blocks_needed(spread: f64, distance: f64) -> u64 {
    const MAX_BLOCKS: usize = 1 << 48;
    let enough = |blocks: usize| {
        let reserve = normal_quantile(POWER) * spread / (blocks as f64).sqrt();
        half_width(blocks, spread, ERROR_RATE) + reserve <= distance
    };
    let fewest = super::sequential::MIN_BLOCKS;
    let mut above = fewest;
    while !enough(above) {
        if above >= MAX_BLOCKS {
            return u64::MAX;
        }
        above *= 2;
    }
    let mut below = fewest - 1;
    while above - below > 1 {
        let middle = usize::midpoint(above, below);
        if enough(middle) {
            above = middle;
        } else {
            below = middle;
        }
    }
    above as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::calibration::data::close;

    #[test]
    fn the_detectable_effect_is_the_inverse_of_the_blocks_it_takes() {
        let effect = minimum_detectable_effect(0.02, 32);
        assert!(close(effect, 0.02 * 2.801_585_218_112_968_5 / 32.0_f64.sqrt()));
        assert_eq!(blocks_needed(Rule::Fixed, 0.02, effect * 1.000_001), 32);
    }

    #[test]
    fn blocks_for_one_look_agree_with_scipy_and_keep_the_floor() {
        let blocks = |spread, ratio: f64| blocks_needed(Rule::Fixed, spread, ratio.ln().abs());
        assert_eq!(blocks(0.02, 1.01), 32);
        assert_eq!(blocks(0.02, 1.0 / 1.01), 32);
        assert_eq!(blocks(0.1, 1.01), 793);
        assert_eq!(blocks(0.005, 1.03), 6);
    }

    #[test]
    fn looking_after_every_block_costs_more_blocks() {
        for distance in [0.1, 0.5, 1.0, 2.0] {
            let once = blocks_needed(Rule::Fixed, 1.0, distance);
            let always = blocks_needed(Rule::Sequential, 1.0, distance);
            assert!(once < always && always < 4 * once.max(10), "{distance}: {once} {always}");
        }
    }

    #[test]
    fn no_spread_takes_the_fewest_blocks_and_no_distance_takes_all() {
        assert_eq!(blocks_needed(Rule::Fixed, 0.0, 0.01), 6);
        assert_eq!(blocks_needed(Rule::Sequential, 0.0, 0.01), 10);
        assert_eq!(blocks_needed(Rule::Fixed, 1.0, 0.0), u64::MAX);
        assert_eq!(blocks_needed(Rule::Sequential, 1.0, 0.0), u64::MAX);
    }
}
