//! The bytes of an image as the linker wrote them, from its file: in memory a debugger may have put
//! breakpoints among them, and the runtime its jumps.

use crate::loaded_image::LoadedImage;
use core::ffi::CStr;
use szc_sys::os::{self, File, Mapping, PAGE_BYTES};

/// Text of an image that nobody has changed.
pub struct OriginalText {
    /// Address of the first of these bytes in the image, where they may have been changed.
    start: usize,
    /// Whole pages of the file, and where in them the text is.
    mapping: Mapping,
    in_front: usize,
    length: usize,
}

impl OriginalText {
    /// None: whoever asks has to take the image's bytes as they are.
    pub const NONE: Self = Self { start: 0, mapping: Mapping::NONE, in_front: 0, length: 0 };

    /// Maps the text of an image once more, from its file, which must not have changed since it was
    /// loaded: nobody can write to a program that runs, and a library's table says that it is the
    /// same.
    ///
    /// Nothing is found if the image's text is not what its file says: relocated when it was
    /// loaded.
    pub fn of(image: LoadedImage, path: &CStr) -> Self {
        Self::map(image, path).unwrap_or(Self::NONE)
    }

    fn map(image: LoadedImage, path: &CStr) -> Option<Self> {
        let text = image.text()?;
        let file = File::open(path, os::OPEN_READ).ok()?;
        let page = text.offset & !(PAGE_BYTES - 1);
        let in_front = text.offset - page;
        let mapping = Mapping::of_file(&file, in_front + text.bytes, page).ok()?;
        Some(Self { start: text.start, mapping, in_front, length: text.bytes })
    }

    /// Lets the pages go until they are read again.
    pub fn let_go(&self) {
        // SAFETY: a mapping of a file that is only read.
        unsafe { os::let_pages_go(self.mapping.start(), self.mapping.bytes()) };
    }

    /// The bytes that belong at `start`, if all `length` of them are known.
    #[inline]
    pub fn at(&self, start: usize, length: usize) -> Option<&[u8]> {
        let distance = start.checked_sub(self.start)?;
        let end = distance.checked_add(length)?;
        let first = self.mapping.start().wrapping_add(self.in_front + distance);
        // SAFETY: inside the mapping, which is readable and stays as long as this.
        (end <= self.length).then(|| unsafe { core::slice::from_raw_parts(first, length) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use szc_sys::arch;

    #[test]
    fn the_bytes_of_a_function_are_found_in_the_file() {
        // SAFETY: this test's own image.
        let image = unsafe { LoadedImage::at(arch::image_base()) }.unwrap();
        let text = OriginalText::of(image, c"/proc/self/exe");
        let function = arch::copy_bytes as *const () as usize;
        let bytes = text.at(function, 16).unwrap();
        assert_ne!(bytes.as_ptr() as usize, function);
        // SAFETY: both are mapped readable.
        assert_eq!(bytes, unsafe { &*(function as *const [u8; 16]) });
        assert_eq!(text.at(function, 1 << 40), None);
        assert_eq!(OriginalText::NONE.at(function, 1), None);
    }
}
