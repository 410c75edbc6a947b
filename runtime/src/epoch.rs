//! The sequence of epochs: which place of the arena each takes, and when a place is free again.
//!
//! A pure state machine. Places are taken in order, so that the place of epoch k depends on k alone
//! until the first place is used again; from then on free places are taken in turn.
//!
//! ```text
//! Fresh ─▶ Current ─▶ Kept ─▶ Candidate ─▶ Freeing ─▶ Free ─▶ Current …
//!                      ▲          │ a reference was found
//!                      └──────────┘
//! ```
#![forbid(unsafe_code)]

/// What a place of the arena is used for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Use {
    /// Nothing was ever there. (All zero bits: the state of new memory.)
    #[allow(dead_code, reason = "never written, only found in new memory")]
    Fresh = 0,
    /// The layout of the current epoch.
    Current,
    /// An old layout whose copies may still run.
    Kept,
    /// An old layout to which no reference has been found in the cycle that is under way.
    Candidate,
    /// Nobody can reach it any more; it is being filled with traps.
    Freeing,
    /// May be used again.
    Free,
}

/// A layout that runs, one that is prepared, and one whose last threads are leaving.
pub const FEWEST_PLACES: u32 = 3;

/// State of the sequence.
#[derive(Debug)]
pub struct Epochs<'a> {
    places: &'a mut [Use],
    current: u64,
    place: u32,
    /// Places that have been used: all below this one.
    opened: u32,
    /// Places to get along with, if enough of them become free in time.
    preferred: u32,
    /// Places that are kept or candidates.
    kept: u32,
}

/// Every place of the arena holds copies that may still run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Exhausted;

impl<'a> Epochs<'a> {
    /// Epoch 0 of an arena with these places (at least one, all fresh), of which as few as `preferred` are
    /// to be used if the others become free in time.
    pub fn first(places: &'a mut [Use], preferred: u32) -> Self {
        places[0] = Use::Current;
        Self { places, current: 0, place: 0, opened: 1, preferred, kept: 0 }
    }

    /// The memory of the places' uses, for whoever gives it back.
    pub fn into_places(self) -> &'a mut [Use] {
        self.places
    }

    /// Place of the current epoch.
    pub fn place(&self) -> u32 {
        self.place
    }

    /// Number of places that have been used: all below that one.
    pub fn opened(&self) -> u32 {
        self.opened
    }

    /// Places of old layouts that may still run.
    pub fn kept(&self) -> u32 {
        self.kept
    }

    /// Whether copies at a place may run.
    pub fn is_in_use(&self, place: u32) -> bool {
        matches!(self.places.get(place as usize), Some(Use::Current | Use::Kept | Use::Candidate))
    }

    /// Whether no reference to a place has been found in the cycle that is under way.
    pub fn is_candidate(&self, place: u32) -> bool {
        self.places.get(place as usize) == Some(&Use::Candidate)
    }

    /// The next epoch and its place.
    ///
    /// # Errors
    /// [`Exhausted`] if no place is free.
    pub fn next(&self) -> Result<(u64, u32), Exhausted> {
        let free = || {
            let behind = self.place + 1..self.opened;
            behind.chain(0..self.place).find(|&place| self.places[place as usize] == Use::Free)
        };
        let fresh = || ((self.opened as usize) < self.places.len()).then_some(self.opened);
        let place = if self.opened < self.preferred {
            fresh().or_else(free)
        } else {
            free().or_else(fresh)
        };
        place.map(|place| (self.current + 1, place)).ok_or(Exhausted)
    }

    /// Makes the epoch that [`Self::next`] gave the current one.
    pub fn advance(&mut self, place: u32) {
        self.places[self.place as usize] = Use::Kept;
        self.places[place as usize] = Use::Current;
        self.kept += 1;
        self.current += 1;
        self.place = place;
        if place >= self.opened && self.opened >= self.preferred && !self.is_hurried() {
            // Places do not become free in time: half as many more at once, rather than one now and then.
            self.preferred += self.preferred / 2;
        }
        self.opened = self.opened.max(place + 1);
    }

    /// Whether it is time to look for places that can be freed.
    pub fn wants_cycle(&self) -> bool {
        self.kept > 0 && self.kept >= (self.preferred / 2).min(self.places.len() as u32 - 1)
    }

    /// Whether as few places are to be used as can be.
    pub fn is_hurried(&self) -> bool {
        self.preferred <= FEWEST_PLACES
    }

    /// Makes all old layouts candidates. Returns how many there are.
    pub fn begin_cycle(&mut self) -> u32 {
        self.replace(Use::Kept, Use::Candidate)
    }

    /// Keeps a place to which a reference was found.
    pub fn keep(&mut self, place: u32) {
        if let Some(state @ Use::Candidate) = self.places.get_mut(place as usize) {
            *state = Use::Kept;
        }
    }

    /// Ends a cycle without freeing anything.
    pub fn abandon_cycle(&mut self) {
        self.replace(Use::Candidate, Use::Kept);
    }

    /// Ends a cycle: what is a candidate still cannot be reached any more. Returns how many these are.
    pub fn end_cycle(&mut self) -> u32 {
        let freed = self.replace(Use::Candidate, Use::Freeing);
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
        }
    }

    /// In a forked child, which has only the thread that forked and no cycle under way.
    pub fn become_child(&mut self) {
        self.replace(Use::Candidate, Use::Kept);
        self.replace(Use::Freeing, Use::Free);
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
mod tests {
    use super::*;

    fn step(epochs: &mut Epochs<'_>) -> Option<u32> {
        let (_, place) = epochs.next().ok()?;
        epochs.advance(place);
        Some(place)
    }

    #[test]
    fn epochs_take_places_in_order_until_all_are_kept() {
        let mut places = [Use::Fresh; 3];
        let mut epochs = Epochs::first(&mut places, 3);
        assert_eq!((epochs.current, epochs.place()), (0, 0));
        assert_eq!((step(&mut epochs), step(&mut epochs)), (Some(1), Some(2)));
        assert_eq!(epochs.next(), Err(Exhausted));
        assert_eq!((epochs.current, epochs.kept(), epochs.opened()), (2, 2, 3));
    }

    #[test]
    fn a_place_without_references_is_used_again_and_one_with_references_is_not() {
        let mut places = [Use::Fresh; 3];
        let mut epochs = Epochs::first(&mut places, 3);
        step(&mut epochs);
        step(&mut epochs);
        assert!(epochs.wants_cycle());
        assert_eq!(epochs.begin_cycle(), 2);
        assert!(epochs.is_in_use(0) && epochs.is_in_use(1));
        assert_eq!(epochs.next(), Err(Exhausted), "candidates are in use");
        epochs.keep(0);
        assert_eq!(epochs.end_cycle(), 1);
        assert!(epochs.is_in_use(0) && !epochs.is_in_use(1));
        assert_eq!(epochs.next(), Err(Exhausted), "not before it was filled with traps");
        assert_eq!(epochs.unreachable(), Some(1));
        epochs.free(1);
        assert_eq!((epochs.unreachable(), epochs.next()), (None, Ok((3, 1))));
        assert_eq!((step(&mut epochs), epochs.kept()), (Some(1), 2));
    }

    #[test]
    fn few_places_are_used_in_turn_if_they_become_free_in_time() {
        let mut places = [Use::Fresh; 100];
        let mut epochs = Epochs::first(&mut places, 4);
        let mut taken = Vec::new();
        for _ in 0..12 {
            taken.extend(step(&mut epochs));
            if epochs.wants_cycle() {
                epochs.begin_cycle();
                epochs.end_cycle();
                while let Some(place) = epochs.unreachable() {
                    epochs.free(place);
                }
            }
        }
        assert_eq!(taken, [1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3, 0]);
        assert_eq!(epochs.opened(), 4);
        // Without reclaiming the others are used, too.
        while step(&mut epochs).is_some() {}
        assert_eq!(epochs.opened(), 100);
    }

    #[test]
    fn where_places_do_not_become_free_in_time_more_are_used_at_once() {
        let mut places = [Use::Fresh; 100];
        let mut epochs = Epochs::first(&mut places, 8);
        while epochs.opened() < 9 {
            step(&mut epochs);
        }
        for _ in 0..20 {
            epochs.begin_cycle();
            epochs.end_cycle();
            while let Some(place) = epochs.unreachable() {
                epochs.free(place);
            }
            step(&mut epochs);
        }
        assert_eq!(epochs.opened(), 12);
    }

    #[test]
    fn a_child_keeps_what_its_parent_was_looking_at_and_frees_what_its_parent_was_freeing() {
        let mut places = [Use::Fresh; 5];
        let mut epochs = Epochs::first(&mut places, 5);
        step(&mut epochs);
        epochs.begin_cycle();
        epochs.end_cycle();
        step(&mut epochs);
        step(&mut epochs);
        epochs.begin_cycle();
        epochs.become_child();
        assert_eq!(epochs.places, [Use::Free, Use::Kept, Use::Kept, Use::Current, Use::Fresh]);
        assert_eq!(epochs.kept(), 2);
    }
}
