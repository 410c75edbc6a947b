//! Memory for copies of code: one object mapped twice, so that no page is ever both writable and
//! executable.
//!
//! The executable view lies within reach of the image's 32-bit fields. It is divided into places of
//! equal size; epoch k takes place k, so that its addresses depend on nothing but k.

mod addresses;
mod file;
mod private;

use super::views;
use crate::arch;
use crate::os::{self, Errno, File, PAGE_BYTES};
use crate::symbols::elf::Room;
use addresses::reserve_within_reach;
use core::ops::Range;
use file::Around;
pub use private::Private;

/// Both views of the memory.
#[derive(Clone, Copy)]
pub struct Arena {
    executable: *mut u8,
    writable: *mut u8,
    bytes: usize,
    place_bytes: usize,
    form: views::Form,
    /// Bytes of ordinary memory in front of the executable view, the headers included.
    private_bytes: usize,
    /// Bytes of the headers of each place, which lie directly in front of that view.
    header_bytes: usize,
    /// What both views have beside the places.
    around: Around,
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
    /// Maps an arena for an image that occupies `image_start..image_end`, and before it
    /// ordinary memory that the image can reach, too; with room for what is said of the places.
    pub fn new(
        image_start: usize,
        image_end: usize,
        place_bytes: usize,
        budget_bytes: usize,
        private: Private,
        form: views::Form,
        room: Room,
    ) -> Result<(Self, *mut u8), Unavailable> {
        let place_bytes = place_bytes.next_multiple_of(PAGE_BYTES);
        let places = budget_bytes / (place_bytes + room.place_bytes);
        let bytes = places * place_bytes;
        let header_bytes = private.header_bytes.next_multiple_of(PAGE_BYTES);
        let all_headers = places * header_bytes;
        let private_bytes = private.bytes.next_multiple_of(PAGE_BYTES) + all_headers;
        if bytes == 0 {
            return Err(Unavailable::Budget);
        }
        let around = Around::new(room, places);
        let all_bytes = bytes + around.bytes();
        if !views::is_allowed(form, all_bytes) {
            // To grow a memory object beyond the limit would raise SIGXFSZ.
            return Err(Unavailable::FileLimit);
        }
        let private = reserve_within_reach(image_start, image_end, private_bytes + all_bytes)
            .ok_or(Unavailable::Addresses)?;
        let start = private as usize + private_bytes;
        // SAFETY: replaces a part of the reservation, which is ours and unused.
        let (executable, writable) =
            unsafe { views::map(start, all_bytes, form) }.map_err(Unavailable::Memory)?;
        let arena = Self {
            executable: executable.wrapping_add(around.front_bytes),
            writable: writable.wrapping_add(around.front_bytes),
            bytes,
            place_bytes,
            form,
            private_bytes,
            header_bytes,
            around,
        };
        arena.open_behind().map_err(Unavailable::Memory)?;
        // SAFETY: the part of the reservation that has the headers; nobody has used it.
        unsafe { os::protect(arena.headers(0), all_headers, os::PROT_NONE) }
            .map_err(Unavailable::Memory)?;
        Ok((arena, private))
    }

    /// Gives the memory back, the ordinary memory in front of it included.
    ///
    /// # Safety
    /// Nobody may use anything in it any more.
    pub unsafe fn free(&self) {
        // SAFETY: the caller's promise; both ranges are mappings of `new`.
        unsafe {
            let Around { front_bytes, .. } = self.around;
            let bytes = self.bytes + self.around.bytes();
            os::unmap(
                self.executable.sub(front_bytes + self.private_bytes),
                self.private_bytes + bytes,
            );
            os::unmap(self.writable.sub(front_bytes), bytes);
        }
    }

    /// First address of the executable view's places, and their bytes.
    pub fn range(&self) -> (usize, usize) {
        (self.executable as usize, self.bytes)
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
    pub fn address(&self, place: u32, offset: u32) -> usize {
        self.executable as usize + place as usize * self.place_bytes + offset as usize
    }

    /// The place and offset of an address, if it lies in the arena.
    pub fn locate(&self, address: usize) -> Option<(u32, u32)> {
        let distance = address.checked_sub(self.executable as usize)?;
        (distance < self.bytes)
            .then(|| ((distance / self.place_bytes) as u32, (distance % self.place_bytes) as u32))
    }

    /// The writable view of an address of the executable view.
    ///
    /// The address must have come from [`Self::address`].
    pub fn writable(&self, address: usize) -> *mut u8 {
        self.writable.wrapping_add(address - self.executable as usize)
    }

    /// Whether debuggers may write breakpoints into copies.
    pub fn is_breakable(&self) -> bool {
        self.form == views::Form::Debugger
    }

    /// Makes the executable view show what was written to `bytes` at `address` of it. Where a
    /// debugger has written to the same page, the two views differ; breakpoints among these bytes
    /// go.
    pub fn mirror(&self, address: usize, bytes: usize) {
        if !self.is_breakable() {
            return;
        }
        // SAFETY: both views of the range are mapped readable.
        let (there, here) = unsafe {
            (
                core::slice::from_raw_parts(address as *const u8, bytes),
                core::slice::from_raw_parts(self.writable(address), bytes),
            )
        };
        // Byte by byte: the comparison of slices is libc's, and this runs in the resolver.
        let differ = there.iter().zip(here).any(|(there, here)| there != here);
        if differ && let Ok(memory) = File::open(c"/proc/self/mem", os::OPEN_READ_WRITE) {
            // SAFETY: the same bytes as in the other view, which are those that belong there.
            let _ = unsafe { memory.write_at(here, address) };
        }
    }

    /// Makes the first `places` accessible. The others are not, so that a program that locks its
    /// memory does not fill them.
    fn open_places(&self, places: u32) -> Result<(), Errno> {
        // A header in front is opened with them: whoever looks for files finds one mapping, from
        // its start on.
        let Around { front_bytes, .. } = self.around;
        let bytes = front_bytes + places as usize * self.place_bytes;
        // SAFETY: both ranges are our own mappings; those open before stay as they are.
        unsafe {
            let (executable, writable) =
                (self.executable.sub(front_bytes), self.writable.sub(front_bytes));
            os::protect(writable, bytes, os::PROT_READ | os::PROT_WRITE)?;
            os::protect(executable, bytes, os::PROT_READ | os::PROT_EXEC)?;
            let headers = places as usize * self.header_bytes;
            os::protect(self.headers(0), headers, os::PROT_READ | os::PROT_WRITE)
        }
    }

    /// Makes a place and those before it accessible, and fills the first `bytes` of it with traps,
    /// so that nothing but what is copied there runs.
    pub fn open(&self, place: u32, bytes: usize) -> Result<(), Errno> {
        self.open_places(place + 1)?;
        if self.is_breakable() {
            // What a debugger wrote to an earlier layout goes with it.
            let executable = self.address(place, 0) as *mut u8;
            os::take_into_dumps(executable, self.place_bytes);
            // SAFETY: the pages of a place that no thread knows; they read as the object's again.
            unsafe { os::release_pages(executable, self.place_bytes) };
        }
        if self.file_range().is_some() {
            let start = self.writable(self.address(place, 0));
            // Otherwise a full disk would end the program by a signal.
            if !os::is_writable(start, self.place_bytes) {
                return Err(os::ENOSPC);
            }
        }
        self.fill(self.address(place, 0), bytes.min(self.place_bytes));
        Ok(())
    }

    /// Gives the memory of the last places that are open back. Whoever could still reach them,
    /// dies.
    pub fn close(&self, places: Range<u32>) -> Result<(), Errno> {
        let start = places.start as usize * self.place_bytes;
        let bytes = places.len() * self.place_bytes;
        let (executable, writable) =
            (self.executable.wrapping_add(start), self.writable.wrapping_add(start));
        // SAFETY: our own mappings, and nobody can reach what is in the places.
        unsafe {
            os::protect(executable, bytes, os::PROT_NONE)?;
            os::remove_pages(writable, bytes);
            os::protect(writable, bytes, os::PROT_NONE)
        }
    }

    /// Fills bytes at an address of the executable view, which nobody can reach any more or yet,
    /// with traps: whoever could, dies.
    pub fn fill(&self, address: usize, bytes: usize) {
        // SAFETY: the range lies in a place, whose writable view is mapped; no copy is live there.
        unsafe { arch::fill_bytes(self.writable(address), arch::TRAP, bytes) };
    }

    /// In a forked child: replaces the memory shared with the parent by a copy of its own, of which
    /// the first `places` are accessible. `parts` calls what it gets with the offset in the arena
    /// and the bytes of each part of them that has meaning. Addresses stay the same.
    ///
    /// # Safety
    /// No other thread may run in this process, and the parent must not change the memory
    /// meanwhile.
    pub unsafe fn unshare(
        &mut self,
        places: u32,
        parts: impl Fn(&mut dyn FnMut(usize, usize)),
    ) -> Result<(), Errno> {
        if self.file_range().is_some() {
            // SAFETY: the caller's promise.
            return unsafe { self.unshare_file(places, parts) };
        }
        let open_bytes = places as usize * self.place_bytes;
        let old = self.writable;
        // SAFETY: the parts lie in both views, and both are accessible there.
        let fill = |new| unsafe { copy_parts(&parts, old, new) };
        // SAFETY: replaces our own mapping by one with equal content; the code that runs here is
        // the image's, not the arena's.
        unsafe {
            let start = self.executable as usize;
            self.writable = views::replace(start, self.bytes, open_bytes, self.form, fill)?;
            os::unmap(old, self.bytes);
        }
        Ok(())
    }
}

/// Copies the parts that `parts` calls what it gets with, by their offset and bytes.
///
/// # Safety
/// Each part lies in both views, and is accessible there.
unsafe fn copy_parts(parts: impl Fn(&mut dyn FnMut(usize, usize)), from: *const u8, to: *mut u8) {
    // SAFETY: the caller's promise.
    parts(&mut |start, bytes| unsafe { arch::copy_bytes(to.add(start), from.add(start), bytes) });
}

#[cfg(test)]
mod tests {
    use super::addresses::REACH_BYTES;
    use super::*;

    const PRIVATE: Private = Private { bytes: 100, header_bytes: 5000 };

    /// An address in this program, an arena of a megabyte for it, and the memory in front.
    fn own(place_bytes: usize) -> (usize, Arena, *mut u8) {
        let image = arch::copy_bytes as *const () as usize & !(PAGE_BYTES - 1);
        let (end, form) = (image + (4 << 20), views::Form::Plain);
        let made = Arena::new(image, end, place_bytes, 1 << 20, PRIVATE, form, Room::default());
        let (arena, private) = made.ok().unwrap();
        (image, arena, private)
    }

    #[test]
    fn both_views_show_the_same_bytes_and_the_executable_one_is_within_reach() {
        let (image, arena, private) = own(10_000);
        // SAFETY: the private memory has at least 100 bytes.
        unsafe { private.write(1) };
        assert_eq!(arena.place_bytes, 12_288);
        assert_eq!(arena.places(), 85);
        arena.open(2, 100).unwrap();
        let address = arena.address(2, 7);
        assert!(address.abs_diff(image) < REACH_BYTES);
        assert_eq!(arena.locate(address), Some((2, 7)));
        assert_eq!(arena.locate(image), None);
        // SAFETY: the address lies in the mapped executable view.
        assert_eq!(unsafe { (address as *const u8).read() }, arch::TRAP);
    }

    #[test]
    fn a_place_that_was_closed_takes_no_memory_and_can_be_opened_again() {
        let (_, arena, _) = own(8192);
        arena.open(2, 8192).unwrap();
        let resident = |address: usize| os::is_readable(address, PAGE_BYTES);
        assert!(resident(arena.address(2, 0)));
        arena.close(1..3).unwrap();
        assert!(!resident(arena.address(1, 0)) && !resident(arena.address(2, 4096)));
        assert!(resident(arena.address(0, 0)));
        arena.open(1, 100).unwrap();
        let byte = |offset| {
            // SAFETY: the address lies in a place that is open.
            unsafe { (arena.address(1, offset) as *const u8).read() }
        };
        assert_eq!((byte(99), byte(100)), (arch::TRAP, 0), "zeros are new memory");
    }

    #[test]
    fn a_layout_larger_than_the_budget_is_refused() {
        let refused = Arena::new(
            1 << 40,
            1 << 40,
            2 << 20,
            1 << 20,
            PRIVATE,
            views::Form::Plain,
            Room::default(),
        )
        .err();
        assert_eq!(refused, Some(Unavailable::Budget));
    }
}
