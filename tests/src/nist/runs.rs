//! Tests of runs, which are stretches of equal bits: Runs (2.3) and LongestRun (2.4).

use super::counts::upper_gamma;
use statrs::function::erf::erfc;

/// Runs test, section 2.3: 0 if there are too many or too few ones for it to make sense.
#[must_use]
pub fn runs(bits: &[bool]) -> f64 {
    let n = bits.len() as f64;
    let ones = bits.iter().filter(|&&bit| bit).count() as f64 / n;
    if (ones - 0.5).abs() >= 2.0 / n.sqrt() {
        return 0.0;
    }
    let changes = bits.windows(2).filter(|pair| pair[0] != pair[1]).count();
    let runs = changes as f64 + 1.0;
    let variance = ones * (1.0 - ones);
    erfc((runs - 2.0 * n * variance).abs() / (2.0 * (2.0 * n).sqrt() * variance))
}

/// How the longest runs of ones in blocks are distributed (section 3.4 and NIST's program).
pub(super) struct Expected {
    /// Bits in a block.
    pub block: usize,
    /// The class of shortest runs holds this length and everything below.
    pub shortest: usize,
    /// Probabilities of the classes; the last one holds everything above, too.
    pub probabilities: &'static [f64],
}

/// By the length of the sequence: for at least 128, 6,272 and 750,000 bits.
pub(super) const EXPECTED: [Expected; 3] = [
    Expected { block: 8, shortest: 1, probabilities: &[0.21484375, 0.3671875, 0.23046875, 0.1875] },
    Expected {
        block: 128,
        shortest: 4,
        probabilities: &[
            0.1174035788,
            0.242955959,
            0.249363483,
            0.17517706,
            0.102701071,
            0.112398847,
        ],
    },
    Expected {
        block: 10_000,
        shortest: 10,
        probabilities: &[0.0882, 0.2092, 0.2483, 0.1933, 0.1208, 0.0675, 0.0727],
    },
];

/// Longest run of ones in a block, section 2.4.
#[must_use]
pub fn longest_run(bits: &[bool]) -> f64 {
    let Expected { block, shortest, probabilities } = match bits.len() {
        0..6_272 => &EXPECTED[0],
        6_272..750_000 => &EXPECTED[1],
        _ => &EXPECTED[2],
    };
    let blocks = bits.chunks_exact(*block);
    let n = blocks.len() as f64;
    let mut counts = vec![0u64; probabilities.len()];
    for bits in blocks {
        let longest = bits.split(|&bit| !bit).map(<[bool]>::len).max().unwrap_or(0);
        counts[longest.saturating_sub(*shortest).min(probabilities.len() - 1)] += 1;
    }
    let chi: f64 = counts
        .iter()
        .zip(*probabilities)
        .map(|(&count, &p)| (count as f64 - n * p).powi(2) / (n * p))
        .sum();
    upper_gamma((probabilities.len() - 1) as f64 / 2.0, chi / 2.0)
}
