//! What many sequences together say: section 4.2 of the standard, and the paper's reading.
//!
//! The paper ("Stabilizer", 4.2.2) says that a source passes a test "with > 95 % confidence" and
//! gives neither lengths nor numbers of sequences. Two readings are given for every test:
//!
//! - *one sequence*, as the paper's sentence has it: the P-value of the first sequence is at least
//!   0.05. A perfect source fails one in twenty such tests.
//! - *all sequences*, the standard's own and far stricter reading: at α = 0.01, the proportion of
//!   sequences that pass lies not below 0.99 − 3·√(0.99·0.01/m). That is a normal approximation: of
//!   100 sequences it asks that 97 pass, which a perfect source misses in 2 of 100 tests; of 1,000
//!   it asks that 981 pass, missed in 4 of 1,000 tests. What must hold at every seed is better
//!   asked by [`Assessment::chance`], which is exact. (The FFT test's own approximation lets
//!   `lrand48` pass in about 98.7 percent instead of 99, so it misses more often.)
//!
//! The standard's third question is whether the P-values are uniform. It is reported, but does not
//! decide: memory that is handed out completely is drawn without replacement, so each index bit is
//! set in exactly half of the places of every full window. Sums of bits then stray less than
//! independent bits would, their P-values come out too high, and no heap that packs its memory can
//! avoid that.

use super::Test;
use super::counts::upper_gamma;
use serde::Serialize;

/// Level of the reading of one sequence, from the paper's "> 95 % confidence".
pub const ALPHA_OF_ONE: f64 = 0.05;
/// Level of the reading of all sequences, the standard's.
pub const ALPHA_OF_ALL: f64 = 0.01;
/// The least P-value of the P-values' own distribution that the standard accepts (4.2.2).
const LEAST_UNIFORMITY: f64 = 0.0001;

/// One test's results over the sequences of a source.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Assessment {
    /// NIST's name of the test.
    pub test: &'static str,
    /// Number of sequences.
    pub sequences: usize,
    /// The smallest P-value of the first sequence.
    pub first: f64,
    /// Sequences that pass at [`ALPHA_OF_ALL`]; for CumulativeSums, in the worse direction.
    pub passed: usize,
    /// P-value of the hypothesis that the P-values are uniform; in the worse direction.
    pub uniformity: f64,
}

impl Assessment {
    /// Applies a test to each sequence.
    ///
    /// # Panics
    /// When there is no sequence.
    #[must_use]
    pub fn of(test: Test, sequences: &[&[bool]]) -> Self {
        let by_sequence: Vec<Vec<f64>> = sequences.iter().map(|bits| test.p_values(bits)).collect();
        let directions = by_sequence.first().expect("at least one sequence").len();
        let by_direction =
            || (0..directions).map(|i| by_sequence.iter().map(|p| p[i]).collect::<Vec<f64>>());
        Assessment {
            test: test.name(),
            sequences: sequences.len(),
            first: by_sequence[0].iter().copied().fold(1.0, f64::min),
            passed: by_direction()
                .map(|p| p.iter().filter(|&&p| p >= ALPHA_OF_ALL).count())
                .min()
                .unwrap_or(0),
            uniformity: by_direction().map(|p| uniformity(&p)).fold(1.0, f64::min),
        }
    }

    /// The paper's reading: the first sequence.
    #[must_use]
    pub fn one_passes(&self) -> bool {
        self.first >= ALPHA_OF_ONE
    }

    /// The standard's reading: the proportion of all sequences.
    #[must_use]
    pub fn all_pass(&self) -> bool {
        self.passed as f64 / self.sequences as f64 >= least_proportion(self.sequences)
    }

    /// The probability that of a perfect source's sequences at most as many pass (binomial).
    #[must_use]
    pub fn chance(&self) -> f64 {
        let (n, failed) = (self.sequences, self.sequences - self.passed);
        // P(at least `failed` of n fail) = 1 − Σ C(n, k)·α^k·(1 − α)^(n − k) for k below.
        let mut term = (n as f64 * (1.0 - ALPHA_OF_ALL).ln()).exp();
        let mut fewer = 0.0;
        for k in 0..failed {
            fewer += term;
            term *= (n - k) as f64 / (k + 1) as f64 * ALPHA_OF_ALL / (1.0 - ALPHA_OF_ALL);
        }
        (1.0 - fewer).max(0.0)
    }

    /// The P-values are spread as those of independent bits.
    #[must_use]
    pub fn is_uniform(&self) -> bool {
        self.uniformity >= LEAST_UNIFORMITY
    }
}

/// The lower end of the standard's interval for the proportion of sequences that pass (4.2.1).
#[must_use]
pub fn least_proportion(sequences: usize) -> f64 {
    let expected = 1.0 - ALPHA_OF_ALL;
    expected - 3.0 * (expected * ALPHA_OF_ALL / sequences as f64).sqrt()
}

/// Whether P-values are uniform, section 4.2.2: chi-square over ten intervals.
#[must_use]
pub fn uniformity(p_values: &[f64]) -> f64 {
    let mut counts = [0u32; 10];
    for p in p_values {
        let interval = (0..9).find(|&i| *p < f64::from(i + 1) / 10.0).unwrap_or(9);
        counts[interval as usize] += 1;
    }
    let expected = p_values.len() as f64 / 10.0;
    let chi: f64 =
        counts.iter().map(|&count| (f64::from(count) - expected).powi(2) / expected).sum();
    upper_gamma(9.0 / 2.0, chi / 2.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_interval_of_the_standards_example_is_found() {
        // Section 4.2.1: 1,000 sequences at 0.01: 0.99 ± 0.0094392.
        assert!((least_proportion(1000) - 0.980_560_8).abs() < 1e-6);
    }

    #[test]
    fn p_values_in_one_corner_are_not_uniform_and_spread_ones_are() {
        let spread: Vec<f64> = (0..100).map(|i| f64::from(i) / 100.0).collect();
        assert!((uniformity(&spread) - 1.0).abs() < 1e-12);
        assert!(uniformity(&[0.95; 100]) < 1e-100);
        // In R: pchisq(20, 9, lower.tail=FALSE)
        let uneven: Vec<f64> = spread.iter().map(|&p| if p < 0.2 { 0.05 } else { p }).collect();
        assert!((uniformity(&uneven) - 0.017_912_4).abs() < 1e-6, "{}", uniformity(&uneven));
    }

    #[test]
    fn the_chance_of_few_passes_is_binomial() {
        let of = |sequences, passed| Assessment {
            test: "Frequency",
            sequences,
            first: 0.5,
            passed,
            uniformity: 0.5,
        };
        // In R: pbinom(96, 100, 0.99), pbinom(46, 50, 0.99), pbinom(100, 100, 0.99)
        assert!((of(100, 96).chance() - 0.018_374).abs() < 1e-6, "{}", of(100, 96).chance());
        assert!((of(50, 46).chance() - 0.001_596).abs() < 1e-6, "{}", of(50, 46).chance());
        assert_eq!(of(100, 100).chance(), 1.0);
    }

    #[test]
    fn an_assessment_counts_what_passes() {
        let (fair, all): (Vec<bool>, Vec<bool>) = (0..200).map(|i| (i % 2 == 0, true)).unzip();
        let result = Assessment::of(Test::Frequency, &[&fair, &all, &fair]);
        assert_eq!((result.passed, result.first), (2, 1.0));
        assert!(result.one_passes() && !result.all_pass());
    }
}
