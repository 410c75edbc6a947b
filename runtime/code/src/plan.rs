//! The next epoch's layout, prepared by the maintenance task while the program runs on in the
//! current one; and a place that is given back, which is filled with traps meanwhile.

use crate::copy::{complete_for_debugger, copy_unit, resolve_copies, write_missing_clone};
use crate::draw::draw;
use crate::epoch_layout::HAS_CLONE;
use crate::layout_ref::LayoutRef;
use crate::patchable_entry::PatchableEntry;
use crate::space::CodeSpace;
use szc_layout::rng::{Seeds, Stream, mix};
use szc_sys::os::{self, Shared};

/// One function in so many, of those that ran in the last epoch, is not copied ahead but waits for
/// its first call: a function that is no longer used is found out and costs nothing after a while.
const WAIT_ONE_IN: u64 = 8;

/// Everything needed to prepare an epoch while the program runs on.
pub struct Plan {
    pub(crate) space: Shared<CodeSpace>,
    pub(crate) seeds: Seeds,
    pub(crate) epoch: u64,
    /// The place of the arena that the layout takes.
    pub(crate) place: u32,
    /// Whether that place is full of traps already.
    pub(crate) trapped: bool,
    /// The place of the current layout, and the functions copied there when the plan was made.
    pub(crate) current: u32,
    pub(crate) copied_count: u32,
}

impl Plan {
    /// Address of the layout, which identifies it.
    pub fn start(&self) -> usize {
        self.space.arena.address(self.place, 0)
    }

    /// The layout, once it has been prepared.
    pub fn layout(&self) -> LayoutRef<'_> {
        self.space.layout(self.place)
    }

    /// Draws the epoch's layout and copies ahead most of the functions that the last one copied.
    /// Nothing if there is not enough memory.
    ///
    /// Works on a place of the arena that no thread knows; of the old layout it reads only what was
    /// written before the plan was made.
    ///
    /// # Safety
    /// Nobody else may prepare an epoch of the image, or publish one that was planned before.
    pub unsafe fn prepare(&self) -> Option<Prepared> {
        let place = (self.place, self.trapped);
        // SAFETY: the epoch machine has given the place to this plan alone; the caller's promise.
        let layout = unsafe { draw(&self.space, place, (self.seeds, self.epoch)) }?;
        let current = self.space.layout(self.current).drawn;
        // Which functions wait follows from their names, as where they lie does, but not from the
        // same numbers.
        let key = Stream::new(!self.seeds.code, self.epoch).bits();
        let mut bytes = 0;
        for index in 0..self.copied_count {
            let function = current.copied(index);
            let name = self.space.image.function(function).name_hash;
            if !mix(key ^ mix(name)).is_multiple_of(WAIT_ONE_IN) {
                bytes += copy_unit(layout, function).bytes;
            }
        }
        for (function, is_clone) in self.space.wanted.functions() {
            bytes += copy_unit(layout, function).bytes;
            if is_clone {
                bytes += write_missing_clone(layout, function);
            }
        }
        bytes += complete_for_debugger(layout);
        os::synchronize_cores();
        resolve_copies(layout, 0);
        for (function, is_clone) in self.space.wanted.functions() {
            if is_clone && layout.drawn.has(function, HAS_CLONE) {
                PatchableEntry::of(layout, function).retarget_checks_to_clone();
            }
        }
        self.space.wanted.age(self.epoch);
        Some(Prepared { place: self.place, bytes })
    }
}

/// A layout that waits to begin.
pub struct Prepared {
    pub(crate) place: u32,
    /// Bytes of its copies.
    pub(crate) bytes: u64,
}

/// A place that nobody can reach, which is to be filled with traps and then given back.
pub struct Unreachable {
    pub(crate) space: Shared<CodeSpace>,
    pub(crate) place: u32,
}

impl Unreachable {
    /// Fills it with traps: whoever could reach it, dies. Returns its bytes.
    pub fn poison(&self) -> usize {
        let arena = &self.space.arena;
        let start = arena.address(self.place, 0);
        // SAFETY: the epoch machine says that nobody can reach the place.
        if unsafe { arena.leave(self.place) }.is_err() {
            // Who takes the place tries again.
            return arena.place_bytes();
        }
        self.space.written(self.place, |inside, bytes| {
            // SAFETY: parts of a place that is open, which the epoch machine says nobody can reach.
            unsafe { arena.fill(start + inside, bytes) };
        });
        arena.place_bytes()
    }
}
