//! What reclaiming asks of the copies: all under the lock.

use super::super::arena::Arena;
use super::super::image::Image;
use super::super::images::Images;
use super::super::{Code, Region};

/// First address of an image's copies, and the address behind them.
pub type Extent = (usize, usize);

/// A place that nobody can reach, which is to be filled with traps and then given back.
pub struct Unreachable {
    image: Image,
    arena: Arena,
    region: Region,
    slot: usize,
}

impl Unreachable {
    /// Fills it with traps. Returns the bytes of its place.
    pub fn poison(&self) -> usize {
        self.region.poison(&self.image, &self.arena);
        self.arena.place_bytes()
    }
}

impl Images {
    /// Whether it is time to look for copies that can be freed.
    pub fn want_cycle(&self) -> bool {
        self.all().any(|code| code.reclaims && code.epochs.wants_cycle())
    }

    /// Begins a cycle: makes all old layouts candidates. Writes where there are copies, and returns
    /// in how many extents; nothing if none can be freed.
    ///
    /// From now on nobody can come to a candidate who does not refer to it already: all heads in
    /// old layouts lead to the resolver or to the current one, which is none.
    pub fn begin_cycle(&mut self, extents: &mut [Extent]) -> Option<usize> {
        let (mut count, mut candidates) = (0, 0);
        for slot in 0..self.slots() {
            let Some(code) = self.code_mut(slot).filter(|code| code.reclaims) else { continue };
            candidates += code.make_candidates();
            *extents.get_mut(count)? = code.extent();
            count += 1;
        }
        (candidates > 0).then_some(count)
    }

    /// Keeps the layout at an address to which there is a reference.
    pub fn keep(&mut self, address: usize) {
        for slot in 0..self.slots() {
            if let Some(code) = self.code_mut(slot)
                && let Some((place, _)) = code.arena.locate(address)
            {
                code.epochs.keep(place);
                return;
            }
        }
    }

    /// Ends a cycle without freeing anything.
    pub fn abandon_cycle(&mut self) {
        for slot in 0..self.slots() {
            if let Some(code) = self.code_mut(slot) {
                code.epochs.abandon_cycle();
            }
        }
    }

    /// Ends a cycle: nobody refers to what is a candidate still.
    pub fn end_cycle(&mut self) {
        for slot in 0..self.slots() {
            if let Some(code) = self.code_mut(slot) {
                code.end_cycle();
            }
        }
    }

    /// Something that nobody can reach.
    pub fn unreachable(&mut self) -> Option<Unreachable> {
        (0..self.slots()).find_map(|slot| {
            let code = self.code_mut(slot)?;
            let region = *code.region(code.epochs.unreachable()?);
            Some(Unreachable { image: code.image, arena: code.arena, region, slot })
        })
    }

    /// Makes its place available for another layout. The image must be the same as then.
    pub fn free(&mut self, unreachable: &Unreachable) {
        if let Some(code) = self.code_mut(unreachable.slot) {
            code.epochs.free(unreachable.region.place());
            code.close_surplus();
        }
    }

    /// Makes calls of all functions of the current layouts ask the resolver.
    pub fn shut_entries(&self) {
        for code in self.all() {
            let region = code.current_region();
            for index in 0..region.copied_count() {
                region.close(&code.image, &code.arena, region.copied(index));
            }
        }
    }

    /// Undoes that.
    pub fn open_entries(&self) {
        for code in self.all() {
            code.current_region().open_copies(&code.image, &code.arena, 0);
        }
    }

    /// Whether places are needed at once.
    pub fn are_hurried(&self) -> bool {
        self.all().any(|code| code.counts.exhausted || code.epochs.is_hurried())
    }
}

impl Code {
    fn current_region(&self) -> &Region {
        self.region(self.current_place())
    }

    fn extent(&self) -> Extent {
        let start = self.arena.address(0, 0);
        (start, start + self.epochs.opened() as usize * self.arena.place_bytes())
    }

    /// Gives back the memory of places that are no longer needed, if the kernel lets us.
    fn close_surplus(&mut self) {
        let surplus = self.epochs.surplus();
        if !surplus.is_empty() && self.arena.close(surplus.clone()).is_ok() {
            self.epochs.close(surplus);
        }
    }

    /// Makes old layouts candidates, but those with labels that may have been stored. Returns how
    /// many.
    fn make_candidates(&mut self) -> u32 {
        let mut count = self.epochs.begin_cycle();
        for place in 0..self.epochs.opened() {
            if self.epochs.is_candidate(place) && self.region(place).labels_escape() {
                self.epochs.keep(place);
                count -= 1;
            }
        }
        count
    }

    fn end_cycle(&mut self) {
        for place in 0..self.epochs.opened() {
            if self.epochs.is_candidate(place) {
                self.counts.retained_bytes -= self.region(place).copied_bytes();
            }
        }
        self.counts.freed += u64::from(self.epochs.end_cycle());
    }
}
