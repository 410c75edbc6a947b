//! The steps of a GC cycle over all images, whoever finds out what is referred to.

use crate::images::Images;
use crate::state::CODE;
use core::ops::Range;
use szc_code::code::Code;

/// Most threads of a program whose copies are freed.
pub const MAX_THREADS: usize = 2048;

/// Room for the names of so many threads: at most 32 bytes each.
pub const DIRECTORY_BYTES: usize = MAX_THREADS * 32;

/// Whether it is time to find copies that can be freed.
pub fn wants_cycle(images: &Images) -> bool {
    images.all().any(Code::wants_cycle)
}

/// Whether some image needs places at once.
pub fn is_hurried(images: &Images) -> bool {
    images.all().any(Code::is_hurried)
}

/// Begins a cycle. Writes where there are copies, and returns in how many ranges; nothing if none
/// can be freed.
pub fn begin_cycle(
    images: &mut Images,
    extents: &mut [Range<usize>],
    sees_labels: bool,
) -> Option<usize> {
    let (mut count, mut all_white) = (0, 0);
    for code in images.all_mut() {
        let Some((white, extent)) = code.begin_cycle(sees_labels) else { continue };
        all_white += white;
        *extents.get_mut(count)? = extent;
        count += 1;
    }
    (all_white > 0).then_some(count)
}

/// Ends a cycle, and frees what is white still. Whether that may be: a child that still shares
/// copies may be inside one that its parent has left.
pub fn end_cycle(images: &mut Images, separate: impl Fn() -> bool) -> bool {
    let separate = separate();
    if separate {
        images.all_mut().for_each(Code::end_cycle);
    }
    separate
}

/// Ends a cycle without freeing anything.
pub fn abandon_cycle(images: &mut Images) {
    images.all_mut().for_each(Code::abandon_cycle);
}

/// Marks the layout at an address to which there is a reference.
pub fn mark(address: usize) {
    CODE.with(|images| images.all_mut().any(|code| code.mark(address)));
}
