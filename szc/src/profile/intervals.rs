//! Whether the intervals between samples are random: their autocorrelation. Intervals that follow
//! from one another would keep in step with a program.
#![forbid(unsafe_code)]

/// The autocorrelation of the intervals of a profile's clocks.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Autocorrelation {
    /// Number of intervals.
    pub count: usize,
    /// By lag, from 1 on.
    pub lags: Vec<f64>,
}

/// Lags that are looked at.
const MAX_LAG: usize = 40;

impl Autocorrelation {
    /// Of intervals, series by series.
    ///
    /// Source: Box, Jenkins and Reinsel, "Time Series Analysis", section 2.1.5.
    #[must_use]
    pub fn of(series: &[Vec<f64>]) -> Self {
        let count: usize = series.iter().map(Vec::len).sum();
        let mean = series.iter().flatten().sum::<f64>() / count.max(1) as f64;
        let square: f64 = series.iter().flatten().map(|value| (value - mean).powi(2)).sum();
        if square == 0.0 || count <= 4 * MAX_LAG {
            return Self { count, lags: Vec::new() };
        }
        let product = |lag: usize| -> f64 {
            let pairs = series.iter().flat_map(|values| values.iter().zip(values.iter().skip(lag)));
            pairs.map(|(first, second)| (first - mean) * (second - mean)).sum()
        };
        Self { count, lags: (1..=MAX_LAG).map(|lag| product(lag) / square).collect() }
    }

    /// What 95 % of the lags of random intervals stay within: 2/√n.
    #[must_use]
    pub fn bound(&self) -> f64 {
        2.0 / (self.count as f64).sqrt()
    }

    /// Number of lags within the bound.
    #[must_use]
    pub fn within(&self) -> usize {
        self.lags.iter().filter(|lag| lag.abs() <= self.bound()).count()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use szc_sampler::periods::Schedule;

    #[test]
    fn intervals_that_are_drawn_are_not_correlated() {
        let schedule = Schedule { period_ns: 1_000_000, jitter: 0.3, seed: 5 };
        let series = [0, 1].map(|clock| {
            let mut periods = schedule.periods(clock);
            (0..2_000).map(|_| periods.following() as f64).collect()
        });
        let found = Autocorrelation::of(&series);
        assert_eq!((found.count, found.lags.len()), (4_000, MAX_LAG));
        // Seed and so result are fixed; 38 of 40 are expected.
        assert!(found.within() >= 36, "{}", found.within());
    }

    #[test]
    fn intervals_that_alternate_are_correlated_at_every_lag() {
        let values = (0..400).map(|index| f64::from(index % 2)).collect();
        let found = Autocorrelation::of(&[values]);
        assert!((found.lags[0] + 1.0).abs() < 0.01 && (found.lags[1] - 1.0).abs() < 0.01);
        assert_eq!(found.within(), 0);
    }

    #[test]
    fn of_few_intervals_and_of_equal_ones_nothing_is_said() {
        assert!(Autocorrelation::of(&[]).lags.is_empty());
        assert!(Autocorrelation::of(&[vec![1.0; 900]]).lags.is_empty());
    }
}
