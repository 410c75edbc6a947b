//! The pads of an image's frames by its layouts: numbers from numbers.
#![forbid(unsafe_code)]

use std::rc::Rc;

use szc_layout::slot;

/// The frames with pads of an image, and its layouts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ImagePads {
    /// First address of each function and the number of its name, by address.
    pub functions: Rc<[(u64, u64)]>,
    /// Epoch, and what pads are drawn by, by epoch.
    pub layouts: Vec<(u64, u64)>,
    /// First addresses of all functions that can be moved, in order; none, if no frames have pads.
    pub starts: Rc<[u64]>,
}

impl ImagePads {
    /// Whether a function begins there that can be moved, in an image whose frames have pads.
    #[must_use]
    pub fn has(&self, start: u64) -> bool {
        self.starts.binary_search(&start).is_ok()
    }

    /// The pads of the function at an address, which begins at `start` or behind, by epoch. None if
    /// it never has one.
    #[must_use]
    pub fn of(&self, start: u64, address: u64) -> Vec<(u64, u32)> {
        let behind = self.functions.partition_point(|&(first, _)| first <= address);
        let function = behind.checked_sub(1).map(|index| self.functions[index]);
        let Some((_, name)) = function.filter(|&(first, _)| first >= start) else {
            return Vec::new();
        };
        let pad = |&(epoch, seed): &(u64, u64)| (epoch, slot::pad(seed, name));
        self.layouts.iter().map(pad).collect()
    }
}
