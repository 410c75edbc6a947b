//! An image in memory, by the headers that are loaded with it.

use core::ops::Range;
use szc_abi::elf::{self, PF_X, PT_DYNAMIC, PT_LOAD, Segment};
use szc_sys::os::PAGE_BYTES;

/// The program headers of an image that is loaded.
#[derive(Clone, Copy)]
pub struct LoadedImage {
    base: usize,
    headers: &'static [u8],
}

/// The text of an image, and where its file has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Text {
    /// Address in memory.
    pub start: usize,
    /// Offset in the file.
    pub offset: usize,
    /// Bytes in the file.
    pub bytes: usize,
}

impl LoadedImage {
    /// The image at `base`. Nothing if there are no program headers of a known form.
    ///
    /// # Safety
    /// An ELF64 image must be loaded there, with its headers, and stay for as long as this is used.
    pub unsafe fn at(base: usize) -> Option<Self> {
        // SAFETY: the caller's promise; an image begins with its header.
        let header = unsafe { core::slice::from_raw_parts(base as *const u8, elf::HEADER_BYTES) };
        let (table, count) = elf::program_headers(header)?;
        let bytes = count * elf::PROGRAM_HEADER_BYTES;
        let first = (base + table) as *const u8;
        // SAFETY: the caller's promise.
        let headers = unsafe { core::slice::from_raw_parts(first, bytes) };
        Some(Self { base, headers })
    }

    fn segments(self, kind: u32) -> impl Iterator<Item = Segment> {
        elf::segments_in(self.headers).filter(move |segment| segment.kind == kind)
    }

    /// The addresses that it occupies.
    #[must_use]
    pub fn range(self) -> Range<usize> {
        let ends = |segment: Segment| segment.address as usize + segment.bytes;
        let lowest = self.segments(PT_LOAD).map(|segment| segment.address as usize).min();
        let highest = self.segments(PT_LOAD).map(ends).max();
        let bytes = lowest.zip(highest).map_or(0, |(lowest, highest)| highest - lowest);
        self.base..self.base + bytes.next_multiple_of(PAGE_BYTES)
    }

    /// The only executable segment, if its bytes are those of the file: not relocated when it was
    /// loaded.
    #[must_use]
    pub fn text(self) -> Option<Text> {
        // The first segment holds the header; addresses in the file are relative to it.
        let first = self.segments(PT_LOAD).next()?;
        let bias = self.base.wrapping_sub(first.address as usize & !(PAGE_BYTES - 1));
        let address = |segment: Segment| bias.wrapping_add(segment.address as usize);
        // SAFETY: as `at`: the dynamic section is loaded, and ends with the tag 0.
        let relocated = self
            .segments(PT_DYNAMIC)
            .any(|segment| unsafe { relocates_text(address(segment) as *const [usize; 2]) });
        let mut executable = self.segments(PT_LOAD).filter(|segment| segment.flags & PF_X != 0);
        let text = executable.next()?;
        let is_alone = executable.next().is_none();
        (is_alone && !relocated).then(|| Text {
            start: address(text),
            offset: text.offset,
            bytes: text.file_bytes,
        })
    }
}

/// # Safety
/// `entry` must be the first of a dynamic section.
unsafe fn relocates_text(mut entry: *const [usize; 2]) -> bool {
    const DT_TEXTREL: usize = 22;
    const DT_FLAGS: usize = 30;
    const DF_TEXTREL: usize = 4;
    loop {
        // SAFETY: the caller's promise; the section ends with the tag 0.
        let [tag, value] = unsafe { *entry };
        match tag {
            0 => return false,
            DT_TEXTREL => return true,
            DT_FLAGS if value & DF_TEXTREL != 0 => return true,
            _ => {}
        }
        // SAFETY: this was not the last entry.
        entry = unsafe { entry.add(1) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use szc_sys::arch;

    #[test]
    fn this_test_occupies_the_addresses_of_its_code_and_data() {
        static DATA: [u8; 3] = [1, 2, 3];
        let base = arch::image_base();
        // SAFETY: this test's own image.
        let image = unsafe { LoadedImage::at(base) }.unwrap();
        let (range, text) = (image.range(), image.text().unwrap());
        let code = arch::copy_bytes as *const () as usize;
        assert!(range.start == base && range.contains(&code));
        assert!(range.contains(&(DATA.as_ptr() as usize)));
        assert!((text.start..text.start + text.bytes).contains(&code));
    }
}
