//! An ELF file whose text the copies of an image are: for perf and others that look up names and
//! FDEs by the files that are mapped. Layouts are added as they begin.
//!
//! The memory of copies *is* the file, so that whoever sees an address in a copy finds the file by
//! the mapping, and in it the code, a symbol and the FDE. Files stay when the program has ended:
//! that is when they are read.

use super::described::{Described, PlacesFrom};
use super::elf::file::Outline;
use super::elf::sink::{Part, Sink};
use super::elf::source::Out;
use szc_code::layout_ref::LayoutRef;
use szc_sys::os::PAGE_BYTES;

/// Adds a layout to the file of its image. Where the disk has no room for what is said of it, it
/// stays nameless.
///
/// # Safety
/// Nobody else may be adding one.
pub unsafe fn add(described: &Described, layout: LayoutRef<'_>) {
    // SAFETY: the caller's promise.
    let _ = unsafe { try_add(described, layout) };
}

/// # Safety
/// As [`add`].
unsafe fn try_add(described: &Described, layout: LayoutRef<'_>) -> Option<()> {
    let (image, arena) = (layout.image, layout.arena);
    let (start, bytes) = arena.file_range()?;
    let (_, text_bytes) = arena.range();
    let outline = Outline::new(described.needs, text_bytes, arena.places() as usize);
    if outline.bytes() > bytes {
        return None;
    }
    let source = described.source(image);
    let place = layout.drawn.place() as usize;
    let [symbols, frames, index] = outline.layout(place);
    // SAFETY: these parts of the file do not overlap; the caller's promise.
    let part = |part: Part| unsafe { arena.file_part(part.offset, part.bytes) };
    let header = part(Part { offset: 0, bytes: PAGE_BYTES })?;
    let head = part(outline.index_head())?;
    if outline.layouts(head) == 0 {
        let (strings, cies) = (part(outline.strings)?, part(outline.cies())?);
        let mut sink = Sink::new(Some(strings));
        sink.bytes(&[0]);
        sink.bytes(image.table().names());
        source.cies(&mut Sink::new(Some(cies)));
    }
    let mut out = Out {
        symbols: Sink::new(Some(part(symbols)?)),
        frames: Sink::new(Some(part(frames)?)),
        index: Sink::new(Some(part(index)?)),
    };
    let places = PlacesFrom { layout, from: start };
    source.layout(&places, &described.needs.cies, outline.addresses(place), &mut out);
    let layouts = outline.layouts(head).max(place + 1);
    outline.write_index_head(head, layouts);
    outline.write_header(header, layouts);
    Some(())
}
