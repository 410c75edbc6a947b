//! The bytes of an image as the linker wrote them, from its file: in memory a debugger may have put
//! breakpoints among them, and the runtime its jumps.

use crate::os::{self, File, PAGE_BYTES};
use core::ffi::CStr;

/// Text of an image that nobody has changed.
#[derive(Clone, Copy)]
pub struct Pristine {
    /// Address of the first of these bytes in the image, where they may have been changed.
    start: usize,
    bytes: *const u8,
    length: usize,
    /// What was mapped for them: whole pages.
    mapped: *mut u8,
}

impl Pristine {
    /// None: whoever asks has to take the image's bytes as they are.
    pub const NONE: Self = Self { start: 0, bytes: os::null(), length: 0, mapped: os::null() };

    /// Maps the text of the image at `base` once more, from its file, which must not have changed
    /// since it was loaded: nobody can write to a program that runs, and a library's table says
    /// that it is the same.
    ///
    /// Nothing is found if the image's text is not what its file says: relocated when it was
    /// loaded.
    pub fn of(base: usize, path: &CStr) -> Self {
        Self::map(base, path).unwrap_or(Self::NONE)
    }

    fn map(base: usize, path: &CStr) -> Option<Self> {
        let text = text_segment(base)?;
        let file = File::open(path, os::OPEN_READ).ok()?;
        let page = text.offset & !(PAGE_BYTES - 1);
        let length = text.offset - page + text.bytes;
        let mapped = os::map_file(&file, length, page).ok()?;
        // SAFETY: inside what was mapped a moment ago.
        let bytes = unsafe { mapped.add(text.offset - page) };
        Some(Self { start: text.start, bytes, length: text.bytes, mapped })
    }

    /// Gives the mapping back.
    ///
    /// # Safety
    /// Neither this nor a copy of it may be used any more.
    pub unsafe fn free(&self) {
        if !self.mapped.is_null() {
            let in_front = self.bytes as usize - self.mapped as usize;
            // SAFETY: the caller's promise; the mapping is that of `map`.
            unsafe { os::unmap(self.mapped, in_front + self.length) };
        }
    }

    /// Where the bytes that belong at `start` are, if all `length` of them are known.
    pub fn at(&self, start: usize, length: usize) -> Option<*const u8> {
        let distance = start.checked_sub(self.start)?;
        let end = distance.checked_add(length)?;
        (end <= self.length).then(|| self.bytes.wrapping_add(distance))
    }
}

/// Calls `action` with the bytes of the whole file of an image, if it can be read.
pub fn with_file<T>(path: &CStr, action: impl FnOnce(&[u8]) -> T) -> Option<T> {
    let file = WholeFile::map(path)?;
    let result = action(file.bytes());
    file.unmap();
    Some(result)
}

/// The bytes of the whole file of an image, mapped.
pub struct WholeFile {
    mapped: *mut u8,
    size: usize,
}

impl WholeFile {
    /// Maps a file that can be read.
    pub fn map(path: &CStr) -> Option<Self> {
        let file = File::open(path, os::OPEN_READ).ok()?;
        let size = file.size().ok()?;
        let mapped = os::map_file(&file, size, 0).ok()?;
        Some(Self { mapped, size })
    }

    /// The bytes.
    pub fn bytes(&self) -> &[u8] {
        // SAFETY: mapped readable for `size` bytes, until `unmap` takes this.
        unsafe { core::slice::from_raw_parts(self.mapped, self.size) }
    }

    /// Gives the memory back.
    pub fn unmap(self) {
        // SAFETY: the mapping of `map`; references to it ended with those to `self`.
        unsafe { os::unmap(self.mapped, self.size) };
    }
}

struct Segment {
    /// Address in memory.
    start: usize,
    /// Offset in the file.
    offset: usize,
    bytes: usize,
}

/// The only executable segment of the image at `base`, if its bytes are those of the file.
fn text_segment(base: usize) -> Option<Segment> {
    const PT_LOAD: usize = 1;
    const PT_DYNAMIC: usize = 2;
    const EXECUTABLE: usize = 1;
    let mut found = None;
    // SAFETY: an image begins with its ELF64 header, its program headers are loaded with it, and so
    // is its dynamic section, which ends with the tag 0.
    unsafe {
        let long = |at: usize| (at as *const u64).read_unaligned() as usize;
        let word = |at: usize| (at as *const u32).read_unaligned() as usize;
        let half = |at: usize| usize::from((at as *const u16).read_unaligned());
        let (headers, each, count) =
            (base + long(base + 0x20), half(base + 0x36), half(base + 0x38));
        let header = |index: usize| headers + index * each;
        let first = (0..count).map(header).find(|&header| word(header) == PT_LOAD)?;
        // The first segment holds the header; addresses in the file are relative to it.
        let bias = base.wrapping_sub(long(first + 0x10) & !(PAGE_BYTES - 1));
        for header in (0..count).map(header) {
            let address = bias.wrapping_add(long(header + 0x10));
            if word(header) == PT_DYNAMIC && relocates_text(address as *const [usize; 2]) {
                return None;
            }
            if word(header) == PT_LOAD && word(header + 4) & EXECUTABLE != 0 {
                let (offset, bytes) = (long(header + 0x08), long(header + 0x20));
                if found.replace(Segment { start: address, offset, bytes }).is_some() {
                    return None;
                }
            }
        }
    }
    found
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
    use crate::arch;

    #[test]
    fn the_bytes_of_a_function_are_found_in_the_file() {
        let pristine = Pristine::of(arch::image_base(), c"/proc/self/exe");
        let function = arch::copy_bytes as *const () as usize;
        let bytes = pristine.at(function, 16).unwrap();
        assert_ne!(bytes as usize, function);
        // SAFETY: both are mapped readable.
        unsafe { assert_eq!(*bytes.cast::<[u8; 16]>(), *(function as *const [u8; 16])) };
        assert_eq!(pristine.at(function, 1 << 40), None);
        assert_eq!(Pristine::NONE.at(function, 1), None);
    }
}
