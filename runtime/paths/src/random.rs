//! Random numbers of a profile.
//!
//! Source: Steele, Lea and Flood, "Fast Splittable Pseudorandom Number Generators" (OOPSLA 2014),
//! `SplitMix64`.

/// The next random word of a state.
pub(crate) fn next(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut word = *state;
    word = (word ^ word >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    word = (word ^ word >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    word ^ word >> 31
}

/// How many blocks pass before the next subpath begins, if each that passes might have been the
/// one: a geometric number with this mean, of which at most a billion counts.
pub(crate) fn geometric(state: &mut u64, mean: u32) -> u32 {
    // In (0, 1].
    let uniform = ((next(state) >> 11) + 1) as f64 / (1u64 << 53) as f64;
    // The whole part of an exponential number with this mean is geometric, and its mean is smaller
    // by a half, but for terms of the order of 1 / mean.
    let skip = -natural_logarithm(uniform) * (f64::from(mean) + 0.5);
    skip.min(1e9) as u32
}

/// How many of so many remain, if each does with probability ½.
pub(crate) fn half_of(state: &mut u64, count: u32) -> u32 {
    let (words, rest) = (count / u64::BITS, count % u64::BITS);
    let mut kept = 0;
    for _ in 0..words {
        kept += next(state).count_ones();
    }
    kept + (next(state) & ((1 << rest) - 1)).count_ones()
}

/// ln of a normal number in (0, 1]; there is none without the standard library.
fn natural_logarithm(value: f64) -> f64 {
    const FRACTION: u64 = (1 << 52) - 1;
    const ONE: u64 = 1023 << 52;
    let bits = value.to_bits();
    let mut exponent = f64::from((bits >> 52) as u32) - 1023.0;
    let mut fraction = f64::from_bits(bits & FRACTION | ONE);
    if fraction > core::f64::consts::SQRT_2 {
        fraction /= 2.0;
        exponent += 1.0;
    }
    // ln x = 2 artanh z, |z| < 0.172.
    let z = (fraction - 1.0) / (fraction + 1.0);
    let square = z * z;
    let mut sum = 0.0;
    for odd in [15.0, 13.0, 11.0, 9.0, 7.0, 5.0, 3.0, 1.0] {
        sum = sum * square + 1.0 / odd;
    }
    exponent * core::f64::consts::LN_2 + 2.0 * z * sum
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_logarithm_is_that_of_the_standard_library() {
        for value in [1.0, 0.999_999, 0.708, 0.706, 0.5, 0.3, 1e-3, f64::EPSILON / 2.0] {
            let difference = natural_logarithm(value) - value.ln();
            assert!(difference.abs() < 1e-12, "{value}: {difference}");
        }
    }

    #[test]
    fn skips_have_mean_and_variance_of_the_geometric_distribution() {
        // 200,000 draws: the mean is off by 5 standard errors once in a million seeds.
        let (mut state, n, mean) = (7, 200_000, 100.0);
        let draws: Vec<f64> = (0..n).map(|_| f64::from(geometric(&mut state, 100))).collect();
        let average = draws.iter().sum::<f64>() / f64::from(n);
        let variance = draws.iter().map(|d| (d - average).powi(2)).sum::<f64>() / f64::from(n);
        assert!((average - mean).abs() < 5.0 * mean / f64::from(n).sqrt(), "{average}");
        assert!((variance / (mean * (mean + 1.0)) - 1.0).abs() < 0.05, "{variance}");
    }

    #[test]
    fn halves_are_binomial() {
        let mut state = 1;
        assert_eq!(half_of(&mut state, 0), 0);
        let (n, count) = (20_000, 131);
        let sum: u32 = (0..n).map(|_| half_of(&mut state, count)).sum();
        // 5 standard errors of the sum.
        let bound = 5.0 * (f64::from(n) * f64::from(count) / 4.0).sqrt();
        assert!((f64::from(sum) - f64::from(n * count) / 2.0).abs() < bound, "{sum}");
    }
}
