//! Begins and ends code randomization of an image, and registers it with unwinders, debuggers and
//! profilers.

use crate::exports::entries::{resolver, stub_pattern};
use crate::reclaim::blocked::{self, Blocked};
use crate::{symbols, unwind};
use core::ffi::CStr;
use szc_abi::Header;
use szc_code::arena::Unavailable;
use szc_code::budget::Budget;
use szc_code::code::Code;
use szc_code::loaded_image::LoadedImage;
use szc_code::refused::Refused;
use szc_code::setup::{Request, prepare};
use szc_code::table::MappedTable;
use szc_layout::rng::Seeds;
use szc_layout::slot::CopyShape;

/// Draws the first layout of the image at `base`, which was loaded from `file`, and registers both;
/// nothing of the image changes yet. `budget` is as for [`prepare`]. All signals must be blocked.
///
/// # Errors
/// Why the functions of the image are pinned, all of them. Nothing is registered then.
///
/// # Safety
/// An image with this table must be loaded at `base`, and no thread run its code yet.
pub unsafe fn begin(
    (base, file): (usize, &CStr),
    table: MappedTable,
    seeds: Seeds,
    shape: CopyShape,
    budget: impl FnMut(Option<Unavailable>) -> Option<Budget>,
) -> Result<Code, Refused> {
    if table.table().header().flags & Header::FLAG_SWITCHES_STACKS != 0 {
        blocked::block(Blocked::Switches);
    }
    // SAFETY: the caller's promise. An image without headers has no table.
    let loaded = unsafe { LoadedImage::at(base) }.ok_or(Refused::NothingMovable)?;
    let shape = symbols::shape(shape);
    let request = Request {
        loaded,
        file,
        seeds,
        shape,
        audience: symbols::audience(table.table(), shape.frames, file),
        side_memory: unwind::side_memory(base, table.table())?,
        table,
        resolver: resolver(),
        stub_pattern: stub_pattern(),
    };
    // SAFETY: the caller's promise.
    let code = unsafe { prepare(request, budget) }?;
    symbols::register_image(code.image(), file);
    symbols::register_layout(code.current());
    Ok(code)
}

/// Gives back all memory of an image's code that has been taken from where threads find it, and
/// unregisters it. All signals must be blocked.
pub fn end(code: Code) {
    symbols::unregister_image(code.image(), code.starts());
    drop(code);
}
