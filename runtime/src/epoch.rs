//! The sequence of epochs: which place of the arena each takes, and when there is none left.
//!
//! A pure state machine. Places are taken in order, so that the place of epoch k depends on k alone.

/// State of the sequence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Epochs {
    places: u32,
    current: u64,
}

/// Every place of the arena holds copies that may still run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Exhausted;

impl Epochs {
    /// Epoch 0 of an arena with this many places (at least 1).
    pub const fn first(places: u32) -> Self {
        Self { places, current: 0 }
    }

    /// Number of the current epoch.
    pub fn current(&self) -> u64 {
        self.current
    }

    /// Place of an epoch.
    pub fn place_of(&self, epoch: u64) -> u32 {
        (epoch % u64::from(self.places)) as u32
    }

    /// The next epoch and its place, if that place is free.
    pub fn next(&self) -> Result<(u64, u32), Exhausted> {
        let next = self.current + 1;
        if next < u64::from(self.places) { Ok((next, self.place_of(next))) } else { Err(Exhausted) }
    }

    /// Makes the next epoch the current one.
    pub fn advance(&mut self) {
        self.current += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn epochs_take_places_in_order_until_all_are_kept() {
        let mut epochs = Epochs::first(3);
        assert_eq!((epochs.current(), epochs.place_of(0)), (0, 0));
        assert_eq!(epochs.next(), Ok((1, 1)));
        epochs.advance();
        assert_eq!(epochs.next(), Ok((2, 2)));
        epochs.advance();
        assert_eq!(epochs.next(), Err(Exhausted));
        assert_eq!(epochs.current(), 2);
    }
}
