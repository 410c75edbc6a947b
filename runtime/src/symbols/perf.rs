//! What `perf report` gets: a line for each function of each layout in `/tmp/perf-PID.map`.
//!
//! Source: Linux, tools/perf/Documentation/jit-interface.txt.

use crate::path::Path;
use core::sync::atomic::{AtomicU32, Ordering};
use szc_abi::text::Buffer;
use szc_code::layout_ref::{LayoutRef, Part};
use szc_sys::os::{self, File, PAGE_BYTES};

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
pub fn add(layout: LayoutRef<'_>) {
    let Some(file) = map_of_process() else { return };
    let mut page = Buffer::<PAGE_BYTES>::new();
    for index in 0..layout.image.count() {
        let name = layout.image.table().name(layout.image.function(index).name_at);
        let has_clone = layout.image.slot(index).padded.is_some();
        let slot = layout.origin(index)..layout.range(index, Part::Slot).end;
        let padded = [Part::FullCheck, Part::Clone].map(|part| layout.range(index, part));
        let padded = padded.into_iter().filter(|_| has_clone);
        for range in [slot].into_iter().chain(padded) {
            page.hexadecimal(range.start as u64).text(" ");
            page.hexadecimal(range.len() as u64).text(" ");
            page.push(name.get(..PAGE_BYTES / 2).unwrap_or(name)).text("\n");
            if page.bytes().len() > PAGE_BYTES / 2 {
                let _ = file.write(page.bytes());
                page.clear();
            }
        }
    }
    let _ = file.write(page.bytes());
}
