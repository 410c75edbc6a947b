//! What `perf report` is told: a line for each function of each layout in `/tmp/perf-PID.map`.
//!
//! Source: Linux, tools/perf/Documentation/jit-interface.txt.

use crate::arch::check::FULL_CHECK_BYTES;
use crate::code::arena::Arena;
use crate::code::image::Image;
use crate::code::region::Region;
use crate::os::{self, File, PAGE_BYTES};
use crate::report::{Buffer, Path};
use core::sync::atomic::{AtomicU32, Ordering};

/// Process whose map has been begun. What an earlier process with its number left is replaced.
static BEGUN: AtomicU32 = AtomicU32::new(0);

/// The map of this process, this user's alone: other users can foresee its name.
fn map_of_process() -> Option<File> {
    let process = os::process_id();
    let path = Path::absolute(c"/tmp/perf-%p.map")?.for_process(process)?;
    let is_begun = BEGUN.swap(process, Ordering::Relaxed) == process;
    let open = if is_begun { File::append_own } else { File::create_own };
    open(path.as_c_str()).ok()
}

/// Adds a layout to the map of this process. Without a file that can be written there are no names.
pub fn announce(image: &Image, arena: &Arena, region: &Region) {
    let Some(file) = map_of_process() else { return };
    let mut page = Buffer::<PAGE_BYTES>::new();
    for index in 0..image.count() {
        let function = image.function(index);
        let name = image.table().name(function.name_at);
        let slot = image.slot(index);
        let slot_part = Some((region.body(arena, index), slot.bytes));
        let full_check = (region.full_check(image, arena, index), FULL_CHECK_BYTES as u32);
        let check_part = slot.spare.and(Some(full_check));
        let spare_part = slot.spare.map(|spare| (region.spare(image, arena, index), spare.bytes));
        for (address, bytes) in [slot_part, check_part, spare_part].into_iter().flatten() {
            page.hexadecimal(address as u64).text(" ").hexadecimal(u64::from(bytes)).text(" ");
            page.push(name.get(..PAGE_BYTES / 2).unwrap_or(name)).text("\n");
            if page.bytes().len() > PAGE_BYTES / 2 {
                let _ = file.write(page.bytes());
                page = Buffer::new();
            }
        }
    }
    let _ = file.write(page.bytes());
}
