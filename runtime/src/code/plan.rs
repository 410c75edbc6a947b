//! The next epoch's layout, prepared by the maintenance task while the program runs on in the
//! current one.

use super::arena::Arena;
use super::image::Image;
use super::region::Region;
use crate::os;
use crate::rng::Stream;
use crate::symbols;

/// One function in so many, of those that ran in the last epoch, is not copied ahead but waits for
/// its first call: a function that is no longer used is found out and costs nothing after a while.
const WAIT_ONE_IN: u32 = 8;

/// Everything needed to prepare an epoch while the program runs on.
pub struct Plan {
    pub(super) image: Image,
    pub(super) arena: Arena,
    pub(super) seed: u64,
    pub(super) epoch: u64,
    pub(super) place: u32,
    /// Whether that place is full of traps already.
    pub(super) trapped: bool,
    /// The current layout.
    pub(super) old: Region,
    /// What was at the place before.
    pub(super) last: Region,
}

impl Plan {
    /// Draws the epoch's layout and copies ahead most of the functions that the last one copied.
    /// Nothing if there is not enough memory.
    ///
    /// Works on a place of the arena that no thread knows; of the old region it reads only what was
    /// written before the plan was made.
    pub fn prepare(&self) -> Option<Prepared> {
        let Self { image, arena, seed, epoch, .. } = self;
        let place = (self.place, self.trapped);
        let mut region = Region::draw(image, arena, Some(&self.last), place, *seed, *epoch)?;
        // Which functions wait must not change where any function lies: a stream of its own.
        let mut waits = Stream::new(!self.seed, self.epoch);
        let mut bytes = 0;
        for index in 0..self.old.copied_count() {
            if waits.below(WAIT_ONE_IN) != 0 {
                let function = self.old.copied(index);
                bytes += region.copy_unit(&self.image, &self.arena, function).1;
            }
        }
        bytes += region.complete_for_debugger(&self.image, &self.arena);
        os::synchronize_cores();
        region.open_copies(&self.image, &self.arena, 0);
        symbols::announce(&self.image, &self.arena, &region);
        Some(Prepared { region, bytes })
    }
}

/// A layout that waits to begin.
pub struct Prepared {
    pub(super) region: Region,
    /// Bytes of its copies.
    pub(super) bytes: u64,
}

impl Prepared {
    /// Gives up what `plan` made, which does not begin.
    ///
    /// # Safety
    /// It must never have been published.
    pub unsafe fn free(self, plan: &Plan) {
        symbols::withdraw(plan.arena.address(plan.place, 0));
        // Otherwise it lies in the memory of the layout that was there before.
        if plan.last.is_nowhere() {
            // SAFETY: nobody knows the layout.
            unsafe { self.region.free() };
        }
    }
}
