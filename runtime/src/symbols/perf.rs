//! What `perf report` is told: a line for each function of each layout in `/tmp/perf-PID.map`.
//!
//! Source: Linux, tools/perf/Documentation/jit-interface.txt.

use crate::arch::check::FULL_CHECK_BYTES;
use crate::code::arena::Arena;
use crate::code::image::Image;
use crate::code::region::Region;
use crate::os::{self, File, PAGE_BYTES};
use crate::report::{Buffer, Path};

/// Adds a layout to the map of this process. Without a file that can be written there are no names.
pub fn announce(image: &Image, arena: &Arena, region: &Region) {
    let path = Path::absolute(c"/tmp/perf-%p.map");
    let Some(path) = path.and_then(|path| path.for_process(os::process_id())) else { return };
    let Ok(file) = File::open(path.as_c_str(), os::OPEN_APPEND) else { return };
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
