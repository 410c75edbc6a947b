//! Mappings of files that profilers do not take for images.

use super::errno::Errno;
use super::file::File;
use super::memory::{
    MAP_FIXED_NOREPLACE, MAP_PRIVATE, PROT_NONE, PROT_READ, UNUSED, map, map_inaccessible,
    remap_to, unmap,
};

/// Maps a part of a file, readable and private, where nothing is.
///
/// Profilers are told of every mapping of a file, and take the lowest one for the place where it
/// was loaded as an image (perf 6.1). So it is moved to where they are not told of, and they see
/// other memory take the place that they know.
pub fn map_file(file: &File, bytes: usize, offset: usize) -> Result<*mut u8, Errno> {
    // SAFETY: without MAP_FIXED nothing existing is touched.
    let told = unsafe { map(0, bytes, PROT_READ, MAP_PRIVATE, file.descriptor(), offset)? };
    let at_once = UNUSED | MAP_FIXED_NOREPLACE;
    let Ok(place) = map_inaccessible(bytes) else { return Ok(told) };
    // SAFETY: both are mappings of a moment ago.
    let Ok(moved) = (unsafe { remap_to(told, bytes, bytes, place as usize) }) else {
        // SAFETY: as above; nobody uses it.
        unsafe { unmap(place, bytes) };
        return Ok(told);
    };
    // SAFETY: MAP_FIXED_NOREPLACE touches nothing that exists, and what was mapped is nobody's.
    unsafe {
        if let Ok(over) = map(told as usize, bytes, PROT_NONE, at_once, -1, 0) {
            unmap(over, bytes);
        }
    }
    Ok(moved)
}
