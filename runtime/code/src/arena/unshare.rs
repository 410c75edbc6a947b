//! All memory of an arena: where it is, what of it counts, and its copy in a forked child that
//! cannot go on with its parent's.

use super::Arena;
use crate::alias::{self, Form};
use core::ops::Range;
use core::sync::atomic::Ordering;
use szc_sys::arch;
use szc_sys::os::{self, Errno};

impl Arena {
    /// All its memory: what lies within reach of the image, and the RW alias.
    pub fn memory(&self) -> [Range<usize>; 2] {
        let rw = self.rw.load(Ordering::Relaxed) as usize - self.around.front_bytes;
        let reserved = self.reserved.start() as usize;
        [reserved..reserved + self.reserved.bytes(), rw..rw + self.bytes + self.around.bytes()]
    }

    /// Lets the pages of the RW alias go until they are written again: each is in memory once, but
    /// counts twice.
    pub(crate) fn let_written_go(&self, places: u32) {
        let rw = self.rw.load(Ordering::Relaxed);
        // SAFETY: mapped shared.
        unsafe { os::let_pages_go(rw, places as usize * self.place_bytes) };
    }

    /// In a forked child: replaces the memory shared with the parent by a copy of its own, of which
    /// the first `places` are accessible. `parts` calls what it gets with the offset in the arena
    /// and the bytes of each part of them that has meaning. Addresses stay the same. A file is a
    /// new one, in which nothing is said of layouts yet.
    ///
    /// # Safety
    /// No other thread may run in this process, and the parent must not change the memory
    /// meanwhile.
    pub(crate) unsafe fn unshare(
        &self,
        places: u32,
        parts: impl Fn(&mut dyn FnMut(usize, usize)),
    ) -> Result<(), Errno> {
        let old = self.rw.load(Ordering::Relaxed);
        if let Some((start, bytes)) = self.file_range() {
            let front_bytes = self.around.front_bytes;
            // SAFETY: replaces our own mapping; the code that runs here is the image's, not the
            // arena's. The parts lie in both files, and both are accessible there for writing.
            unsafe {
                let (rw, _) = alias::map(start, bytes, Form::File)?.into_raw();
                let rw = rw.add(front_bytes);
                self.rw.store(rw, Ordering::Relaxed);
                self.open_places(places)?;
                self.open_behind()?;
                copy_parts(parts, old, rw);
                os::unmap(old.sub(front_bytes), bytes);
            }
            return Ok(());
        }
        let open_bytes = places as usize * self.place_bytes;
        // SAFETY: the parts lie in both aliases, and both are accessible there.
        let fill = |new| unsafe { copy_parts(&parts, old, new) };
        // SAFETY: replaces our own mapping by one with equal content; the code that runs here is
        // the image's, not the arena's.
        unsafe {
            let rw = alias::replace(self.rx as usize, self.bytes, open_bytes, self.form, fill)?;
            self.rw.store(rw.into_raw().0, Ordering::Relaxed);
            os::unmap(old, self.bytes);
        }
        self.note_copied();
        Ok(())
    }
}

/// Copies the parts that `parts` calls what it gets with, by their offset and bytes.
///
/// # Safety
/// Each part lies in both aliases, and is accessible there.
unsafe fn copy_parts(parts: impl Fn(&mut dyn FnMut(usize, usize)), from: *const u8, to: *mut u8) {
    // SAFETY: the caller's promise.
    parts(&mut |start, bytes| unsafe { arch::copy_bytes(to.add(start), from.add(start), bytes) });
}
