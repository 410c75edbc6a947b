//! How long the blocks of an experiment take, and how many more fit into a time.
#![forbid(unsafe_code)]

use std::time::Duration;

/// Durations of the blocks that were measured. The first one comes after the warm-up, whose time
/// nobody takes apart from it, so it counts only as long as it is all there is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Pace {
    first: Option<Duration>,
    others: Duration,
    count: u32,
}

impl Pace {
    /// The next block took this long.
    pub(super) fn add(&mut self, block: Duration) {
        if self.first.is_none() {
            self.first = Some(block);
        } else {
            self.others += block;
            self.count = self.count.saturating_add(1);
        }
    }

    /// What a block takes; `None` before the first.
    pub(super) fn per_block(&self) -> Option<Duration> {
        if self.count == 0 { self.first } else { Some(self.others / self.count) }
    }

    /// Blocks that end within a time, at the pace until now; `None` before the first.
    pub(super) fn fitting(&self, time: Duration) -> Option<u32> {
        let per_block = self.per_block()?.max(Duration::from_nanos(1));
        u32::try_from(time.as_nanos() / per_block.as_nanos()).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_warm_up_counts_only_while_nothing_else_is_known() {
        let seconds = Duration::from_secs;
        let mut pace = Pace::default();
        assert_eq!((pace.per_block(), pace.fitting(seconds(60))), (None, None));
        pace.add(seconds(9));
        assert_eq!(pace.per_block(), Some(seconds(9)));
        pace.add(seconds(5));
        pace.add(seconds(7));
        assert_eq!(pace.per_block(), Some(seconds(6)));
        assert_eq!(pace.fitting(seconds(60)), Some(10));
        assert_eq!(pace.fitting(seconds(59)), Some(9));
        assert_eq!(pace.fitting(Duration::ZERO), Some(0));
    }
}
