//! How many blocks an answer takes, how small an effect a number of blocks can see, and how rare a
//! layout they can have missed.
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
    quantiles(ERROR_RATE) * spread / (blocks as f64).sqrt()
}

/// Blocks after which an interval that `rule` makes at error rate `alpha` excludes, with a
/// probability of 80 %, a value at `distance` > 0 (log ratio) from the truth; saturates at
/// `u64::MAX`.
///
/// Fixed: ⌈((z₁₋α/₂ + z₀.₈)·s/distance)²⌉, at least [`MIN_BLOCKS`]. Sequential: the first n
/// where half the interval's width and z₀.₈·s/√n together are shorter than the distance.
#[must_use]
pub fn blocks_needed(rule: Rule, spread: f64, distance: f64, alpha: f64) -> u64 {
    match rule {
        Rule::Fixed => whole_blocks((quantiles(alpha) * spread / distance).powi(2), MIN_BLOCKS),
        Rule::Sequential => sequential_blocks_needed(spread, distance, alpha),
    }
}

/// The largest share of layouts that `layouts` ≥ 1 of them may all have missed with a probability
/// of 5 %: 1 − 0.05^(1/n), about 3/n ("rule of three"; Hanley and Lippman-Hand 1983).
#[must_use]
pub fn unseen_share(layouts: usize) -> f64 {
    1.0 - (1.0 - CONFIDENCE).powf(1.0 / layouts as f64)
}

/// Layouts among which one that is `slowest` > 1 times slower than the others would have been met
/// with a probability of 95 %, if it is frequent enough to move the mean log by `log_bound` > 0:
/// a share of log_bound / ln(slowest).
#[must_use]
pub fn layouts_needed(log_bound: f64, slowest: f64) -> u64 {
    let share = log_bound / slowest.ln();
    if share >= 1.0 {
        return 1;
    }
    whole_blocks((1.0 - CONFIDENCE).ln() / (-share).ln_1p(), 1)
}

fn quantiles(alpha: f64) -> f64 {
    normal_quantile(1.0 - alpha / 2.0) + normal_quantile(POWER)
}

fn whole_blocks(exact: f64, floor: usize) -> u64 {
    #[expect(
        clippy::cast_possible_truncation,
        reason = "a float-to-integer cast saturates, which is the documented result"
    )]
    let blocks = exact.ceil() as u64;
    blocks.max(floor as u64)
}

fn sequential_blocks_needed(spread: f64, distance: f64, alpha: f64) -> u64 {
    const MAX_BLOCKS: usize = 1 << 48;
    let quantile = normal_quantile(POWER);
    let enough = |blocks: usize| {
        let reserve = quantile * spread / (blocks as f64).sqrt();
        half_width(blocks, spread, alpha) + reserve <= distance
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

    fn needed(rule: Rule, spread: f64, distance: f64) -> u64 {
        blocks_needed(rule, spread, distance, ERROR_RATE)
    }

    #[test]
    fn the_detectable_effect_is_the_inverse_of_the_blocks_it_takes() {
        let effect = minimum_detectable_effect(0.02, 32);
        assert!(close(effect, 0.02 * 2.801_585_218_112_968_5 / 32.0_f64.sqrt()));
        assert_eq!(needed(Rule::Fixed, 0.02, effect * 1.000_001), 32);
    }

    #[test]
    fn blocks_for_one_look_agree_with_scipy_and_keep_the_floor() {
        let blocks = |spread, ratio: f64| needed(Rule::Fixed, spread, ratio.ln().abs());
        assert_eq!(blocks(0.02, 1.01), 32);
        assert_eq!(blocks(0.02, 1.0 / 1.01), 32);
        assert_eq!(blocks(0.1, 1.01), 793);
        assert_eq!(blocks(0.005, 1.03), 6);
    }

    #[test]
    fn looking_after_every_block_costs_more_blocks() {
        for distance in [0.1, 0.5, 1.0, 2.0] {
            let once = needed(Rule::Fixed, 1.0, distance);
            let always = needed(Rule::Sequential, 1.0, distance);
            assert!(once < always && always < 4 * once.max(10), "{distance}: {once} {always}");
        }
    }

    #[test]
    fn no_spread_takes_the_fewest_blocks_and_no_distance_takes_all() {
        assert_eq!(needed(Rule::Fixed, 0.0, 0.01), 6);
        assert_eq!(needed(Rule::Sequential, 0.0, 0.01), 10);
        assert_eq!(needed(Rule::Fixed, 1.0, 0.0), u64::MAX);
        assert_eq!(needed(Rule::Sequential, 1.0, 0.0), u64::MAX);
    }

    #[test]
    fn a_smaller_share_of_the_error_rate_costs_more_blocks() {
        // ((z.9875 + z.8)·0.02/ln 1.01)² = 38.4 (scipy.stats.norm.ppf).
        assert_eq!(blocks_needed(Rule::Fixed, 0.02, 0.01_f64.ln_1p(), 0.025), 39);
        let third = blocks_needed(Rule::Sequential, 1.0, 0.5, ERROR_RATE / 3.0);
        assert!(third > needed(Rule::Sequential, 1.0, 0.5), "{third}");
    }

    #[test]
    fn what_was_not_met_is_rarer_than_three_in_n() {
        for layouts in [10, 20, 54, 1000] {
            let share = unseen_share(layouts);
            assert!(close((1.0 - share).powi(i32::try_from(layouts).unwrap()), 0.05));
            let three = 3.0 / layouts as f64;
            assert!(share < three && share > 0.85 * three, "{layouts}: {share}");
        }
    }

    #[test]
    fn a_tight_bound_and_a_slow_layout_ask_for_many_layouts() {
        // ln 0.05 / ln(1 − ln 1.01/ln 1.5) = 120.6; with 1.2: 53.4.
        assert_eq!(layouts_needed(0.01_f64.ln_1p(), 1.5), 121);
        assert_eq!(layouts_needed(0.01_f64.ln_1p(), 1.2), 54);
        assert_eq!(layouts_needed(0.05_f64.ln_1p(), 1.5), 24);
        assert_eq!(layouts_needed(0.5, 1.5), 1);
        assert_eq!(layouts_needed(1e-300, 1.5), u64::MAX);
    }
}
