//! A round of epochs: one of each image, where no child shares copies any more.
//!
//! A child says when it has copies of its own, mostly within a millisecond. One that could not make
//! them goes on sharing for as long as it lives, and its parent keeps its layout. Nobody else may
//! have to wait for that: who ends the program or opens a library needs `CHANGES`. So children are
//! waited for without that lock.

use super::children;
use crate::os;
use crate::state::{self, CHANGES, CODE};
use crate::symbols;
use szc_code::plan::Prepared;

/// Time between looks at whether the program is still there, and before a silent child is doubted.
pub(super) const LOOK_NS: u64 = 250_000_000;

/// Time between looks whether a child has its own copies, at first. Later it grows with the time
/// that was waited.
const RETRY_NS: u64 = 1_000_000;

/// How long an epoch that has been prepared waits for a child, with all that wait for `CHANGES`:
/// where forks follow one another closely there would be no epoch otherwise.
const PATIENCE_NS: u64 = 10 * RETRY_NS;

/// Which images have begun their epochs.
pub struct Round {
    /// The next one.
    slot: usize,
    /// Since when it waits for a child, if it does.
    waits_since_ns: Option<u64>,
    /// Some image that moves got no new layout.
    lacks: bool,
}

impl Round {
    /// None has.
    pub fn new() -> Self {
        Self { slot: 0, waits_since_ns: None, lacks: false }
    }

    /// When to try again, if the round is not over.
    pub fn next_try(&self) -> Option<u64> {
        let since = self.waits_since_ns?;
        let now = os::monotonic_ns();
        let waited_ns = now.saturating_sub(since);
        if waited_ns > LOOK_NS {
            children::doubt();
        }
        Some(now + (waited_ns / 8).clamp(RETRY_NS, LOOK_NS))
    }

    /// Whether it has waited longer for a child than who asked for a layout has to.
    pub fn waits_for_long(&self) -> bool {
        let waited = |since| os::monotonic_ns().saturating_sub(since) > LOOK_NS;
        self.waits_since_ns.is_some_and(waited)
    }

    /// Begins the epochs that have not begun. Whether all have.
    pub fn begin(&mut self) -> bool {
        CODE.with(|_| children::look());
        while self.slot < CODE.with(|images| images.slots()) {
            // An image does not go away meanwhile.
            let begun = if children::all_are_separate() {
                CHANGES.with(|| begin_epoch(self.slot))
            } else {
                Begun::Waits
            };
            if begun == Begun::Waits {
                self.waits_since_ns.get_or_insert_with(os::monotonic_ns);
                return false;
            }
            self.lacks |= begun == Begun::Cannot;
            self.waits_since_ns = None;
            self.slot += 1;
        }
        if !self.lacks {
            state::count_layout();
        }
        *self = Self::new();
        state::count_round();
        true
    }
}

/// What became of the epoch of an image.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Begun {
    /// It has begun, or there is none to begin.
    Yes,
    /// There is no place, or no memory, for its layout.
    Cannot,
    /// A child needs the layout as it is.
    Waits,
}

fn begin_epoch(slot: usize) -> Begun {
    let plan = match CODE.with(|images| images.plan(slot)) {
        None => return Begun::Yes,
        Some(Err(_)) => return Begun::Cannot,
        Some(Ok(plan)) => plan,
    };
    symbols::unregister_layout(plan.start());
    // SAFETY: `CHANGES` is held until the epoch has begun, or is given up.
    let Some(prepared) = (unsafe { plan.prepare() }) else {
        CODE.with(|images| images.stop(slot));
        return Begun::Cannot;
    };
    symbols::register_layout(plan.layout());
    let patience_ends = os::monotonic_ns() + PATIENCE_NS;
    while !publish(slot, &prepared) {
        let now = os::monotonic_ns();
        if now > patience_ends {
            // The same one will be prepared again.
            symbols::unregister_layout(plan.start());
            return Begun::Waits;
        }
        os::sleep_until(now + RETRY_NS / 4);
    }
    Begun::Yes
}

/// Begins an epoch if no child shares copies. Whether it has begun.
fn publish(slot: usize, prepared: &Prepared) -> bool {
    CODE.with(|images| {
        let free = children::all_are_separate();
        if free {
            images.publish(slot, prepared);
        }
        free
    })
}
