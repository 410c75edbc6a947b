//! A greater load than there is: by what arrivals are sped up, and what arrived.
#![forbid(unsafe_code)]

use std::sync::atomic::Ordering::Relaxed;

use anyhow::{Result, bail};
use szc_abi::causal::{AT_BREAKPOINT, AT_POINTS, Memory};

use crate::causal::arrivals::{ArrivalCounts, Load};

/// Arrivals by which it is judged whether any come sooner than they can be sped up.
const ENOUGH: u64 = 20;

/// A load from an option, as `2x` or `1.5`.
///
/// # Errors
/// It is no number above 1.
pub fn parse(text: &str) -> Result<f64, String> {
    let number = text.strip_suffix('x').unwrap_or(text).parse::<f64>();
    match number {
        Ok(factor) if factor > 1.0 && factor <= 1000.0 => Ok(factor),
        _ => Err("a load is a number above 1 and up to 1000, such as 2x".to_owned()),
    }
}

/// Lets arrivals be counted, at a place of the program if there is one.
pub fn count(memory: &Memory, at_place: bool) {
    let counted = if at_place { AT_BREAKPOINT } else { AT_POINTS };
    memory.arrivals.least_ns.store(u64::MAX, Relaxed);
    memory.arrivals.counted.store(counted, Relaxed);
}

/// Lets arrivals be sped up.
pub fn amplify(memory: &Memory, load: Load) {
    match load {
        Load::Factor(factor) => {
            let share = (1.0 - 1.0 / factor) * (1_u64 << 32) as f64;
            // At most 2^32, and not negative: a factor is above 1.
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
            memory.arrivals.share.store(share as u64, Relaxed);
        }
        Load::ArrivalSpeedupNs(step) => memory.arrivals.step_ns.store(step, Relaxed),
    }
}

/// What has arrived so far.
pub fn counts(memory: &Memory) -> ArrivalCounts {
    let arrivals = &memory.arrivals;
    let least_ns = arrivals.least_ns.load(Relaxed);
    ArrivalCounts {
        count: arrivals.count.load(Relaxed),
        interval_ns: arrivals.interval_ns.load(Relaxed),
        least_ns: (least_ns != u64::MAX).then_some(least_ns),
        ahead_ns: arrivals.ahead_ns.load(Relaxed),
    }
}

/// Refuses a load by which something would arrive before what arrived before it.
///
/// # Errors
/// It is one.
pub fn check(load: Load, counts: &ArrivalCounts) -> Result<()> {
    let Load::ArrivalSpeedupNs(step) = load else { return Ok(()) };
    if let (ENOUGH.., Some(least)) = (counts.count, counts.least_ns)
        && step > least
    {
        bail!(
            "arrivals are to come {step} ns sooner, and some come {least} ns after the last one \
             of their thread: they would come before that. Take at most {least} ns, or --load, \
             which shortens all intervals by the same share"
        );
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::causal::engine::memory::Shared;

    #[test]
    fn a_load_is_a_number_above_one() {
        assert_eq!((parse("2x"), parse("1.5")), (Ok(2.0), Ok(1.5)));
        for wrong in ["1", "0.5x", "x", "", "nan", "inf", "-2"] {
            assert!(parse(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_factor_becomes_a_share_of_intervals() {
        let shared = Shared::new(1_000_000, 1).unwrap();
        let memory = shared.memory();
        count(memory, false);
        assert_eq!(counts(memory).least_ns, None);
        amplify(memory, Load::Factor(4.0));
        assert_eq!(memory.arrivals.share.load(Relaxed), 3 << 30);
    }

    #[test]
    fn arrivals_are_not_sped_up_by_more_than_the_least_time_between_them() {
        let counts = ArrivalCounts { count: 30, least_ns: Some(500), ..Default::default() };
        assert!(check(Load::ArrivalSpeedupNs(500), &counts).is_ok());
        let error = check(Load::ArrivalSpeedupNs(501), &counts).unwrap_err().to_string();
        assert!(error.contains("Take at most 500 ns"), "{error}");
        assert!(check(Load::Factor(9.0), &counts).is_ok());
    }
}
