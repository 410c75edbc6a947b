//! Where libraries that szc has linked enter the runtime of the program.

use crate::library;
use szc_abi::library::LibraryImage;

/// A library was loaded.
///
/// # Safety
/// Called by a library that is loaded, with its own description, before its constructors.
#[cfg_attr(not(test), unsafe(no_mangle))]
unsafe extern "C" fn szc_rt_adopt(image: *const LibraryImage) {
    // SAFETY: the caller's promise.
    library::opened(&unsafe { image.read() });
}

/// The destructors of a library have run.
///
/// # Safety
/// Called by a library that is still loaded, with its own description.
#[cfg_attr(not(test), unsafe(no_mangle))]
unsafe extern "C" fn szc_rt_release(image: *const LibraryImage) {
    // SAFETY: the caller's promise.
    library::destroyed(&unsafe { image.read() });
}
