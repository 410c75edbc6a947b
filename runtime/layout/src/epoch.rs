//! The sequence of epochs: which place of the arena each takes, and when a place is free again.
//!
//! A pure state machine. Places are taken in order, so that the place of epoch k depends on k alone
//! until the first place is used again; from then on free places are taken in turn.
//!
//! ```text
//! Fresh ─▶ Current ─▶ Kept ─▶ White ─▶ Freeing ─▶ Free ─▶ Current …
//!   ▲                  ▲        │ a reference was found  │
//!   │                  └────────┘                        │ there are more than are needed
//!   └──────────────────────────────────────────────────────┘
//! ```
//!
//! In a forked child free places become bare.
#![forbid(unsafe_code)]

use core::ops::{DerefMut, Range};

/// What a place of the arena is used for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Use {
    /// Nothing is there. (All zero bits: the state of new memory.)
    Fresh = 0,
    /// The layout of the current epoch.
    Current,
    /// An old layout whose copies may still run.
    Kept,
    /// An old layout to which no reference has been found in the cycle that is under way.
    White,
    /// Nobody can reach it any more; it is being filled with traps.
    Freeing,
    /// May be used again, and is full of traps.
    Free,
    /// May be used again, and nothing is there.
    Bare,
}

impl Use {
    fn can_be_taken(self) -> bool {
        matches!(self, Self::Free | Self::Bare)
    }
}

/// A layout that runs, one that is prepared, and one whose last threads are leaving.
pub const MIN_PLACES: u32 = 3;

/// Epochs in which fewer places were enough, for each place, before there are fewer.
const EPOCHS_WATCHED_FOR_EACH: u64 = 4;

/// State of the sequence.
#[derive(Debug)]
pub struct Epochs<P> {
    places: P,
    current: u64,
    place: u32,
    /// Places that are used: all below this one.
    opened: u32,
    /// The most that were used at a time.
    most_opened: u32,
    /// Places to get along with, if enough of them become free in time.
    preferred: u32,
    /// As few as that may become.
    min_preferred: u32,
    /// Places that are kept or white.
    kept: u32,
    /// Places that cannot be taken: neither fresh nor free.
    busy: u32,
    /// The most that were since the epoch `watched_since`.
    most_busy: u32,
    watched_since: u64,
}

/// Every place of the arena holds copies that may still run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Exhausted;

impl<P: DerefMut<Target = [Use]>> Epochs<P> {
    /// Epoch 0 of an arena with these places (at least one, all fresh), of which as few as
    /// `preferred` are to be used if the others become free in time.
    pub fn first(mut places: P, preferred: u32) -> Self {
        places[0] = Use::Current;
        Self {
            places,
            current: 0,
            place: 0,
            opened: 1,
            most_opened: 1,
            preferred,
            min_preferred: preferred,
            kept: 0,
            busy: 1,
            most_busy: 1,
            watched_since: 0,
        }
    }

    /// Place of the current epoch.
    pub fn place(&self) -> u32 {
        self.place
    }

    /// Number of places that are used: all below that one.
    pub fn opened(&self) -> u32 {
        self.opened
    }

    /// The most places that were used at a time.
    pub fn most_opened(&self) -> u32 {
        self.most_opened
    }

    /// Places of old layouts that may still run.
    pub fn kept(&self) -> u32 {
        self.kept
    }

    /// Whether copies at a place may run.
    pub fn is_in_use(&self, place: u32) -> bool {
        matches!(self.places.get(place as usize), Some(Use::Current | Use::Kept | Use::White))
    }

    /// Whether no reference to a place has been found in the cycle that is under way.
    pub fn is_white(&self, place: u32) -> bool {
        self.places.get(place as usize) == Some(&Use::White)
    }

    /// The next epoch and its place.
    ///
    /// # Errors
    /// [`Exhausted`] if no place is free.
    pub fn next(&self) -> Result<(u64, u32), Exhausted> {
        // Those that there are too many of last, so that they can go.
        let few = self.opened.min(self.preferred);
        let free = || {
            let in_turn = (self.place + 1..few).chain(0..few).chain(few..self.opened);
            in_turn.into_iter().find(|&place| self.places[place as usize].can_be_taken())
        };
        let fresh = || ((self.opened as usize) < self.places.len()).then_some(self.opened);
        let place = if self.opened < self.preferred {
            fresh().or_else(free)
        } else {
            free().or_else(fresh)
        };
        place.map(|place| (self.current + 1, place)).ok_or(Exhausted)
    }

    /// Whether a place that can be taken is full of traps. It is about to be written to: this is
    /// not said of it again.
    pub fn take_traps(&mut self, place: u32) -> bool {
        let state = &mut self.places[place as usize];
        let trapped = *state == Use::Free;
        if trapped {
            *state = Use::Bare;
        }
        trapped
    }

    /// Places that can be taken, those included that have never been used.
    pub fn left(&self) -> u32 {
        self.places.len() as u32 - self.busy
    }

    /// The same among those to get along with.
    pub fn preferred_left(&self) -> u32 {
        self.preferred.saturating_sub(self.busy).min(self.left())
    }

    /// Makes the epoch that [`Self::next`] gave the current one.
    pub fn advance(&mut self, place: u32) {
        self.places[self.place as usize] = Use::Kept;
        self.places[place as usize] = Use::Current;
        self.kept += 1;
        self.busy += 1;
        self.most_busy = self.most_busy.max(self.busy);
        self.current += 1;
        self.place = place;
        if place >= self.opened && self.opened >= self.preferred && !self.is_hurried() {
            // Places do not become free in time: half as many more at once, rather than one now and
            // then.
            self.preferred += self.preferred / 2;
            self.watch();
        }
        self.opened = self.opened.max(place + 1);
        self.most_opened = self.most_opened.max(self.opened);
        self.prefer_fewer();
    }

    fn watch(&mut self) {
        self.most_busy = self.busy;
        self.watched_since = self.current;
    }

    /// Takes back that more places are preferred if fewer have been enough for long: a machine that
    /// was busy for a moment, or a thread that was never quiescent, is no reason to keep memory for
    /// ever.
    fn prefer_fewer(&mut self) {
        let watched = self.current - self.watched_since;
        if self.preferred == self.min_preferred
            || watched < EPOCHS_WATCHED_FOR_EACH * u64::from(self.preferred)
        {
            return;
        }
        let fewer = (self.preferred / 3 * 2).max(self.min_preferred);
        // What is taken while a cycle is under way does not depend on when cycles begin.
        let during_a_cycle = self.most_busy.saturating_sub(Self::begin_of_cycles(self.preferred));
        if Self::begin_of_cycles(fewer) + during_a_cycle <= fewer - fewer / 8 {
            self.preferred = fewer;
        }
        self.watch();
    }

    /// Old layouts with which a cycle begins.
    fn begin_of_cycles(preferred: u32) -> u32 {
        preferred / 2
    }

    /// Whether it is time to look for places that can be freed.
    pub fn wants_cycle(&self) -> bool {
        let many = Self::begin_of_cycles(self.preferred).min(self.places.len() as u32 - 1);
        self.kept > 0 && self.kept >= many
    }

    /// Whether as few places are to be used as can be.
    pub fn is_hurried(&self) -> bool {
        self.preferred <= MIN_PLACES
    }

    /// Makes all old layouts white. Returns how many there are.
    pub fn begin_cycle(&mut self) -> u32 {
        self.replace(Use::Kept, Use::White)
    }

    /// Marks a place to which a reference was found.
    pub fn mark(&mut self, place: u32) {
        if let Some(state @ Use::White) = self.places.get_mut(place as usize) {
            *state = Use::Kept;
        }
    }

    /// Ends a cycle without freeing anything.
    pub fn abandon_cycle(&mut self) {
        self.replace(Use::White, Use::Kept);
    }

    /// Ends a cycle: what is white still cannot be reached any more. Returns how many these
    /// are.
    pub fn end_cycle(&mut self) -> u32 {
        let freed = self.replace(Use::White, Use::Freeing);
        self.kept -= freed;
        freed
    }

    /// A place that nobody can reach and that is to be given to [`Self::free`].
    pub fn unreachable(&self) -> Option<u32> {
        self.places[..self.opened as usize]
            .iter()
            .position(|&state| state == Use::Freeing)
            .map(|place| place as u32)
    }

    /// Gives a place back.
    pub fn free(&mut self, place: u32) {
        if let Some(state @ Use::Freeing) = self.places.get_mut(place as usize) {
            *state = Use::Free;
            self.busy -= 1;
        }
    }

    /// The last places, if they are free and more than are preferred.
    pub fn surplus(&self) -> Range<u32> {
        // Where few are preferred, more are used now and then: they would come and go.
        let few = if self.is_hurried() { self.opened } else { self.preferred.min(self.opened) };
        let beyond = &self.places[few as usize..self.opened as usize];
        let free = beyond.iter().rev().take_while(|place| place.can_be_taken()).count();
        self.opened - free as u32..self.opened
    }

    /// Forgets the places of [`Self::surplus`], whose memory was given back.
    pub fn close(&mut self, surplus: Range<u32>) {
        self.places[surplus.start as usize..surplus.end as usize].fill(Use::Fresh);
        self.opened = surplus.start;
    }

    /// In a forked child, which has only the thread that forked and no cycle under way, and no
    /// memory but for what may run. The parent may have been giving places back at that moment, so
    /// everything is counted anew.
    pub fn become_child(&mut self) {
        self.kept = 0;
        for place in 0..self.opened {
            let in_use = self.is_in_use(place);
            let state = &mut self.places[place as usize];
            let of_child = match *state {
                Use::Current => continue,
                _ if in_use => Use::Kept,
                _ => Use::Bare,
            };
            self.kept += u32::from(in_use);
            // What is as it was stays the parent's memory.
            if *state != of_child {
                *state = of_child;
            }
        }
        self.busy = self.kept + 1;
    }

    fn replace(&mut self, from: Use, to: Use) -> u32 {
        let mut count = 0;
        for state in &mut self.places[..self.opened as usize] {
            if *state == from {
                *state = to;
                count += 1;
            }
        }
        count
    }
}

#[cfg(test)]
mod model;
#[cfg(test)]
mod tests;
