//! An arena whose memory is an ELF file: a header page in front of the places, and behind them what
//! the file says of them ([`crate::symbols::elf`]).

use super::{Arena, copy_parts};
use crate::code::views::{self, Form};
use crate::os::{self, Errno, PAGE_BYTES};
use crate::symbols::elf::Room;

/// Bytes around the places.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Around {
    pub front_bytes: usize,
    pub behind_bytes: usize,
}

impl Around {
    pub fn new(room: Room, places: usize) -> Self {
        if room == Room::default() {
            return Self::default();
        }
        let behind = room.once_bytes + places * room.place_bytes;
        Self { front_bytes: PAGE_BYTES, behind_bytes: behind.next_multiple_of(PAGE_BYTES) }
    }

    pub fn bytes(self) -> usize {
        self.front_bytes + self.behind_bytes
    }
}

impl Arena {
    /// Where the file is mapped, and its bytes, if the arena has room for what it says.
    pub fn file_range(&self) -> Option<(usize, usize)> {
        let start = self.executable as usize - self.around.front_bytes;
        (self.around.front_bytes > 0).then_some((start, self.bytes + self.around.bytes()))
    }

    /// The view for writing of a part of the file; nothing if the disk is full.
    ///
    /// # Safety
    /// The part must lie in the file, and nobody else may refer to it.
    pub unsafe fn file_part(&self, offset: usize, bytes: usize) -> Option<&'static mut [u8]> {
        let start = self.writable.wrapping_sub(self.around.front_bytes).wrapping_add(offset);
        // SAFETY: the caller's promise; the mapping lives as long as the image's code, and so does
        // every user.
        os::is_writable(start, bytes)
            .then(|| unsafe { core::slice::from_raw_parts_mut(start, bytes) })
    }

    /// Makes what is said of the places accessible; nobody executes it.
    pub(super) fn open_behind(&self) -> Result<(), Errno> {
        if self.around.behind_bytes == 0 {
            return Ok(());
        }
        let protection = os::PROT_READ | os::PROT_WRITE;
        // SAFETY: both ranges are our own mappings, behind the places.
        unsafe {
            os::protect(self.writable.add(self.bytes), self.around.behind_bytes, protection)?;
            let executable = self.executable.add(self.bytes);
            os::protect(executable, self.around.behind_bytes, os::PROT_READ)
        }
    }

    /// As [`Arena::unshare`]: the child gets a file of its own, in which nothing is said yet.
    ///
    /// # Safety
    /// As [`Arena::unshare`].
    pub(super) unsafe fn unshare_file(
        &mut self,
        places: u32,
        parts: impl Fn(&mut dyn FnMut(usize, usize)),
    ) -> Result<(), Errno> {
        let old = *self;
        let (start, bytes) = self.file_range().ok_or(os::EINVAL)?;
        // SAFETY: replaces our own mapping; the code that runs here is the image's, not the
        // arena's.
        let (_, writable) = unsafe { views::map(start, bytes, Form::File)? };
        self.writable = writable.wrapping_add(self.around.front_bytes);
        self.open_places(places)?;
        self.open_behind()?;
        // SAFETY: the parts lie in both views for writing, and both are accessible there.
        unsafe { copy_parts(parts, old.writable, self.writable) };
        // SAFETY: nothing refers to the parent's memory any more.
        unsafe { os::unmap(old.writable.wrapping_sub(self.around.front_bytes), bytes) };
        Ok(())
    }
}
