//! Seven tests of randomness from NIST SP 800-22 revision 1a, on sequences of bits.
//!
//! Pure functions of a sequence that return P-values: the probability that a perfect source shows
//! at least this much deviation. Source: Rukhin and others, "A Statistical Test Suite for Random
//! and Pseudorandom Number Generators for Cryptographic Applications", NIST (2010). Names and
//! parameters are those of NIST's own program. The special functions come from statrs, which
//! computes erfc to about 1e-15 and the incomplete gamma function to about 1e-14, far finer than
//! the six digits in which the standard prints its examples.
#![forbid(unsafe_code)]

pub mod counts;
pub mod rank;
pub mod runs;
pub mod spectrum;
pub mod verdict;

#[cfg(test)]
mod constants;
#[cfg(test)]
mod examples;

/// One of the tests.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Test {
    /// As many ones as zeros.
    Frequency,
    /// As many ones as zeros in every block of 128 bits.
    BlockFrequency,
    /// The walk that steps up at ones and down at zeros stays near its start; forward and backward.
    CumulativeSums,
    /// As many changes between zero and one as chance gives.
    Runs,
    /// Runs of ones in blocks are as long as chance makes them.
    LongestRun,
    /// No periods: the peaks of the discrete Fourier transform.
    Fft,
    /// Rows of 32×32 bits depend on each other as often as chance makes them.
    Rank,
}

impl Test {
    /// All tests; the six that the paper's heap passes come first.
    pub const ALL: [Test; 7] = [
        Test::Frequency,
        Test::BlockFrequency,
        Test::CumulativeSums,
        Test::Runs,
        Test::LongestRun,
        Test::Fft,
        Test::Rank,
    ];

    /// The six tests that `lrand48`, DieHard and the shuffled heap pass in the paper (4.2.2).
    pub const OF_THE_PAPER: &[Test] = Self::ALL.split_at(6).0;

    /// The name that NIST's program prints.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Test::Frequency => "Frequency",
            Test::BlockFrequency => "BlockFrequency",
            Test::CumulativeSums => "CumulativeSums",
            Test::Runs => "Runs",
            Test::LongestRun => "LongestRun",
            Test::Fft => "FFT",
            Test::Rank => "Rank",
        }
    }

    /// The fewest bits for which the standard trusts this test.
    #[must_use]
    pub fn shortest(self) -> usize {
        match self {
            Test::Frequency | Test::BlockFrequency | Test::CumulativeSums | Test::Runs => 100,
            Test::LongestRun => 128,
            Test::Fft => 1000,
            Test::Rank => 38 * rank::SIDE * rank::SIDE,
        }
    }

    /// The P-values of this test: one, or two for `CumulativeSums` (forward, backward).
    #[must_use]
    pub fn p_values(self, bits: &[bool]) -> Vec<f64> {
        match self {
            Test::Frequency => vec![counts::frequency(bits)],
            Test::BlockFrequency => vec![counts::block_frequency(bits, counts::BLOCK)],
            Test::CumulativeSums => vec![
                counts::cumulative_sums(bits.iter().copied()),
                counts::cumulative_sums(bits.iter().rev().copied()),
            ],
            Test::Runs => vec![runs::runs(bits)],
            Test::LongestRun => vec![runs::longest_run(bits)],
            Test::Fft => vec![spectrum::fft(bits)],
            Test::Rank => vec![rank::rank(bits)],
        }
    }
}
