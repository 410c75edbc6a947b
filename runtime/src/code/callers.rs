//! Callers that run on in old layouts: functions that were called before an epoch began and have
//! not returned since.
//!
//! The calls of a copy lead into its own layout, whose slots lead on: a jump or two more at each
//! call, and lines of code that hold nothing else. A loop in `main`, or that of an interpreter,
//! would pay for it as long as the program runs. So when a call from an old layout asks the
//! resolver, the calls of the copy that it came from are led straight into the current layout, and
//! with each further epoch into that one: a layout that nobody refers to is freed, so none but the
//! current one may be led to.
//!
//! Who is led is kept twice: in a list, and as a mark in memory that is shared with a forked child,
//! whose copy of the list may be older than its copies of functions.

use super::Code;
use crate::os::{self, Errno};

/// Most callers that are led on at a time.
const MOST: usize = 64;

/// A copy whose calls lead elsewhere than into its own layout.
#[derive(Clone, Copy)]
struct Caller {
    /// Epoch of its layout, whose place may have been used again since.
    epoch: u64,
    place: u32,
    function: u32,
}

/// The list of callers that are led on, those led for the longest time first.
pub struct Callers {
    entries: *mut Caller,
    count: usize,
}

impl Callers {
    /// An empty list.
    ///
    /// # Errors
    /// If there is no memory.
    pub fn new() -> Result<Self, Errno> {
        let entries = os::map_anonymous(MOST * size_of::<Caller>())?.cast();
        Ok(Self { entries, count: 0 })
    }

    /// Gives the memory back.
    ///
    /// # Safety
    /// Nobody may use the list any more.
    pub unsafe fn free(&self) {
        // SAFETY: the caller's promise; the mapping of `new`.
        unsafe { os::unmap(self.entries.cast(), MOST * size_of::<Caller>()) };
    }

    fn is_full(&self) -> bool {
        self.count == MOST
    }

    /// Adds one; the list must not be full.
    fn push(&mut self, caller: Caller) {
        debug_assert!(!self.is_full());
        // SAFETY: below the mapping's length.
        unsafe { self.entries.add(self.count).write(caller) };
        self.count += 1;
    }
}

impl Code {
    /// Leads the calls of an old copy that is about to be returned to straight into the current
    /// layout. Any address may be asked about: where no old copy is, nothing happens.
    #[inline(never)]
    pub(super) fn lead_caller(&mut self, return_address: usize) {
        let Some((place, offset)) = self.arena.locate(return_address) else { return };
        let current = self.current_place();
        if place == current
            || !self.image.bodies_change()
            || !self.epochs.is_in_use(place)
            || self.callers.is_full()
        {
            return;
        }
        let (new, region) = (*self.region(current), *self.region(place));
        let Some(function) = region.function_at(&self.image, offset) else { return };
        if region.is_copied(function) && !region.is_led(&self.arena, function) {
            self.callers.push(Caller { epoch: region.epoch(), place, function });
            region.lead_calls(&self.image, &self.arena, function, &new);
        }
    }

    /// Leads all callers into the layout that has become the current one. The longest led of a full
    /// list are left to what their own layouts' slots say, and come back if they still run.
    pub(super) fn lead_callers_on(&mut self) {
        let left = if self.callers.is_full() { MOST / 2 } else { 0 };
        let (new, count) = (*self.region(self.current_place()), self.callers.count);
        self.callers.count = 0;
        for index in 0..count {
            // SAFETY: written before, and not overwritten yet: what is kept moves to the front.
            let caller = unsafe { self.callers.entries.add(index).read() };
            let region = *self.region(caller.place);
            // Where nobody can come any more there may be something else by now.
            if !self.epochs.is_in_use(caller.place) || region.epoch() != caller.epoch {
                continue;
            }
            if index < left {
                region.lead_calls(&self.image, &self.arena, caller.function, &region);
            } else {
                region.lead_calls(&self.image, &self.arena, caller.function, &new);
                self.callers.push(caller);
            }
        }
    }

    /// In a forked child that has its own copies: finds out who is led on in them.
    pub(super) fn find_callers(&mut self) {
        self.callers.count = 0;
        for place in 0..self.epochs.opened() {
            if !self.epochs.is_in_use(place) {
                continue;
            }
            let region = *self.region(place);
            for function in (0..self.image.count()).filter(|&it| region.is_led(&self.arena, it)) {
                if self.callers.is_full() {
                    region.lead_calls(&self.image, &self.arena, function, &region);
                } else {
                    self.callers.push(Caller { epoch: region.epoch(), place, function });
                }
            }
        }
    }
}
