//! Tests that count ones: Frequency (2.1), BlockFrequency (2.2) and CumulativeSums (2.13).

use statrs::function::erf::erfc;
use statrs::function::gamma::gamma_ur;
use std::f64::consts::SQRT_2;

/// Bits in a block of BlockFrequency, as NIST's program has it by default.
pub const BLOCK: usize = 128;

/// Frequency (monobit) test, section 2.1.
#[must_use]
pub fn frequency(bits: &[bool]) -> f64 {
    let sum: i64 = bits.iter().copied().map(step).sum();
    erfc(sum.unsigned_abs() as f64 / (bits.len() as f64).sqrt() / SQRT_2)
}

/// Frequency test within blocks of `block` bits, section 2.2. Bits behind the last whole block do
/// not count.
#[must_use]
pub fn block_frequency(bits: &[bool], block: usize) -> f64 {
    let blocks = bits.chunks_exact(block);
    let degrees = blocks.len() as f64;
    let deviation: f64 = blocks
        .map(|bits| {
            let ones = bits.iter().filter(|&&bit| bit).count();
            (ones as f64 / block as f64 - 0.5).powi(2)
        })
        .sum();
    upper_gamma(degrees / 2.0, 4.0 * block as f64 * deviation / 2.0)
}

/// Cumulative sums test, section 2.13, over the bits in the order in which they come.
#[must_use]
pub fn cumulative_sums(bits: impl ExactSizeIterator<Item = bool>) -> f64 {
    let n = bits.len() as f64;
    let mut sum = 0i64;
    let mut farthest = 0;
    for bit in bits {
        sum += step(bit);
        farthest = farthest.max(sum.unsigned_abs());
    }
    let z = farthest as f64;
    let phi = |k: f64, offset: f64| normal_below((4.0 * k + offset) * z / n.sqrt());
    // The standard leaves open how the limits of its sums are rounded; its program rounds towards
    // 0.
    let upper = ((n / z - 1.0) / 4.0).trunc();
    let mut p = 1.0;
    let mut k = ((1.0 - n / z) / 4.0).trunc();
    while k <= upper {
        p -= phi(k, 1.0) - phi(k, -1.0);
        k += 1.0;
    }
    let mut k = ((-n / z - 3.0) / 4.0).trunc();
    while k <= upper {
        p += phi(k, 3.0) - phi(k, 1.0);
        k += 1.0;
    }
    p.clamp(0.0, 1.0)
}

fn step(bit: bool) -> i64 {
    if bit { 1 } else { -1 }
}

/// The standard normal distribution function.
fn normal_below(x: f64) -> f64 {
    0.5 * erfc(-x / SQRT_2)
}

/// The standard's `igamc`: the regularized upper incomplete gamma function, also at 0.
pub(super) fn upper_gamma(a: f64, x: f64) -> f64 {
    if x <= 0.0 { 1.0 } else { gamma_ur(a, x) }
}
