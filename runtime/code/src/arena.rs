//! Memory for copies of code: one object mapped twice, so that no page is ever both writable and
//! executable.
//!
//! The RX alias lies within reach of the image's 32-bit fields. It is divided into places of equal
//! size; epoch k takes place k, so that its addresses depend on nothing but k.

mod own_pages;
mod reach;
mod stamps;
#[cfg(test)]
mod tests;
mod unshare;

use crate::alias::{self, Form};
use crate::image_file::{Around, FileRoom};
use core::ops::Range;
use core::sync::atomic::{AtomicPtr, AtomicU64, Ordering};
use reach::reserve_within_reach;
use stamps::OwnPages;
use szc_layout::arch::TRAP;
use szc_layout::arch::patch::{WORD_BYTES, Word, with_bytes};
use szc_sys::arch;
use szc_sys::os::{self, Errno, File, Mapping, PAGE_BYTES};

/// Both aliases of the memory, and ordinary memory in front of the RX alias.
pub struct Arena {
    /// Ordinary memory, the side memory of each place, and the RX alias, one behind the other.
    reserved: Mapping,
    /// First address of the places in the RX alias.
    rx: *mut u8,
    /// The same byte in the RW alias. Changes in a forked child, while that has one thread.
    rw: AtomicPtr<u8>,
    bytes: usize,
    place_bytes: usize,
    form: Form,
    /// Bytes of each place's side memory, which lies directly in front of the RX alias.
    side_bytes: usize,
    /// What both aliases have beside the places.
    around: Around,
    /// What forked children do not share.
    own_pages: OwnPages,
}

// SAFETY: addresses of memory that all threads share. What is written there is written by the
// holder of the lock of copies, or where no thread is.
unsafe impl Send for Arena {}
// SAFETY: as above.
unsafe impl Sync for Arena {}

/// Bytes of ordinary memory in front of an arena, within reach of its image.
#[derive(Clone, Copy)]
pub struct Private {
    /// What is wanted whatever the number of places.
    pub bytes: usize,
    /// What is wanted for each place: its functions' side memory.
    pub side_bytes: usize,
}

/// Why there is no arena.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unavailable {
    /// The kernel gave no memory object.
    Memory(Errno),
    /// No free addresses within reach of the image.
    Addresses,
    /// One layout alone is larger than the budget.
    Budget,
    /// The limit on the size of files is lower than the budget, and there is no other way.
    FileLimit,
}

impl Arena {
    /// Maps an arena for an image at these addresses, and in front of it ordinary memory that the
    /// image can reach, too. Returns also where that begins. `file` is what a file says of the
    /// places.
    pub fn new(
        image: &Range<usize>,
        place_bytes: usize,
        budget_bytes: usize,
        private: Private,
        form: Form,
        file: FileRoom,
    ) -> Result<(Self, *mut u8), Unavailable> {
        let place_bytes = place_bytes.next_multiple_of(PAGE_BYTES);
        let places = budget_bytes / (place_bytes + file.place_bytes);
        let bytes = places * place_bytes;
        let side_bytes = private.side_bytes.next_multiple_of(PAGE_BYTES);
        let all_sides = places * side_bytes;
        let private_bytes = private.bytes.next_multiple_of(PAGE_BYTES) + all_sides;
        if bytes == 0 {
            return Err(Unavailable::Budget);
        }
        let around = Around::new(file, places);
        let all_bytes = bytes + around.bytes();
        if !alias::is_allowed(form, all_bytes) {
            // To grow a memory object beyond the limit would raise SIGXFSZ.
            return Err(Unavailable::FileLimit);
        }
        let reserved = reserve_within_reach(image.start, image.end, private_bytes + all_bytes)
            .ok_or(Unavailable::Addresses)?;
        let private = reserved.start();
        let rx = private.wrapping_add(private_bytes);
        let own_pages = OwnPages::new(places, place_bytes, form).map_err(Unavailable::Memory)?;
        // SAFETY: replaces a part of the reservation, which is ours and unused.
        let rw = unsafe { alias::map(rx as usize, all_bytes, form) };
        let (rw, _) = rw.map_err(Unavailable::Memory)?.into_raw();
        let arena = Self {
            reserved,
            rx: rx.wrapping_add(around.front_bytes),
            rw: AtomicPtr::new(rw.wrapping_add(around.front_bytes)),
            bytes,
            place_bytes,
            form,
            side_bytes,
            around,
            own_pages,
        };
        arena.open_behind().map_err(Unavailable::Memory)?;
        // SAFETY: the part of the reservation that has the side memory; nobody has used it.
        unsafe { os::protect(arena.side_memory(0), all_sides, os::PROT_NONE) }
            .map_err(Unavailable::Memory)?;
        Ok((arena, private))
    }

    /// First address of the places, and their bytes.
    pub fn range(&self) -> (usize, usize) {
        (self.rx as usize, self.bytes)
    }

    /// Number of places.
    pub fn places(&self) -> u32 {
        (self.bytes / self.place_bytes) as u32
    }

    /// Bytes of a place, a multiple of the page.
    pub fn place_bytes(&self) -> usize {
        self.place_bytes
    }

    /// Address at which code in a place runs.
    #[inline]
    pub fn address(&self, place: u32, offset: u32) -> usize {
        self.rx as usize + place as usize * self.place_bytes + offset as usize
    }

    /// The place and offset of an address, if it lies in the arena.
    #[inline]
    pub fn locate(&self, address: usize) -> Option<(u32, u32)> {
        let distance = address.checked_sub(self.rx as usize)?;
        (distance < self.bytes)
            .then(|| ((distance / self.place_bytes) as u32, (distance % self.place_bytes) as u32))
    }

    /// The distance of an address from the first of the places.
    #[inline]
    fn inside(&self, address: usize) -> usize {
        let inside = address.wrapping_sub(self.rx as usize);
        assert!(inside < self.bytes, "an address of the arena");
        inside
    }

    /// An address of the places in the RW alias.
    #[inline]
    fn rw(&self, address: usize) -> *mut u8 {
        // Relaxed: changes only while there is one thread.
        self.rw.load(Ordering::Relaxed).wrapping_add(self.inside(address))
    }

    /// The aligned word at an address of the places, in the RW alias.
    #[inline]
    fn word(&self, at: usize) -> &AtomicU64 {
        // SAFETY: `rw` makes sure that its first byte lies in the alias, which stays mapped as long
        // as the arena is there, and begins on a page, as places do: so does all of an aligned
        // word.
        unsafe { AtomicU64::from_ptr(self.rw(at & !(WORD_BYTES - 1)).cast()) }
    }

    /// The word at an address.
    #[inline]
    pub(crate) fn load(&self, at: usize) -> Word {
        self.word(at).load(Ordering::Relaxed)
    }

    /// Writes the word at an address. Other processes do not see it.
    #[inline]
    pub(crate) fn store(&self, at: usize, word: Word, ordering: Ordering) {
        self.take_page_at(at);
        self.store_own(at, word, ordering);
    }

    /// Makes the page at an address one that no other process sees; the address behind it.
    #[inline]
    pub(crate) fn take_page_at(&self, at: usize) -> usize {
        let page = self.inside(at) / PAGE_BYTES;
        if !self.own_pages.is_own(page) {
            self.take_page(page);
        }
        self.rx as usize + (page + 1) * PAGE_BYTES
    }

    /// Writes the word at an address in a page that no other process sees.
    #[inline]
    pub(crate) fn store_own(&self, at: usize, word: Word, ordering: Ordering) {
        self.word(at).store(word, ordering);
    }

    /// Replaces a word of a patchable entry or a body by one store.
    pub(crate) fn set_word(&self, at: usize, word: Word) {
        // Release: pairs with the fetch of the word by any thread, which finds what was written
        // before it where the word leads.
        self.store(at, word, Ordering::Release);
        if self.is_breakable() {
            // SAFETY: the word that was just written.
            unsafe { self.mirror(at, WORD_BYTES) };
        }
    }

    /// Replaces the bytes of a word that a mask selects by those of another.
    pub(crate) fn change_word(&self, at: usize, other: Word, mask: Word) {
        // The rest of the word is written by the holder of the lock alone, so it does not change
        // between the load and the store.
        let word = self.load(at);
        self.set_word(at, with_bytes(word, other, mask));
    }

    /// Whether debuggers may write breakpoints into copies.
    pub fn is_breakable(&self) -> bool {
        self.form == Form::Debugger
    }

    /// Makes the RX alias show what was written to `bytes` at `address` of it. Where a debugger has
    /// written to the same page, the two aliases differ; breakpoints among these bytes go.
    ///
    /// # Safety
    /// The bytes must lie in one place, which is open, and nobody may write them meanwhile.
    pub(crate) unsafe fn mirror(&self, address: usize, bytes: usize) {
        if !self.is_breakable() || bytes == 0 {
            return;
        }
        // SAFETY: the caller's promise: both aliases of the range are mapped readable.
        let (there, here) = unsafe {
            (
                core::slice::from_raw_parts(address as *const u8, bytes),
                core::slice::from_raw_parts(self.rw(address), bytes),
            )
        };
        // Byte by byte: the comparison of slices is libc's, and this runs in the resolver.
        let differ = there.iter().zip(here).any(|(there, here)| there != here);
        if differ && let Ok(memory) = File::open(c"/proc/self/mem", os::OPEN_READ_WRITE) {
            // SAFETY: the same bytes as in the other alias, which are those that belong there.
            let _ = unsafe { memory.write_at(here, address) };
        }
    }

    /// Makes the first `places` accessible. The others are not, so that a program that locks its
    /// memory does not fill them.
    fn open_places(&self, places: u32) -> Result<(), Errno> {
        // A header in front is opened with them: whoever looks for files finds one mapping, from
        // its start on.
        let front_bytes = self.around.front_bytes;
        let bytes = front_bytes + places as usize * self.place_bytes;
        let rw = self.rw.load(Ordering::Relaxed);
        // SAFETY: both ranges are our own mappings; those open before stay as they are.
        unsafe {
            os::protect(rw.sub(front_bytes), bytes, os::PROT_READ | os::PROT_WRITE)?;
            os::protect(self.rx.sub(front_bytes), bytes, os::PROT_READ | os::PROT_EXEC)?;
            let sides = places as usize * self.side_bytes;
            os::protect(self.side_memory(0), sides, os::PROT_READ | os::PROT_WRITE)
        }
    }

    /// Makes a place and those before it accessible, and fills the first `bytes` of it with traps,
    /// so that nothing but what is copied there runs; unless it has them (`trapped`).
    ///
    /// # Safety
    /// No thread may be able to reach the place.
    pub(crate) unsafe fn open(
        &self,
        (place, trapped): (u32, bool),
        bytes: usize,
    ) -> Result<(), Errno> {
        self.note_prepared(place);
        // SAFETY: the caller's promise.
        let trapped = !unsafe { self.renew(place) }? && trapped;
        self.open_places(place + 1)?;
        if self.is_breakable() {
            // What a debugger wrote to an earlier layout goes with it.
            let rx = self.address(place, 0) as *mut u8;
            os::take_into_dumps(rx, self.place_bytes);
            // SAFETY: the pages of a place that no thread knows; they read as the object's again.
            unsafe { os::release_pages(rx, self.place_bytes) };
        }
        if self.file_range().is_some() {
            let start = self.rw(self.address(place, 0));
            // Otherwise a full disk would end the program by a signal.
            if !os::is_writable(start, self.place_bytes) {
                return Err(os::ENOSPC);
            }
        }
        let bytes = if trapped { 0 } else { bytes.min(self.place_bytes) };
        // SAFETY: the caller's promise; the place is open.
        unsafe { self.fill(self.address(place, 0), bytes) };
        Ok(())
    }

    /// Makes it possible to fill a place with traps that nobody can reach: other processes may have
    /// its memory.
    ///
    /// # Safety
    /// No thread may be able to reach the place.
    pub(crate) unsafe fn leave(&self, place: u32) -> Result<(), Errno> {
        // SAFETY: the caller's promise.
        unsafe { self.renew(place) }.map(drop)
    }

    /// Gives the memory of the last places that are open back. Whoever could still reach them,
    /// dies.
    pub(crate) fn close(&self, places: &Range<u32>) -> Result<(), Errno> {
        for place in places.clone() {
            // SAFETY: nobody can reach what is in the places. What others may have stays theirs.
            unsafe { self.renew(place) }?;
        }
        let start = places.start as usize * self.place_bytes;
        let bytes = places.len() * self.place_bytes;
        let rx = self.rx.wrapping_add(start);
        let rw = self.rw.load(Ordering::Relaxed).wrapping_add(start);
        // SAFETY: our own mappings, and nobody can reach what is in the places.
        unsafe {
            os::protect(rx, bytes, os::PROT_NONE)?;
            os::remove_pages(rw, bytes);
            os::protect(rw, bytes, os::PROT_NONE)
        }
    }

    /// Fills bytes at an address with traps: whoever could reach them, dies.
    ///
    /// # Safety
    /// They must lie in a place that is open, and nobody may be able to reach them any more or yet.
    pub(crate) unsafe fn fill(&self, address: usize, bytes: usize) {
        if bytes > 0 {
            self.note_filled(self.inside(address), bytes);
            // SAFETY: the caller's promise.
            unsafe { arch::fill_bytes(self.rw(address), TRAP, bytes) };
        }
    }

    /// Side memory of a place, of which each function has a part. It is accessible from the first
    /// time that the place is opened on, even while the place is closed, and no memory is taken
    /// before it is written.
    pub fn side_memory(&self, place: u32) -> *mut u8 {
        let all = self.places() as usize * self.side_bytes;
        let alias = self.rx.wrapping_sub(self.around.front_bytes);
        alias.wrapping_sub(all).wrapping_add(place as usize * self.side_bytes)
    }

    /// Where the file is mapped, and its bytes, if the arena has room for what it says.
    pub fn file_range(&self) -> Option<(usize, usize)> {
        let start = self.rx as usize - self.around.front_bytes;
        (self.around.front_bytes > 0).then_some((start, self.bytes + self.around.bytes()))
    }

    /// A part of the file in the RW alias; nothing if it lies elsewhere, or the disk is full.
    ///
    /// # Safety
    /// Nobody else may refer to the part.
    #[expect(clippy::mut_from_ref, reason = "memory that nothing else in the arena refers to")]
    pub unsafe fn file_part(&self, offset: usize, bytes: usize) -> Option<&mut [u8]> {
        let (_, all_bytes) = self.file_range()?;
        offset.checked_add(bytes).filter(|&end| end <= all_bytes)?;
        let rw = self.rw.load(Ordering::Relaxed);
        let start = rw.wrapping_sub(self.around.front_bytes).wrapping_add(offset);
        // SAFETY: the caller's promise; the mapping stays as long as the arena.
        os::is_writable(start, bytes)
            .then(|| unsafe { core::slice::from_raw_parts_mut(start, bytes) })
    }

    /// Makes what is said of the places accessible; nobody executes it.
    fn open_behind(&self) -> Result<(), Errno> {
        let bytes = self.around.behind_bytes;
        if bytes == 0 {
            return Ok(());
        }
        let rw = self.rw.load(Ordering::Relaxed);
        // SAFETY: both ranges are our own mappings, behind the places.
        unsafe {
            os::protect(rw.add(self.bytes), bytes, os::PROT_READ | os::PROT_WRITE)?;
            os::protect(self.rx.add(self.bytes), bytes, os::PROT_READ)
        }
    }
}

impl Drop for Arena {
    fn drop(&mut self) {
        let Around { front_bytes, .. } = self.around;
        // SAFETY: the mapping of `new` or `unshare`; who owns the arena has no use for it any more.
        unsafe { os::unmap(self.rw.get_mut().sub(front_bytes), self.bytes + self.around.bytes()) };
    }
}
