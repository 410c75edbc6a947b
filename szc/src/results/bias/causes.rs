//! Causal analysis: what remains of a difference when its supposed cause is held.
//!
//! Of a cause, at most a quarter of the difference remains; of what is none, at least three
//! quarters. The first is shown as an equivalence is, by two tests at once (Schuirmann 1987), in
//! units of the difference with nothing held, which is measured in the same blocks. All of these
//! tests share one error rate (Holm 1979), and may be looked at after every block. They are only
//! made once the difference itself is shown.
#![forbid(unsafe_code)]

use szc_stats::describe::{mean, standard_deviation};
use szc_stats::multiplicity::holm;
use szc_stats::sequential::{ERROR_RATE, MIN_BLOCKS, ln_t_e_value, mean_sequence};

use crate::samples::bias::{CausalRecord, CauseRecord, CauseVerdict};
use crate::samples::setups::Condition;

/// Most that remains of a difference whose cause is held.
pub const GONE: f64 = 0.25;

/// Least that remains of a difference when something else is held.
pub const REMAINS: f64 = 0.75;

/// Differences smaller than this are none to explain.
const LEAST_EFFECT: f64 = 0.005;

/// What follows from the log differences of blocks, with nothing held and with each of `held`.
/// `None` if there are too few blocks or they are no numbers.
pub(super) fn record(
    sizes_bytes: [u32; 2],
    plain: &[f64],
    held: &[Condition],
    lists: &[Vec<f64>],
) -> Option<CausalRecord> {
    let base = mean_sequence(plain).ok()?;
    let shown = base.interval.lower > 0.0;
    let mut p = Vec::new();
    for list in lists {
        let least = |share: f64, sign: f64| {
            let combined: Vec<f64> =
                plain.iter().zip(list).map(|(plain, held)| share * plain + sign * held).collect();
            p_positive(&combined)
        };
        p.push(least(GONE, 1.0).max(least(GONE, -1.0)));
        p.push(least(-REMAINS, 1.0));
    }
    let adjusted = if shown { holm(&p).ok()? } else { vec![1.0; p.len()] };
    let causes = held.iter().zip(lists).zip(adjusted.chunks_exact(2)).map(|((cause, list), p)| {
        let found = mean_sequence(list).ok()?;
        let verdict = if p[0] <= ERROR_RATE {
            CauseVerdict::Confirmed
        } else if p[1] <= ERROR_RATE {
            CauseVerdict::Rejected
        } else {
            CauseVerdict::Undecided
        };
        Some(CauseRecord {
            cause: *cause,
            effect: found.mean.exp(),
            interval: [found.interval.lower.exp(), found.interval.upper.exp()],
            remains: if base.mean == 0.0 { 1.0 } else { found.mean / base.mean },
            p_gone: p[0],
            p_remains: p[1],
            verdict,
        })
    });
    Some(CausalRecord {
        sizes_bytes,
        n: plain.len(),
        effect: base.mean.exp(),
        interval: [base.interval.lower.exp(), base.interval.upper.exp()],
        shown,
        causes: causes.collect::<Option<Vec<CauseRecord>>>()?,
    })
}

/// Whether more blocks would say nothing new: each cause has a verdict, or there is nothing to
/// explain.
pub(super) fn is_decided(found: &CausalRecord) -> bool {
    if !found.shown {
        return found.interval[1].ln() < LEAST_EFFECT;
    }
    found.causes.iter().all(|cause| cause.verdict != CauseVerdict::Undecided)
}

/// p of the mean not being positive, valid at every look.
fn p_positive(values: &[f64]) -> f64 {
    let (Some(center), Some(spread)) = (mean(values), standard_deviation(values)) else {
        return 1.0;
    };
    if values.len() < MIN_BLOCKS || center <= 0.0 || !spread.is_finite() {
        return 1.0;
    }
    let t = (values.len() as f64).sqrt() * center / spread;
    (-ln_t_e_value(values.len(), t)).exp().min(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn noisy(center: f64, count: u32, phase: u32) -> Vec<f64> {
        let noise = |place: u32| f64::from((place * 7 + phase * 3) % 11) - 5.0;
        (0..count).map(|place| center + 0.002 * noise(place)).collect()
    }

    fn verdicts(plain: f64, held: [f64; 3], count: u32) -> (bool, Vec<CauseVerdict>) {
        let causes = [Condition::Stack, Condition::Contents, Condition::Heap];
        let lists: Vec<Vec<f64>> =
            (1..).zip(held).map(|(phase, held)| noisy(held, count, phase)).collect();
        let found = record([0, 64], &noisy(plain, count, 0), &causes, &lists).unwrap();
        (found.shown, found.causes.iter().map(|cause| cause.verdict).collect())
    }

    #[test]
    fn what_removes_the_difference_is_the_cause_and_what_leaves_it_is_none() {
        use CauseVerdict::{Confirmed, Rejected, Undecided};
        let (shown, found) = verdicts(0.1, [0.0, 0.1, 0.05], 40);
        assert!(shown);
        assert_eq!(found, [Confirmed, Rejected, Undecided]);
    }

    #[test]
    fn without_a_difference_there_is_no_cause() {
        let (shown, found) = verdicts(0.0, [0.0, 0.1, 0.0], 40);
        assert!(!shown);
        assert_eq!(found, [CauseVerdict::Undecided; 3]);
    }

    #[test]
    fn few_blocks_decide_nothing() {
        let lists = [noisy(0.0, 9, 1)];
        assert_eq!(record([0, 64], &noisy(0.1, 9, 0), &[Condition::Stack], &lists), None);
    }

    #[test]
    fn a_difference_that_is_reversed_is_not_gone() {
        let (_, found) = verdicts(0.1, [-0.1, 0.1, 0.1], 40);
        assert_eq!(found[0], CauseVerdict::Undecided);
    }
}
