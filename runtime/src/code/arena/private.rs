//! Ordinary memory in front of an arena, within reach of its image: pointers, and headers for
//! unwinders.

use super::Arena;

/// Bytes of ordinary memory in front of an arena.
#[derive(Clone, Copy)]
pub struct Private {
    /// What is wanted whatever the number of places.
    pub bytes: usize,
    /// What is wanted for each place: the headers of its functions.
    pub header_bytes: usize,
}

impl Arena {
    /// Memory for the headers of a place. It is accessible from the first time that the place is
    /// opened on, even while the place is closed, and no memory is taken before it is written.
    pub fn headers(&self, place: u32) -> *mut u8 {
        let all = self.places() as usize * self.header_bytes;
        let view = self.executable.wrapping_sub(self.around.front_bytes);
        view.wrapping_sub(all).wrapping_add(place as usize * self.header_bytes)
    }
}
