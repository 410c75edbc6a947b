//! Where threads start in their pad tables, by the seed.

use core::sync::atomic::{AtomicU64, Ordering};
use szc_layout::rng::{Purpose, Stream};

/// The seed, written at start, before there are other threads.
pub static SEED: AtomicU64 = AtomicU64::new(0);

/// Where a thread starts in its pad table; the main thread is number 0, the others count from 1 in
/// the order in which they were created.
pub fn first_pad(number: u64) -> u8 {
    Stream::of(Purpose::FirstPad, SEED.load(Ordering::Relaxed), number).below(256) as u8
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn first_pads_of_many_threads_are_spread_over_the_table() {
        let mut seen = [false; 256];
        for number in 0..4096 {
            seen[usize::from(first_pad(number))] = true;
        }
        // A byte stays unseen with probability (255/256)^4096 < 1.1e-7, any of 256 with < 3e-5.
        assert!(seen.iter().all(|&seen| seen));
    }
}
