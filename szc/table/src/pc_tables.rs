//! Tables in which the runtime of a language looks up return addresses: Go's `.gopclntab`.
//!
//! Go finds out from a return address which function it belongs to, how large its frame is and
//! where pointers lie in it, whenever it grows a stack, collects garbage or unwinds a panic. It
//! asks no unwinder, and takes an address that the table does not cover for damage. So what the
//! table covers is pinned. Other runtimes keep such addresses one by one, as pointers into the
//! middle of functions (OCaml's frame table, the info tables of GHC): those are pinned without
//! being known here.
//!
//! Sources: Go's `src/runtime/symtab.go` (`pcHeader`, `moduledata`), `src/debug/gosym/pclntab.go`
//! and `src/cmd/link/internal/ld/pcln.go`, versions 1.2 to 1.24.

use crate::read::{GO_TEXT, GO_TEXT_END, Image, Section};

#[cfg(test)]
mod tests;

/// Sections that only Go's linker makes. Linkers may put the table's own into `.data.rel.ro`.
const SECTIONS: &[&str] =
    &[".gopclntab", ".data.rel.ro.gopclntab", ".go.buildinfo", ".note.go.buildid"];

/// The code that such tables cover.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Covered {
    /// These ranges.
    Ranges(Vec<(u64, u64)>),
    /// The table is not one that can be read.
    Unknown,
}

/// What the tables of an image cover; none if it has no table.
#[must_use]
pub fn covered(image: &Image<'_>) -> Option<Covered> {
    let mut ranges = Vec::new();
    let mut is_go = image.sections.iter().any(|section| SECTIONS.contains(&section.name));
    is_go |= !image.go_symbols.is_empty();
    for section in image.sections.iter().filter(|section| !section.executable) {
        ranges.extend(headers(section).filter_map(|at| range_of_table(image, section, at)));
    }
    ranges.extend(range_of_marks(image));
    match ranges.is_empty() {
        false => Some(Covered::Ranges(ranges)),
        true => is_go.then_some(Covered::Unknown),
    }
}

/// How a version of the table begins its list of functions.
#[derive(Clone, Copy, Debug)]
struct Form {
    /// Where the header says at which distance the list begins; none if it follows the header.
    list_distance_at: Option<u64>,
    /// Where the header has the address of which the list's addresses are distances of 4 bytes;
    /// none if they are addresses of 8 bytes.
    text_start_at: Option<u64>,
}

/// Bytes in front of the list where it follows the header.
const SHORT_HEADER_BYTES: u64 = 16;

/// Tables are aligned to this at least.
const HEADER_ALIGNMENT: usize = 8;

/// The form of a table that begins with such bytes: magic number, two zeros, the unit of
/// instructions (1) and the size of a pointer (8).
fn form(start: &[u8]) -> Option<Form> {
    let [magic @ .., 0, 0, 1, 8] = <[u8; 8]>::try_from(start).ok()? else { return None };
    match u32::from_le_bytes(magic) {
        // 1.2
        0xffff_fffb => Some(Form { list_distance_at: None, text_start_at: None }),
        // 1.16
        0xffff_fffa => Some(Form { list_distance_at: Some(56), text_start_at: None }),
        // 1.18, 1.20
        0xffff_fff0 | 0xffff_fff1 => {
            Some(Form { list_distance_at: Some(64), text_start_at: Some(24) })
        }
        _ => None,
    }
}

/// The places in a section at which a table may begin.
fn headers<'section>(section: &'section Section<'_>) -> impl Iterator<Item = u64> + 'section {
    let unit = HEADER_ALIGNMENT as u64;
    let first = section.address.next_multiple_of(unit);
    let skip = usize::try_from(first - section.address).unwrap_or(usize::MAX);
    let bytes = section.data.get(skip..).unwrap_or_default();
    let starts = bytes.chunks_exact(HEADER_ALIGNMENT).enumerate();
    let places = starts.filter(|(_, start)| form(start).is_some());
    places.map(move |(index, _)| first + index as u64 * unit)
}

/// From the first function of a table to the end of the last one, if all is as it should be.
fn range_of_table(image: &Image<'_>, section: &Section<'_>, header: u64) -> Option<(u64, u64)> {
    let form = form(section.bytes(header, HEADER_ALIGNMENT as u64)?)?;
    let word = |place: u64| section.bytes(place, 8)?.try_into().ok().map(u64::from_le_bytes);
    let functions = word(header.wrapping_add(8)).filter(|&functions| functions != 0)?;
    let list = match form.list_distance_at {
        Some(at) => header.checked_add(word(header.wrapping_add(at))?)?,
        None => header.checked_add(SHORT_HEADER_BYTES)?,
    };
    // Pairs of a function's address and the distance of what is known about it; behind the last
    // pair its end.
    let width: u64 = if form.text_start_at.is_some() { 4 } else { 8 };
    let length = functions.checked_mul(2 * width)?.checked_add(width)?;
    let list_bytes = section.bytes(list, length)?;
    let (from, to) = match form.text_start_at {
        Some(at) => {
            let text =
                address_at(image, section, header.wrapping_add(at)).filter(|&text| text != 0)?;
            let mut distances = list_bytes.chunks(4).step_by(2).map(|bytes| {
                bytes.try_into().map_or(0, |bytes| u64::from(u32::from_le_bytes(bytes)))
            });
            distances.clone().is_sorted().then_some(())?;
            let (first, last) = (distances.clone().next()?, distances.next_back()?);
            (text.checked_add(first)?, text.checked_add(last)?)
        }
        None => (
            address_at(image, section, list)?,
            address_at(image, section, list.checked_add(length - width)?)?,
        ),
    };
    is_code(image, from, to).then_some((from, to))
}

/// The address that the loader or the linker puts at a place: the file may have zeros there.
fn address_at(image: &Image<'_>, section: &Section<'_>, place: u64) -> Option<u64> {
    match image.relocations_in(place, place.wrapping_add(1)).first() {
        Some(relocation) => Some(relocation.target),
        None => section.bytes(place, 8)?.try_into().ok().map(u64::from_le_bytes),
    }
}

/// From the start of Go's code to its end, as the symbols have it.
fn range_of_marks(image: &Image<'_>) -> Option<(u64, u64)> {
    let all = |name| image.go_symbols.iter().filter(move |mark| mark.name == name);
    let from = all(GO_TEXT).map(|mark| mark.address).min()?;
    let to = all(GO_TEXT_END).map(|mark| mark.address).max()?;
    is_code(image, from, to).then_some((from, to))
}

fn is_code(image: &Image<'_>, from: u64, to: u64) -> bool {
    let executable = |address| image.section_at(address).is_some_and(|section| section.executable);
    from < to && executable(from) && executable(to - 1)
}
