//! What is known of an image's copies without a lock: by unwinders on any thread, and by whoever
//! prepares the next layout.

use crate::arena::Arena;
use crate::epoch_layout::{EpochLayouts, HAS_CLONE};
use crate::image::Image;
use crate::layout_ref::LayoutRef;
use crate::wanted::Wanted;
use szc_abi::copies::CopiesDescription;
use szc_layout::arch::patch::STUB_BYTES;
use szc_layout::epoch::{Epochs, Use};
use szc_sys::os::Array;

/// The sequence of an image's epochs.
pub(crate) type Places = Epochs<Array<Use>>;

/// An image, memory for its copies, and its layouts. Stays for as long as anybody has a use for it.
pub struct CodeSpace {
    /// The image.
    pub image: Image,
    /// Memory for its copies.
    pub arena: Arena,
    /// Its layouts, by place of the arena.
    pub layouts: EpochLayouts,
    /// The pattern of stubs, whose unwind information holds for all of them.
    pub stub_pattern: usize,
    /// Functions that forked children were the first to call.
    pub(crate) wanted: Wanted,
    /// What a profiler reads of it from outside.
    pub(crate) description: CopiesDescription,
}

impl CodeSpace {
    /// The layout at a place, which must have been drawn.
    #[inline]
    pub fn layout(&self, place: u32) -> LayoutRef<'_> {
        LayoutRef { image: &self.image, arena: &self.arena, drawn: self.layouts.at(place) }
    }

    /// Calls `part` with the offset in its place and the bytes of each part of a layout that was
    /// written: all but the room of unpadded clones that nobody has needed.
    pub(crate) fn written(&self, place: u32, mut part: impl FnMut(usize, usize)) {
        let (image, drawn) = (&self.image, self.layouts.at(place));
        part(0, drawn.slots_bytes() as usize);
        let behind = image.clones().first() as usize;
        part(behind, image.clones().start() as usize - behind);
        for function in (0..image.count()).filter(|&function| drawn.has(function, HAS_CLONE)) {
            let start = image.clones().start_of(function) as usize;
            part(start, image.slot(function).clone_bytes() as usize);
        }
        let stubs_bytes = image.count() as usize * STUB_BYTES;
        part(self.arena.place_bytes() - stubs_bytes, stubs_bytes);
    }
}
