//! What reclaiming asks of the copies: all under the lock.

use super::super::Code;
use super::super::arena::Arena;
use core::ops::Range;

impl Code {
    /// Whether it is time to look for copies that can be freed.
    pub fn wants_cycle(&self) -> bool {
        self.reclaims && self.epochs.wants_cycle()
    }

    /// Begins a cycle: makes all old layouts candidates. Returns the addresses of all copies, or
    /// nothing if none can be freed.
    ///
    /// From now on nobody can come to a candidate who does not refer to it already: all heads in old
    /// layouts lead to the resolver or to the current one, which is none.
    pub fn begin_cycle(&mut self) -> Option<Range<usize>> {
        let candidates = self.epochs.begin_cycle();
        let mut kept = 0;
        for place in 0..self.epochs.opened() {
            if self.epochs.is_candidate(place) && self.region(place).labels_escape() {
                self.epochs.keep(place);
                kept += 1;
            }
        }
        (kept < candidates).then(|| {
            let start = self.arena.address(0, 0);
            start..start + self.epochs.opened() as usize * self.arena.place_bytes()
        })
    }

    /// Keeps the layout at an address to which there is a reference.
    pub fn keep(&mut self, address: usize) {
        if let Some((place, _)) = self.arena.locate(address) {
            self.epochs.keep(place);
        }
    }

    /// Ends a cycle without freeing anything.
    pub fn abandon_cycle(&mut self) {
        self.epochs.abandon_cycle();
    }

    /// Ends a cycle: nobody refers to what is a candidate still.
    pub fn end_cycle(&mut self) {
        for place in 0..self.epochs.opened() {
            if self.epochs.is_candidate(place) {
                self.counts.retained_bytes -= self.region(place).copied_bytes();
            }
        }
        self.counts.freed += u64::from(self.epochs.end_cycle());
    }

    /// A place that nobody can reach, which is to be filled with traps and then given to [`Self::free`].
    pub fn unreachable(&self) -> Option<(Arena, u32)> {
        self.epochs.unreachable().map(|place| (self.arena, place))
    }

    /// Makes a place available for another layout.
    pub fn free(&mut self, place: u32) {
        self.epochs.free(place);
    }

    /// Makes calls of all functions of the current layout ask the resolver.
    pub fn shut_entries(&self) {
        let region = self.region(self.current_place());
        for index in 0..region.copied_count() {
            region.close(&self.arena, region.copied(index));
        }
    }

    /// Undoes that.
    pub fn open_entries(&self) {
        self.region(self.current_place()).open_copies(&self.arena, 0);
    }

    /// Counts a time for which threads had to wait. Whether there is no free place, or it is as if.
    pub fn count_pause(&mut self, taken_ns: u64) -> bool {
        self.counts.pauses += 1;
        self.counts.pause_ns += taken_ns;
        self.counts.exhausted || self.epochs.is_hurried()
    }
}
