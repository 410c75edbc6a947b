//! The DieHard base: blocks at random places of slabs, at most half of which are in use.
//!
//! Source: Berger and Zorn, "DieHard: Probabilistic Memory Safety for Unsafe Languages" (2006),
//! with M = 2. A freed block is one of many that the next probe may hit, so it is rarely reused
//! soon.

use super::chunks::Chunks;
use super::interface::Base;
use super::shared::Shared;
use super::slab::{Place, Slab};
use crate::memory::map_table;
use crate::random::Random;
use crate::sequence::Sequence;
use crate::size_class::CLASSES;
use szc_sys::os;

/// DieHard's M: blocks that there are for each block in use.
const OVER_PROVISION: usize = 2;
/// Slabs without blocks in use are given up while there are more than so many blocks for each in
/// use, and a class has more slabs than so many.
const TOO_MANY: usize = 4;
const KEPT_SLABS: usize = 16;
/// Slabs that a class's table has room for at first: one page of them.
const FIRST_ROOM: usize = os::PAGE_BYTES / size_of::<*mut Slab>();
/// Probes before blocks are searched in order. Each hits with a probability of at least one half.
const PROBES: usize = 64;

/// One class.
struct Class {
    /// Its slabs, in a table of its own.
    table: *mut *mut Slab,
    slabs: usize,
    room: usize,
    blocks: usize,
    used: usize,
    places: Sequence,
}

/// The base.
pub struct DieHard {
    chunks: Chunks,
    random: Random,
    /// What the places of all classes are drawn from.
    seed: u64,
    classes: [Class; CLASSES],
}

impl DieHard {
    /// A base in memory of its own.
    pub fn create(random: &mut Random) -> Option<*mut Self> {
        let base = map_table(size_of::<Self>() + size_of::<Shared>())?.cast::<Self>();
        // SAFETY: zeroed memory; zeros are empty classes without places, and the rest is set here.
        unsafe {
            (&raw mut (*base).chunks.shared).write(base.add(1).cast());
            (&raw mut (*base).chunks.random).write(Random::new(random.bits()));
            (&raw mut (*base).random).write(Random::new(random.bits()));
            (&raw mut (*base).seed).write(random.bits());
        }
        Some(base)
    }

    /// Takes back what other threads freed.
    pub fn collect(&mut self) {
        let Self { chunks, classes, .. } = self;
        // SAFETY: collected slabs are this base's and got free blocks.
        chunks.collect(|chunks, slab, blocks| unsafe {
            classes[(*slab).class()].freed(chunks, slab, blocks);
        });
    }

    fn grow(&mut self, class: usize) -> Option<()> {
        let Self { chunks, classes, seed, .. } = self;
        let slot = &mut classes[class];
        if slot.slabs == slot.room {
            slot.enlarge()?;
        }
        slot.places.draw(*seed, class);
        let slab = chunks.open(class, slot.slabs, &mut slot.places)?;
        // SAFETY: the slab is this base's; the table has room.
        unsafe {
            (*slab).place = Place::Active;
            (*slab).index = slot.slabs as u32;
            slot.table.add(slot.slabs).write(slab);
            slot.blocks += (*slab).capacity();
        }
        slot.slabs += 1;
        Some(())
    }

    fn probe(&mut self, class: usize) -> Option<*mut u8> {
        let Self { random, classes, .. } = self;
        let class = &mut classes[class];
        for _ in 0..PROBES {
            // SAFETY: the index is inside the table.
            let slab = unsafe { *class.table.add(random.below(class.slabs as u32)) };
            // SAFETY: slabs in the table are this base's.
            let block = unsafe {
                let index = random.below((*slab).capacity() as u32);
                Slab::take_if_free(slab, index)
            };
            if block.is_some() {
                return block;
            }
        }
        (0..class.slabs).find_map(|index| {
            // SAFETY: as above.
            unsafe { Slab::take(*class.table.add(index)) }
        })
    }
}

impl Class {
    /// Counts blocks that came back, and gives up slabs if there are too many.
    ///
    /// # Safety
    /// The slab must be one of `chunks`, and have as many free blocks more.
    unsafe fn freed(&mut self, chunks: &mut Chunks, slab: *mut Slab, blocks: usize) {
        self.used -= blocks;
        // SAFETY: slabs in the table are this base's; it has as many.
        unsafe {
            let mut empty = slab;
            while (*empty).available() == (*empty).capacity()
                && self.slabs > KEPT_SLABS
                && self.blocks > TOO_MANY * self.used
            {
                self.slabs -= 1;
                self.blocks -= (*empty).capacity();
                let last = *self.table.add(self.slabs);
                (*last).index = (*empty).index;
                self.table.add((*empty).index as usize).write(last);
                chunks.close(empty);
                // Another may have become empty while there were not too many.
                empty = *self.table.add(self.slabs - 1);
            }
        }
    }

    fn enlarge(&mut self) -> Option<()> {
        let room = if self.room == 0 { FIRST_ROOM } else { self.room * 2 };
        let bytes = size_of::<*mut Slab>();
        let table = map_table(room * bytes)?.cast::<*mut Slab>();
        for index in 0..self.slabs {
            // SAFETY: both tables have room for as many.
            unsafe { table.add(index).write(self.table.add(index).read()) };
        }
        if self.room > 0 {
            // SAFETY: the old table is this class's alone.
            unsafe { os::unmap(self.table.cast(), self.room * bytes) };
        }
        self.table = table;
        self.room = room;
        Some(())
    }
}

impl Base for DieHard {
    unsafe fn take(this: *mut Self, class: usize, out: &mut [*mut u8]) -> usize {
        // SAFETY: the caller owns the base; what others touch lies outside of it.
        unsafe { (*this).take_at_random(class, out) }
    }

    unsafe fn give(this: *mut Self, class: usize, blocks: &[*mut u8]) {
        // SAFETY: the caller's promise.
        unsafe {
            let base = &mut *this;
            for &block in blocks {
                if let Some(slab) = base.chunks.give(class, block) {
                    base.classes[class].freed(&mut base.chunks, slab, 1);
                }
            }
        }
    }
}

impl DieHard {
    fn take_at_random(&mut self, class: usize, out: &mut [*mut u8]) -> usize {
        self.collect();
        for (taken, place) in out.iter_mut().enumerate() {
            while (self.classes[class].used + 1) * OVER_PROVISION > self.classes[class].blocks {
                if self.grow(class).is_none() {
                    // Without memory the last free blocks have to do.
                    break;
                }
            }
            let has_free = self.classes[class].used < self.classes[class].blocks;
            match has_free.then(|| self.probe(class)).flatten() {
                Some(block) => *place = block,
                None => return taken,
            }
            self.classes[class].used += 1;
        }
        out.len()
    }
}
