//! Lets pages go that are needed for copying functions alone: original text, tables, and the alias
//! by which copies are written. They stay in memory or in their file, but count as the program's
//! while they are in its tables, copies twice. To touch them again takes a page fault each, or one
//! for 16 pages of a file: little where layouts follow one another slowly.
#![forbid(unsafe_code)]

use super::suspension::{self, Sleep};
use crate::os;
use crate::state::CODE;
use szc_code::code::Code;

/// With less time between layouts pages are kept.
const MIN_INTERVAL_NS: u64 = 250_000_000;

/// When programs, small and large ones, have called most of what they begin with.
const START_NS: [u64; 3] = [20_000_000, 60_000_000, 200_000_000];

/// Whether pages are let go.
pub struct Footprint {
    is_wanted: bool,
    began_ns: u64,
}

impl Footprint {
    /// Of a program that has so much time between layouts, and begins now.
    pub fn new(interval_ns: u64) -> Self {
        let is_wanted = interval_ns >= MIN_INTERVAL_NS;
        Self { is_wanted, began_ns: os::monotonic_ns() }
    }

    /// Looks while the program starts, as long as nobody wants anything else of the task.
    pub fn watch_start(&self) {
        for after_ns in START_NS {
            let next = self.began_ns + after_ns;
            if !self.is_wanted || suspension::sleep_until(next, true) != Sleep::Over {
                return;
            }
            self.look();
        }
    }

    /// Lets pages go.
    pub fn look(&self) {
        if self.is_wanted {
            CODE.with(|images| images.all().for_each(Code::let_go));
        }
    }
}
