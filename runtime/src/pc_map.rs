//! The PC map of this process: whose copy an address lies in, found without a lock.
#![forbid(unsafe_code)]

use szc_code::pc_map::PcMap;

/// The copies of all images, by the slots of [`Images`](crate::images::Images).
pub static PC_MAP: PcMap = PcMap::empty();
