//! Callers that run on in old layouts: functions that were called before an epoch began and have
//! not returned since.
//!
//! The calls of a copy lead into its own layout, whose slots forward: a jump or two more at each
//! call, and lines of code that hold nothing else. A loop in `main`, or that of an interpreter,
//! would pay for it as long as the program runs. So when a call from an old layout asks the
//! resolver, the calls of the copy that it came from are retargeted straight into the current
//! layout, and with each further epoch into that one: a layout that nobody refers to is freed, so
//! none but the current one may be led to.
//!
//! Who is retargeted is kept twice: in a list, and as a mark in memory that is shared with a forked
//! child, whose copy of the list may be older than its copies of functions.

use crate::call_sites::{are_own, are_retargeted, retarget};
use crate::space::{CodeSpace, Places};
use szc_sys::os::{Array, Errno};

/// Most callers that are retargeted at a time.
const MAX_CALLERS: usize = 64;

/// A copy whose calls lead elsewhere than into its own layout.
#[derive(Clone, Copy)]
struct Caller {
    /// Epoch of its layout, whose place may have been used again since.
    epoch: u64,
    place: u32,
    function: u32,
}

/// The list of callers that are retargeted, those for the longest time first.
pub(crate) struct Callers {
    list: Array<Caller>,
    count: usize,
}

impl Callers {
    /// An empty list.
    pub fn new() -> Result<Self, Errno> {
        // SAFETY: records of numbers.
        Ok(Self { list: unsafe { Array::zeroed(MAX_CALLERS) }?, count: 0 })
    }

    fn is_full(&self) -> bool {
        self.count == MAX_CALLERS
    }

    /// Adds one; the list must not be full.
    fn push(&mut self, caller: Caller) {
        if let Some(free) = self.list.get_mut(self.count) {
            *free = caller;
            self.count += 1;
        }
    }

    /// Retargets the calls of an old copy that is about to be returned to straight into the current
    /// layout. Any address may be asked about: where no old copy is, nothing happens.
    #[inline(never)]
    pub fn add(&mut self, space: &CodeSpace, epochs: &Places, return_address: usize) {
        let Some((place, offset)) = space.arena.locate(return_address) else { return };
        let current = epochs.place();
        if place == current
            || !space.image.bodies_change()
            || !epochs.is_in_use(place)
            || self.is_full()
        {
            return;
        }
        let layout = space.layout(place);
        let Some(function) = layout.slot_at(offset) else { return };
        if layout.drawn.is_copied(function)
            && !are_retargeted(layout, function)
            && are_own(layout, function)
        {
            self.push(Caller { epoch: layout.drawn.epoch(), place, function });
            retarget(layout, function, space.layout(current));
        }
    }

    /// Retargets all callers into the layout that has become the current one. The longest in a full
    /// list are left to what their own layouts' slots say, and come back if they still run.
    pub fn retarget_all(&mut self, space: &CodeSpace, epochs: &Places) {
        let left = if self.is_full() { MAX_CALLERS / 2 } else { 0 };
        let count = core::mem::take(&mut self.count);
        for index in 0..count {
            // Not overwritten yet: what is kept moves to the front.
            let caller = self.list[index];
            let layout = space.layout(caller.place);
            // Where nobody can come any more there may be something else by now.
            if !epochs.is_in_use(caller.place) || layout.drawn.epoch() != caller.epoch {
                continue;
            }
            if index < left {
                retarget(layout, caller.function, layout);
            } else {
                retarget(layout, caller.function, space.layout(epochs.place()));
                self.push(caller);
            }
        }
    }

    /// Whether some of them are in the layout of an epoch.
    pub fn are_in(&self, epoch: u64) -> bool {
        self.list[..self.count].iter().any(|caller| caller.epoch == epoch)
    }

    /// In a forked child that has its own copies: finds out who is retargeted in them.
    pub fn find(&mut self, space: &CodeSpace, epochs: &Places) {
        self.count = 0;
        for place in (0..epochs.opened()).filter(|&place| epochs.is_in_use(place)) {
            let layout = space.layout(place);
            for function in (0..space.image.count()).filter(|&it| are_retargeted(layout, it)) {
                if self.is_full() {
                    retarget(layout, function, layout);
                } else {
                    self.push(Caller { epoch: layout.drawn.epoch(), place, function });
                }
            }
        }
    }
}
