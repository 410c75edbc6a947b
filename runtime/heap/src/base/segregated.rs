//! The default base: slabs of size classes, several of which are open at a time.
//!
//! Blocks come from the open slabs in turn, so that neighbours in time lie in different places
//! ([`crate::sequence`]). A quarter of the slabs that the class has are open, 16 at most: a
//! class of few blocks stays in few pages. Their number doubles when all that are open are used up,
//! so that those which are open together are used up together, and are a whole run of places, which
//! is balanced.

use super::chunks::Chunks;
use super::interface::Base;
use super::shared::Shared;
use super::slab::{Place, Slab, Waiting};
use crate::memory::map_table;
use crate::random::Random;
use crate::sequence::Sequence;
use crate::size_class::CLASSES;
use szc_sys::os;

/// Most slabs of a class that blocks are taken from in turn.
const OPEN_SLABS: usize = 16;
/// Slabs of a class for each open one, at least.
const SLABS_PER_OPEN: usize = 4;

/// Slabs without blocks in use that a class keeps, because it will probably need them again; more
/// only if it has more than three times as many others.
const KEPT_EMPTY: usize = 16;

/// One class.
struct Class {
    /// Slabs that blocks are taken from; the first `open_count` places count, and may be null. None
    /// count before the class is first used.
    open: [*mut Slab; OPEN_SLABS],
    open_count: usize,
    turn: usize,
    /// Slabs with free blocks that are not open.
    waiting: Waiting,
    /// Slabs that the class has.
    slabs: usize,
    /// Those of them that wait with all blocks free.
    empty: usize,
    places: Sequence,
}

/// The base.
pub struct Segregated {
    chunks: Chunks,
    /// What the places of all classes are drawn from.
    seed: u64,
    classes: [Class; CLASSES],
}

impl Segregated {
    /// A base in memory of its own.
    pub fn create(random: &mut Random) -> Option<*mut Self> {
        let base = map_table(size_of::<Self>() + size_of::<Shared>())?.cast::<Self>();
        // SAFETY: zeroed memory; zeros are null pointers and empty lists, and the rest is set here.
        unsafe {
            (&raw mut (*base).chunks.shared).write(base.add(1).cast());
            (&raw mut (*base).chunks.random).write(Random::new(random.bits()));
            (&raw mut (*base).seed).write(random.bits());
        }
        Some(base)
    }

    /// Draws the places of each class by a generator of its own, and lets classes share no memory.
    pub fn draw_apart(&mut self, random: impl Fn(usize) -> Random) {
        self.chunks.are_apart = true;
        for (number, class) in self.classes.iter_mut().enumerate() {
            class.places = Sequence::new(&mut random(number));
        }
    }

    /// Makes free blocks of a slab known to its class.
    ///
    /// # Safety
    /// The slab must be one of `chunks`, and have a free block more than when this was last called.
    unsafe fn freed(chunks: &mut Chunks, classes: &mut [Class; CLASSES], slab: *mut Slab) {
        // SAFETY: the caller's promise.
        unsafe {
            let class = &mut classes[(*slab).class()];
            if (*slab).place == Place::Full {
                class.waiting.push(slab);
            }
            if (*slab).place == Place::Waiting && (*slab).available() == (*slab).capacity() {
                class.empty += 1;
                if class.empty > KEPT_EMPTY.max(class.slabs / 8) {
                    class.waiting.remove(slab);
                    class.slabs -= 1;
                    class.empty -= 1;
                    chunks.close(slab);
                }
            }
        }
    }

    /// Takes back what other threads freed.
    pub fn collect(&mut self) {
        let Self { chunks, classes, .. } = self;
        // SAFETY: collected slabs are this base's and got free blocks.
        chunks.collect(|chunks, slab, _| unsafe { Self::freed(chunks, classes, slab) });
    }

    /// Puts a slab with free blocks into a place of the open ones.
    fn reopen(&mut self, class: usize, place: usize) -> Option<*mut Slab> {
        self.collect();
        let Self { chunks, classes, seed } = self;
        let class_number = class;
        let class = &mut classes[class];
        let slab = match class.waiting.pop() {
            Some(slab) => {
                // SAFETY: waiting slabs are this base's.
                class.empty -= usize::from(unsafe { (*slab).available() == (*slab).capacity() });
                slab
            }
            None => {
                class.places.draw(*seed, class_number);
                let slab = chunks.open(class_number, class.slabs, &mut class.places)?;
                class.slabs += 1;
                slab
            }
        };
        // SAFETY: the slab is this base's.
        unsafe { (*slab).place = Place::Active };
        class.open[place] = slab;
        Some(slab)
    }
}

impl Base for Segregated {
    unsafe fn take(this: *mut Self, class: usize, out: &mut [*mut u8]) -> usize {
        // SAFETY: the caller owns the base; what others touch lies outside of it.
        unsafe { (*this).take_in_turn(class, out) }
    }

    unsafe fn give(this: *mut Self, class: usize, blocks: &[*mut u8]) {
        // SAFETY: the caller's promise.
        unsafe {
            let base = &mut *this;
            for &block in blocks {
                if let Some(slab) = base.chunks.give(class, block) {
                    Self::freed(&mut base.chunks, &mut base.classes, slab);
                }
            }
        }
    }
}

impl Segregated {
    fn take_in_turn(&mut self, class: usize, out: &mut [*mut u8]) -> usize {
        let slot = &mut self.classes[class];
        slot.open_count = slot.open_count.max(1);
        let mut taken = 0;
        while taken < out.len() {
            let slot = &mut self.classes[class];
            let mut slab = slot.open[slot.turn];
            if !slot.is_usable(slot.turn) {
                if slot.grows_by_turn() {
                    continue;
                }
                let turn = slot.turn;
                match self.reopen(class, turn) {
                    Some(found) => slab = found,
                    None => break,
                }
            }
            // SAFETY: open slabs are this base's.
            let Some(block) = (unsafe { Slab::take(slab) }) else { break };
            out[taken] = block;
            taken += 1;
            let slot = &mut self.classes[class];
            slot.turn = slot.turn_after(1);
        }
        taken
    }
}

impl Class {
    /// The place whose turn it is so many places on. Their number is a power of two.
    fn turn_after(&self, steps: usize) -> usize {
        (self.turn + steps) & (self.open_count - 1)
    }

    /// Whether an open slab has a block left; it is closed if it has none.
    fn is_usable(&mut self, turn: usize) -> bool {
        let slab = self.open[turn];
        if slab.is_null() {
            return false;
        }
        // SAFETY: open slabs are this base's.
        unsafe {
            if (*slab).available() > 0 {
                return true;
            }
            (*slab).place = Place::Full;
        }
        self.open[turn] = os::null();
        false
    }

    /// If more slabs should be open: goes on to one that is not used up, or if all are, opens more
    /// from now on. Whether the turn changed that way to one that is not used up.
    fn grows_by_turn(&mut self) -> bool {
        let most = (self.slabs / SLABS_PER_OPEN).clamp(1, OPEN_SLABS);
        if self.open_count * 2 > most {
            return false;
        }
        for step in 1..self.open_count {
            let turn = self.turn_after(step);
            if self.is_usable(turn) {
                self.turn = turn;
                return true;
            }
        }
        self.open_count *= 2;
        self.turn = 0;
        self.places.align(self.open_count);
        false
    }
}
