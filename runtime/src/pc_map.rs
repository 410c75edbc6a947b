//! The PC map of this process: whose copy an address lies in, found without a lock.
#![forbid(unsafe_code)]

use szc_code::description::Directory;
use szc_code::pc_map::PcMap;

/// The copies of all images, by the slots of [`Images`](crate::images::Images).
pub static PC_MAP: PcMap = PcMap::empty();

/// What leads a profiler outside of the process to them. Used whole, for a compiler that sees no
/// reader of its first bytes; and referred to by [`Images`], for linkers that drop sections.
///
/// [`Images`]: crate::images::Images
#[used]
pub static DIRECTORY: Directory = Directory::empty();
