//! What unwinders get for an address in a copy: the FDE that holds there, where it begins to
//! hold, and the addresses that it holds for.
#![forbid(unsafe_code)]

use crate::pc_map::PC_MAP;
use core::ops::Range;
use szc_code::layout_ref::Part;
use szc_code::pc_map::Located;
use szc_layout::arch::fde;
use szc_layout::slot::WORD_IN_FRONT;

/// Parts of a function that have FDEs, at most.
pub const MAX_PARTS: usize = 7;

/// An FDE that holds in a copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fde {
    /// The original function's.
    Original,
    /// The copy's own, whose frame has another size, at this address.
    Copied(usize),
    /// One of code that has no original, at this address.
    Front(usize),
}

/// The answer for an address.
pub struct Answer<'a> {
    /// What it belongs to.
    pub located: Located<'a>,
    /// The FDE that holds there.
    pub fde: Fde,
    /// Addresses that it holds for, from where it begins to hold.
    pub range: Range<usize>,
    /// Which part of the function that is, below [`MAX_PARTS`]: always the same for an address in a
    /// layout.
    pub part: usize,
}

/// The answer for an address, if it lies in a copy or in a stub of any image.
pub fn answer(address: usize) -> Option<Answer<'static>> {
    let located = PC_MAP.locate(address)?;
    let (fde, range, part) = of_part(&located, address);
    Some(Answer { located, fde, range, part })
}

fn of_part(located: &Located<'_>, address: usize) -> (Fde, Range<usize>, usize) {
    let (layout, function) = (located.layout, located.function);
    let whole = layout.range(function, located.part);
    let front = |rules: usize| Fde::Front(layout.image.fdes_in_front() + rules);
    match located.part {
        Part::Stub => (front(fde::STUB_AT), whole, 0),
        Part::FullCheck => (front(fde::FRONT_AT), whole, 1),
        Part::Clone => (Fde::Original, whole, 2),
        Part::Slot => {
            let (slot, origin) = (layout.image.slot(function), layout.origin(function));
            let body = origin + slot.body as usize;
            let has_own = slot.fde_bytes() > 0;
            // The answer for an address is always the same, so it cannot depend on whether the
            // copy's FDE is written already. Up to the end of the hot-patch point the stack is
            // where it is in the original.
            let own = if has_own { body + slot.hot_patch_bytes() as usize } else { whole.end };
            if address >= own {
                return (Fde::Copied(layout.fde(function)), body..whole.end, 6);
            }
            if address >= body {
                return (Fde::Original, body..own, 5);
            }
            let at = |place: i32| origin.wrapping_add_signed(place as isize);
            let behind = slot.front().map_or(body, at);
            if address >= behind {
                return (front(fde::FRONT_AT), behind..body, 4);
            }
            let pushes = slot.undone_pushes().unwrap_or(0);
            (front(fde::undo_trampoline_at(pushes)), at(WORD_IN_FRONT)..behind, 3)
        }
    }
}
