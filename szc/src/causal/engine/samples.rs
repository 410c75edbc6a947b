//! Samples that programs report, and how many each place has.
#![forbid(unsafe_code)]

use std::collections::HashMap;
use std::sync::atomic::Ordering::{Acquire, Relaxed};

use szc_abi::causal::{Memory, RING_SAMPLES};

use super::spaces::{Address, Found, Spaces};
use crate::causal::file::{Location, LocationSamples};

/// Samples of a run.
#[derive(Default)]
pub struct Samples {
    next: u64,
    counts: HashMap<Location, Count>,
    /// In code of files out of scope, or that is excluded.
    pub out_of_scope: u64,
    /// In code in scope of which no line or function is known.
    pub unknown: u64,
    /// That were written over before they were read.
    pub lost: u64,
}

#[derive(Clone, Copy, Default)]
struct Count {
    all: u64,
    unaltered: u64,
}

impl Samples {
    /// Reads what programs have reported. Returns the first one in scope, if there is one.
    /// `is_altered` says whether something was sped up while the experiment with a number ran.
    pub fn read(
        &mut self,
        memory: &Memory,
        spaces: &Spaces,
        is_altered: impl Fn(u64) -> bool,
    ) -> Option<Found> {
        let mut first = None;
        loop {
            let turn = self.next + 1;
            let slot = usize::try_from(self.next).unwrap_or_default() % RING_SAMPLES;
            let sample = &memory.ring[slot];
            // Pairs with the program's release, behind the sample.
            let found = sample.turn.load(Acquire);
            if found < turn {
                return first;
            }
            let address = sample.address.load(Relaxed);
            let own_address = sample.own_address.load(Relaxed);
            let about = sample.state_and_space.load(Relaxed);
            if found != turn || sample.turn.load(Acquire) != turn {
                self.lost += 1;
                self.next += 1;
                continue;
            }
            self.next += 1;
            let (state, space) = (about >> 16, about & 0xffff);
            let address = if address == 0 { own_address } else { address };
            match spaces.address(space, address) {
                Address::InScope(found) => {
                    first.get_or_insert(found);
                    let count = self.counts.entry(spaces.location(found)).or_default();
                    count.all += 1;
                    count.unaltered += u64::from(state & 1 == 0 || !is_altered(state >> 1));
                }
                Address::OutOfScope => self.out_of_scope += 1,
                Address::Unknown => self.unknown += 1,
            }
        }
    }

    /// Samples in scope.
    pub fn in_scope(&self) -> u64 {
        self.counts.values().map(|count| count.all).sum()
    }

    /// By place, the most frequent ones first.
    pub fn by_location(&self) -> Vec<LocationSamples> {
        let samples = |(location, count): (&Location, &Count)| LocationSamples {
            location: location.clone(),
            count: count.all,
            unaltered: Some(count.unaltered),
        };
        let mut all: Vec<_> = self.counts.iter().map(samples).collect();
        all.sort_by(|a, b| (b.count, &a.location).cmp(&(a.count, &b.location)));
        all
    }
}
