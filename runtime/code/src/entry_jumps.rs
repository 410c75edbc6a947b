//! The jumps at the original entries of an image's functions, which lead through their pointers.

use crate::image::Image;
use crate::refused::Refused;
use szc_layout::arch::entry_jump;
use szc_sys::arch;
use szc_sys::os::{self, File, PAGE_BYTES};

/// Takes over an image: from here on each of its movable functions asks the resolver when it is
/// first called. The resolver must already know of it.
///
/// Writes through `/proc/self/mem`, so that the text stays a mapping of its file, which debuggers
/// and profilers rely on, and never becomes writable.
///
/// # Errors
/// The kernel does not allow it; the image is as it was.
///
/// # Safety
/// No thread may be inside a movable function of the image or enter one meanwhile.
pub unsafe fn take_over(image: &Image) -> Result<(), Refused> {
    let memory = File::open(c"/proc/self/mem", os::OPEN_READ_WRITE).map_err(|_| Refused::Text)?;
    let mut page =
        PageWriter { memory: &memory, start: 0, bytes: [0; PAGE_BYTES], has_written: false };
    // SAFETY: the caller's promise.
    match unsafe { write_all(image, &mut page) } {
        Err(_) if !page.has_written => Err(Refused::Text),
        // Entries that lead through their pointers are served like all others.
        _ => Ok(()),
    }
}

/// # Safety
/// As [`take_over`].
unsafe fn write_all(image: &Image, page: &mut PageWriter<'_>) -> Result<(), os::Errno> {
    for index in (0..image.count()).filter(|&index| image.pinned(index).is_none()) {
        let at = image.original(image.function(index));
        let jump = entry_jump(at, image.pointer(index)).ok_or(os::EINVAL)?;
        let computation = image.injected().filter(|&(injected, _)| injected == index);
        let code = computation.and_then(|(_, injected)| {
            Some((injected.code(at, image.pointer(index))?, injected.bytes()))
        });
        let bytes = code.as_ref().map_or(&jump[..], |(code, bytes)| &code[..*bytes]);
        for (distance, &byte) in bytes.iter().enumerate() {
            // SAFETY: the caller's promise; the function has room for it.
            unsafe { page.set(at + distance, byte)? };
        }
    }
    // SAFETY: the caller's promise.
    unsafe { page.flush() }
}

/// Collects changes to one page of text, so that each page is written once.
struct PageWriter<'a> {
    memory: &'a File,
    start: usize,
    bytes: [u8; PAGE_BYTES],
    has_written: bool,
}

impl PageWriter<'_> {
    /// # Safety
    /// The address must lie in text of the image, which may change now.
    unsafe fn set(&mut self, address: usize, byte: u8) -> Result<(), os::Errno> {
        let start = address & !(PAGE_BYTES - 1);
        if start != self.start {
            // SAFETY: the caller's promise.
            unsafe { self.flush()? };
            self.start = start;
            // SAFETY: the page holds a function of the image, so it is mapped readable.
            unsafe { arch::copy_bytes(self.bytes.as_mut_ptr(), start as *const u8, PAGE_BYTES) };
        }
        self.bytes[address - start] = byte;
        Ok(())
    }

    /// # Safety
    /// As [`Self::set`].
    unsafe fn flush(&mut self) -> Result<(), os::Errno> {
        if self.start != 0 {
            // SAFETY: the caller's promise.
            unsafe { self.memory.write_at(&self.bytes, self.start)? };
            self.has_written = true;
        }
        Ok(())
    }
}
