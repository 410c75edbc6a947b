//! The unwind tables of a file: `.eh_frame`, and `.eh_frame_hdr` where it is there.
#![forbid(unsafe_code)]

use std::collections::HashMap;
use std::fs::File;
use std::io::BufReader;
use std::rc::Rc;

use gimli::{
    BaseAddresses, CieOrFde, EhFrame, EhFrameHdr, EhFrameOffset, FrameDescriptionEntry,
    LittleEndian, UnwindContext, UnwindSection as _,
};
use object::{Object as _, ObjectSection as _, ObjectSegment as _, ReadCache, ReadRef};

use super::row::{Bytes, Row, Section};

type Entry<'a> = FrameDescriptionEntry<Bytes<'a>>;

/// Rows that are kept.
const MAX_ROWS: usize = 1 << 16;
/// Where in an FDE of `.eh_frame` the distance of its CIE is.
const CIE_POINTER_AT: usize = 4;

/// The tables of a file.
pub struct Tables {
    segments: Vec<Segment>,
    entries: Entries,
    context: UnwindContext<usize>,
    /// Rows that were asked for, by address.
    rows: HashMap<u64, Option<Rc<Row>>>,
    /// First addresses of functions, by addresses that were asked for.
    functions: HashMap<u64, Option<u64>>,
}

/// FDEs, and what leads to them.
struct Entries {
    frames: Vec<u8>,
    /// The table that leads to FDEs; empty if there is none.
    header: Vec<u8>,
    bases: BaseAddresses,
    /// First address and offset of each FDE, where the file has no header.
    index: Vec<(u64, usize)>,
}

struct Segment {
    offset: u64,
    bytes: u64,
    address: u64,
}

impl Tables {
    /// Those of a file; nothing if it has none.
    pub fn of_file(path: &str) -> Option<Self> {
        Self::of(&ReadCache::new(BufReader::new(File::open(path).ok()?)))
    }

    /// Those of a program or library that is in memory, or in a file.
    pub fn of<'data>(data: impl ReadRef<'data>) -> Option<Self> {
        let file = object::File::parse(data).ok().filter(object::Object::is_64)?;
        let segments = file.segments().map(|segment| {
            let (offset, bytes) = segment.file_range();
            Segment { offset, bytes, address: segment.address() }
        });
        let section = |name: &str| {
            let section = file.section_by_name(name)?;
            Some((section.address(), section.data().ok()?.to_vec()))
        };
        let (start, frames) = section(".eh_frame")?;
        let mut bases = BaseAddresses::default().set_eh_frame(start);
        if let Some((text, _)) = section(".text") {
            bases = bases.set_text(text);
        }
        let mut header = Vec::new();
        if let Some((start, bytes)) = section(".eh_frame_hdr") {
            bases = bases.set_eh_frame_hdr(start);
            let parsed = EhFrameHdr::new(&bytes, LittleEndian).parse(&bases, 8);
            if parsed.is_ok_and(|header| header.table().is_some()) {
                header = bytes;
            }
        }
        let mut entries = Entries { frames, header, bases, index: Vec::new() };
        if entries.header.is_empty() {
            entries.index = entries.all();
        }
        Some(Self::with(segments.collect(), entries))
    }

    /// Made-up ones of no file.
    #[cfg(test)]
    pub fn of_frames(frames: Vec<u8>) -> Self {
        let bases = BaseAddresses::default().set_eh_frame(0);
        let mut entries = Entries { frames, header: Vec::new(), bases, index: Vec::new() };
        entries.index = entries.all();
        Self::with(Vec::new(), entries)
    }

    fn with(segments: Vec<Segment>, entries: Entries) -> Self {
        let (context, rows) = (UnwindContext::new(), HashMap::new());
        Self { segments, entries, context, rows, functions: HashMap::new() }
    }

    /// The tables themselves.
    pub fn section(&self) -> Section<'_> {
        self.entries.section()
    }

    /// The address, as linked, of an offset of the file.
    pub fn address(&self, offset: u64) -> Option<u64> {
        let holds = |segment: &&Segment| offset.wrapping_sub(segment.offset) < segment.bytes;
        let segment = self.segments.iter().find(holds)?;
        Some(segment.address + (offset - segment.offset))
    }

    /// The offset of the file of an address, as linked.
    pub fn offset(&self, address: u64) -> Option<u64> {
        let holds = |segment: &&Segment| address.wrapping_sub(segment.address) < segment.bytes;
        let segment = self.segments.iter().find(holds)?;
        Some(segment.offset + (address - segment.address))
    }

    /// The first address of the function that an address is in, as linked.
    pub fn function(&mut self, address: u64) -> Option<u64> {
        if let Some(known) = self.functions.get(&address) {
            return *known;
        }
        let start = self.entries.of(address).map(|entry| entry.initial_address());
        if self.functions.len() >= MAX_ROWS {
            self.functions.clear();
        }
        self.functions.insert(address, start);
        start
    }

    /// The row that holds at an address, as linked.
    pub fn row(&mut self, address: u64) -> Option<Rc<Row>> {
        if let Some(known) = self.rows.get(&address) {
            return known.clone();
        }
        let entries = &self.entries;
        let row = entries.of(address).and_then(|entry| {
            let section = entries.section();
            read_row(&section, &entries.bases, &entry, &mut self.context, address)
        });
        if self.rows.len() >= MAX_ROWS {
            self.rows.clear();
        }
        self.rows.insert(address, row.clone());
        row
    }

    /// The row that holds at an address of a process by an FDE of 32-bit distances that stands at
    /// another one there. It has the CIE of the function at `original`, as linked.
    pub fn own(
        &mut self,
        original: u64,
        (fde, stands_at): (&[u8], u64),
        address: u64,
    ) -> Option<Rc<Row>> {
        let cie = self.entries.cie_of(original)?;
        let mut bytes = [cie, fde].concat();
        let back = u32::try_from(cie.len() + CIE_POINTER_AT).ok()?;
        let pointer = cie.len() + CIE_POINTER_AT;
        bytes.get_mut(pointer..pointer + 4)?.copy_from_slice(&back.to_le_bytes());
        let bases = BaseAddresses::default().set_eh_frame(stands_at - cie.len() as u64);
        let section = EhFrame::new(&bytes, LittleEndian);
        let entry = section
            .fde_from_offset(&bases, EhFrameOffset(cie.len()), EhFrame::cie_from_offset)
            .ok()?;
        let row = read_row(&section, &bases, &entry, &mut self.context, address)?;
        // Its expressions are in bytes that are gone.
        (!row.has_expressions()).then_some(row)
    }
}

impl Entries {
    fn section(&self) -> Section<'_> {
        EhFrame::new(&self.frames, LittleEndian)
    }

    /// The bytes of the CIE of the FDE that holds at an address.
    fn cie_of(&self, address: u64) -> Option<&[u8]> {
        let cie = self.of(address)?.cie().offset();
        let length = u32::from_le_bytes(*self.frames.get(cie..)?.first_chunk()?);
        self.frames.get(cie..cie.checked_add(4 + length as usize)?)
    }

    /// The FDE that holds at an address.
    fn of(&self, address: u64) -> Option<Entry<'_>> {
        let section = self.section();
        let offset = if self.header.is_empty() {
            let behind = self.index.partition_point(|&(start, _)| start <= address);
            EhFrameOffset(self.index[behind.checked_sub(1)?].1)
        } else {
            let header = EhFrameHdr::new(&self.header, LittleEndian).parse(&self.bases, 8).ok()?;
            let table = header.table()?;
            table.pointer_to_offset(table.lookup(address, &self.bases).ok()?).ok()?
        };
        let entry = section.fde_from_offset(&self.bases, offset, EhFrame::cie_from_offset).ok()?;
        entry.contains(address).then_some(entry)
    }

    /// First address and offset of all FDEs, by address.
    fn all(&self) -> Vec<(u64, usize)> {
        let section = self.section();
        let mut index = Vec::new();
        let mut entries = section.entries(&self.bases);
        while let Ok(Some(entry)) = entries.next() {
            if let CieOrFde::Fde(partial) = entry
                && let Ok(entry) = partial.parse(EhFrame::cie_from_offset)
            {
                index.push((entry.initial_address(), entry.offset()));
            }
        }
        index.sort_unstable();
        index
    }
}

fn read_row(
    section: &Section<'_>,
    bases: &BaseAddresses,
    entry: &Entry<'_>,
    context: &mut UnwindContext<usize>,
    address: u64,
) -> Option<Rc<Row>> {
    let row = entry.unwind_info_for_address(section, bases, context, address).ok()?;
    Row::of(row, entry.is_signal_trampoline()).map(Rc::new)
}
