//! An ELF file whose text the copies of an image are: for perf and others that look up names and
//! unwind rules by the files that are mapped. Layouts are added as they begin.
//!
//! The memory of copies *is* the file, so that whoever sees an address in a copy finds the file by
//! the mapping, and in it the code, a symbol and the rules. Files stay when the program has ended:
//! that is when they are read.

mod layout;
mod outline;

use super::sink::Sink;
use crate::code::arena::Arena;
use crate::code::image::Image;
use crate::code::pristine::{self, WholeFile};
use crate::code::region::Region;
use crate::code::slot;
use crate::os::{self, Errno, File, PAGE_BYTES};
use crate::report::Buffer;
use core::ffi::CStr;
use core::sync::atomic::{AtomicU32, Ordering};
use layout::{Out, Places, Source};
pub use outline::Room;
use outline::{Needs, Outline};
use szc_abi::Table;
use szc_abi::unwind::Frames;

/// Room that an image needs in its arena; `frames`: what copies do to frames.
pub fn room(table: &Table<'_>, frames: slot::Frames, file: &CStr) -> Room {
    let needs = |file: &[u8]| {
        let unwind = Frames::parse(file);
        Needs::of(&Source { table, frames, unwind })
    };
    pristine::with_file(file, needs).unwrap_or_else(|| needs(&[])).room()
}

/// What is kept of an image, to describe its layouts.
pub struct Described {
    file: Option<WholeFile>,
    needs: Needs,
}

impl Described {
    /// Of an image that was loaded from `file`.
    pub fn of(image: &Image, file: &CStr) -> Self {
        let file = WholeFile::map(file);
        let unwind = file.as_ref().and_then(|file| Frames::parse(file.bytes()));
        let needs = Needs::of(&Source { table: image.table(), frames: image.frames(), unwind });
        Self { file, needs }
    }

    /// Gives its memory back.
    pub fn free(self) {
        if let Some(file) = self.file {
            file.unmap();
        }
    }

    /// Adds a layout to the image's file. Where the disk has no room for what is said of it, it
    /// stays nameless.
    pub fn announce(&self, image: &Image, arena: &Arena, region: &Region) {
        let Some((start, bytes)) = arena.file_range() else { return };
        let (_, text_bytes) = arena.range();
        let outline = Outline::new(self.needs, text_bytes, arena.places() as usize);
        if outline.bytes() > bytes {
            return;
        }
        let unwind = self.file.as_ref().and_then(|file| Frames::parse(file.bytes()));
        let source = Source { table: image.table(), frames: image.frames(), unwind };
        let place = region.place() as usize;
        let [symbols, frames, index] = outline.layout(place);
        // SAFETY: parts of the file that do not overlap; the lock of `super` makes these the only
        // references.
        unsafe {
            let Some(header) = arena.file_part(0, PAGE_BYTES) else { return };
            let Some(head) =
                arena.file_part(outline.index_head().offset, outline.index_head().bytes)
            else {
                return;
            };
            if outline.layouts(head) == 0 {
                let strings = arena.file_part(outline.strings.offset, outline.strings.bytes);
                let commons = arena.file_part(outline.commons().offset, outline.commons().bytes);
                let (Some(strings), Some(commons)) = (strings, commons) else { return };
                let mut sink = Sink::new(Some(strings));
                sink.bytes(&[0]);
                sink.bytes(image.table().names());
                source.commons(&mut Sink::new(Some(commons)));
            }
            let part = |part: super::sink::Part| arena.file_part(part.offset, part.bytes);
            let (Some(symbols), Some(frames), Some(index)) =
                (part(symbols), part(frames), part(index))
            else {
                return;
            };
            let mut out = Out {
                symbols: Sink::new(Some(symbols)),
                frames: Sink::new(Some(frames)),
                index: Sink::new(Some(index)),
            };
            let places = InFile { image, arena, region, start };
            source.layout(&places, self.needs.commons(), outline.addresses(place), &mut out);
            let layouts = outline.layouts(head).max(place + 1);
            outline.write_index_head(head, layouts);
            outline.write_header(header, layouts);
        }
    }
}

/// A layout, by addresses of the file.
struct InFile<'a> {
    image: &'a Image,
    arena: &'a Arena,
    region: &'a Region,
    /// Where the file is mapped.
    start: usize,
}

impl Places for InFile<'_> {
    fn function(&self, position: u32) -> u32 {
        self.region.function(position)
    }
    fn body(&self, function: u32) -> u64 {
        (self.region.body(self.arena, function) - self.start) as u64
    }
    fn full_check(&self, function: u32) -> u64 {
        (self.region.full_check(self.image, self.arena, function) - self.start) as u64
    }
    fn spare(&self, function: u32) -> u64 {
        (self.region.spare(self.image, self.arena, function) - self.start) as u64
    }
    fn stub(&self, function: u32) -> u64 {
        (self.region.stub(self.arena, function) - self.start) as u64
    }
    fn pad(&self, function: u32) -> u32 {
        self.region.pad(function)
    }
}

/// Makes `/tmp/szc-PID-N.so`, so many bytes long and empty: once for writing, and once to execute
/// what is in it.
///
/// Tools take a file's lowest mapping for its start. So what is written goes through another name
/// of the same file, which is gone when this returns. The names are short: this also runs in the
/// first call of a forked child, on the little stack that the resolver has.
pub fn create(bytes: usize) -> Result<(File, File), Errno> {
    static NUMBER: AtomicU32 = AtomicU32::new(0);
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    let name = |ending: &str| {
        let mut name = Buffer::<48>::new();
        name.text("/tmp/szc-").decimal(u64::from(os::process_id())).text("-");
        name.decimal(u64::from(number)).text(ending).text("\0");
        name
    };
    let (named, hidden) = (name(".so"), name(".written"));
    let as_path = |name| CStr::from_bytes_until_nul(name).map_err(|_| os::EINVAL);
    let (named, hidden) = (as_path(named.bytes())?, as_path(hidden.bytes())?);
    // Of another process with this number.
    os::unlink(named);
    os::unlink(hidden);
    let writable = File::create_own(hidden)?;
    let readable = writable.set_size(bytes).and_then(|()| {
        os::link(hidden, named)?;
        File::open(named, os::OPEN_READ)
    });
    os::unlink(hidden);
    match readable {
        Ok(readable) if writable.can_be_executed() => Ok((writable, readable)),
        refused => {
            os::unlink(named);
            Err(refused.err().unwrap_or(Errno(13)))
        }
    }
}
