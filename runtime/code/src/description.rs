//! What a profiler outside of the process can read of copies: [`szc_abi::copies`].
#![forbid(unsafe_code)]

use crate::arena::Arena;
use crate::epoch_layout::{EpochLayout, EpochLayouts};
use crate::image::Image;
use crate::pc_map::PcMap;
use crate::space::CodeSpace;
use core::mem::offset_of;
use core::sync::atomic::{AtomicUsize, Ordering};
use szc_abi::Movable;
use szc_abi::copies::{
    self, COUNT_WORD, CopiesDescription, DESCRIPTION_WORD, DIRECTORY_MAGIC, DIRECTORY_WORDS,
    IMAGES_WORD,
};
use szc_layout::arch::patch::{RED_ZONE_BYTES, STUB_BYTES, STUB_CALL_AT};
use szc_layout::arch::stack_check::CHECK_BYTES;
use szc_sys::arch;
use szc_sys::os::Shared;

/// What leads a profiler to the images of a process.
#[repr(C)]
pub struct Directory {
    _magic: [u64; 2],
    count: AtomicUsize,
    images: AtomicUsize,
    description: AtomicUsize,
}

const _: () = assert!(
    size_of::<Directory>() == DIRECTORY_WORDS * 8
        && offset_of!(Directory, count) == COUNT_WORD * 8
        && offset_of!(Directory, images) == IMAGES_WORD * 8
        && offset_of!(Directory, description) == DESCRIPTION_WORD * 8
);

const _: () = assert!(
    STUB_CALL_AT as u64 == copies::STUB_CALL_AT && RED_ZONE_BYTES as u64 == copies::RED_ZONE_BYTES
);

impl Directory {
    /// One that leads nowhere yet.
    pub const fn empty() -> Self {
        Self {
            _magic: DIRECTORY_MAGIC,
            count: AtomicUsize::new(0),
            images: AtomicUsize::new(0),
            description: AtomicUsize::new(0),
        }
    }

    /// Makes it lead to the images of a PC map.
    pub fn lead_to(&self, map: &'static PcMap) {
        let (count, images) = map.addresses();
        self.images.store(images, Ordering::Relaxed);
        let at = Shared::<CodeSpace>::VALUE_AT + offset_of!(CodeSpace, description);
        self.description.store(at, Ordering::Relaxed);
        // Release: who finds the number of images finds them.
        self.count.store(count, Ordering::Release);
    }
}

/// The description of an image and its copies.
pub(crate) fn describe(image: &Image, arena: &Arena, layouts: &EpochLayouts) -> CopiesDescription {
    let (start, bytes) = arena.range();
    let clones = image.clones();
    CopiesDescription {
        image: image.address(0) as u64,
        arena: start as u64,
        arena_bytes: bytes as u64,
        place_bytes: arena.place_bytes() as u64,
        functions: u64::from(image.count()),
        records: image.records() as u64,
        record_bytes: size_of::<Movable>() as u64,
        record_start_at: offset_of!(Movable, start) as u64,
        layouts: layouts.address() as u64,
        layout_bytes: size_of::<EpochLayout>() as u64,
        layout_epoch_at: EpochLayout::EPOCH_AT as u64,
        layout_arrays_at: EpochLayout::ARRAYS_AT as u64,
        clones: clones.address().unwrap_or(0) as u64,
        checks_start: u64::from(clones.checks_start()),
        clones_start: u64::from(clones.start()),
        clones_end: u64::from(clones.end()),
        check_bytes: CHECK_BYTES as u64,
        stub_bytes: STUB_BYTES as u64,
        record_name_hash_at: offset_of!(Movable, name_hash) as u64,
        layout_pad_seed_at: EpochLayout::PAD_SEED_AT as u64,
        pad_state_offset: i64::from(arch::pads::state_offset()).cast_unsigned(),
    }
}
