//! Pages of an arena that no other process has: what is written, while forked children share the
//! rest.
//!
//! A page that a child may have as well is replaced, before it is written, by one of its own with
//! the same content, in both aliases: threads that run there notice nothing. After some pages of a
//! place the rest of it follows. Nobody waits for another process, and none has more copies than it
//! has changed.
//!
//! The place that is being prepared may be written whoever has its memory: a child does not run in
//! it, and takes fresh memory before it uses the place itself.

use super::Arena;
use super::stamps::NONE;
use crate::alias;
use crate::sharing;
use core::ops::Range;
use core::sync::atomic::Ordering;
use szc_sys::arch;
use szc_sys::os::{self, Errno, PAGE_BYTES};

/// One page in so many of a place is taken by itself, and no more than so many: in a child, which
/// mostly ends soon, and in a process with children, each of which costs more the more pieces there
/// are.
const SINGLE_ONE_IN: usize = 16;
const MAX_SINGLE_OF_CHILD: usize = 32;
const MAX_SINGLE: usize = 8;

impl Arena {
    /// Whether forked children share its memory until they change it.
    pub fn is_shared_with_children(&self) -> bool {
        !self.own_pages.places.is_empty()
    }

    /// Takes the pages of some bytes, so that what is written there is seen by this process alone.
    /// Whether that was possible.
    pub(crate) fn take_bytes(&self, address: usize, bytes: usize) -> bool {
        let inside = self.inside(address);
        for page in inside / PAGE_BYTES..(inside + bytes).div_ceil(PAGE_BYTES) {
            if !self.own_pages.is_own(page) {
                self.take_page(page);
            }
        }
        self.own_pages.refused.load(Ordering::Relaxed) == 0
    }

    fn pages_of(&self, place: u32) -> Range<usize> {
        let count = self.place_bytes / PAGE_BYTES;
        place as usize * count..(place as usize + 1) * count
    }

    /// Makes a page, of which is not known whether others have it, one that may be written.
    #[cold]
    #[inline(never)]
    pub(super) fn take_page(&self, page: usize) {
        let own = &self.own_pages;
        let place = (page / (self.place_bytes / PAGE_BYTES)) as u32;
        let stamp = &own.pages[page];
        let is_new = stamp.load(Ordering::Relaxed) == 0 && own.is_own_place(place);
        if !is_new && own.prepared.load(Ordering::Relaxed) != place {
            let pages = self.pages_of(place);
            let max = if sharing::is_child() { MAX_SINGLE_OF_CHILD } else { MAX_SINGLE };
            let max = (pages.len() / SINGLE_ONE_IN).min(max);
            let single = own.counts_single(place, max);
            let taken = if single { self.take(page..page + 1) } else { self.take_place(place) };
            if taken.is_err() {
                own.refused.store(1, Ordering::Relaxed);
            }
        }
        stamp.store(own.own(), Ordering::Relaxed);
    }

    /// Makes pages this process's alone, with the content that they have.
    fn take(&self, pages: Range<usize>) -> Result<(), Errno> {
        sharing::note_written();
        let (start, bytes) = (pages.start * PAGE_BYTES, pages.len() * PAGE_BYTES);
        let from = self.rw.load(Ordering::Relaxed).wrapping_add(start);
        let was_written = |page: usize| self.own_pages.pages[page].load(Ordering::Relaxed) != 0;
        let fill = |to: *mut u8| {
            for page in pages.clone().filter(|&page| was_written(page)) {
                let at = page * PAGE_BYTES - start;
                // SAFETY: a page of the RW alias, which nobody writes to but who holds the lock
                // and is here, and one of fresh memory of that size.
                unsafe { arch::copy_bytes(to.add(at), from.add(at), PAGE_BYTES) };
            }
        };
        let at = (self.rx as usize + start, from as usize);
        // SAFETY: our own mappings; what is executed there stays the same.
        unsafe { alias::renew(at, bytes, fill) }
    }

    /// Makes all of a place this process's alone, unless it is.
    ///
    /// # Errors
    /// There is no memory; then it is as before.
    pub(crate) fn take_place(&self, place: u32) -> Result<(), Errno> {
        let own = &self.own_pages;
        if own.is_own_place(place) {
            return Ok(());
        }
        if own.refused.load(Ordering::Relaxed) != 0 {
            // Others may write to the same.
            return Err(os::EINVAL);
        }
        let stamp = own.own();
        self.take(self.pages_of(place))?;
        own.stamp_written(self.pages_of(place));
        own.note_whole(place, stamp);
        Ok(())
    }

    /// Gives a place that nobody can reach fresh memory, if others may have what it has. Whether it
    /// was given some.
    ///
    /// # Safety
    /// No thread may be able to reach the place.
    pub(super) unsafe fn renew(&self, place: u32) -> Result<bool, Errno> {
        let own = &self.own_pages;
        if own.is_own_place(place) {
            return Ok(false);
        }
        let (stamp, start) = (own.own(), place as usize * self.place_bytes);
        let rw = self.rw.load(Ordering::Relaxed) as usize + start;
        // SAFETY: our own mappings; the caller's promise.
        unsafe { alias::renew((self.rx as usize + start, rw), self.place_bytes, |_| {}) }?;
        for page in &own.pages[self.pages_of(place)] {
            page.store(0, Ordering::Relaxed);
        }
        own.note_whole(place, stamp);
        Ok(true)
    }

    /// Notes that a place is being prepared, in memory that no thread runs in.
    pub(super) fn note_prepared(&self, place: u32) {
        self.own_pages.prepared.store(place, Ordering::Relaxed);
    }

    /// Threads can reach what was prepared from now on. Under the lock, while no fork is under way,
    /// or nobody has known of the arena until now.
    pub(crate) fn note_published(&self, place: u32) {
        let own = &self.own_pages;
        own.prepared.store(NONE, Ordering::Relaxed);
        sharing::note_written();
        if let Some(stamp) = own.places.get(place as usize) {
            stamp.store(own.own() - 1, Ordering::Relaxed);
            own.stamp_written(self.pages_of(place));
        }
    }

    /// Notes that bytes are written where nobody is, and in memory that others do not use.
    pub(super) fn note_filled(&self, inside: usize, bytes: usize) {
        let pages = inside / PAGE_BYTES..(inside + bytes).div_ceil(PAGE_BYTES);
        for stamp in self.own_pages.pages.get(pages).unwrap_or_default() {
            stamp.store(self.own_pages.own(), Ordering::Relaxed);
        }
    }

    /// In a forked child that has copied everything: all memory is its own.
    pub(super) fn note_copied(&self) {
        let own = &self.own_pages;
        for stamp in own.places.iter() {
            stamp.store(own.own() - 1, Ordering::Relaxed);
        }
        own.stamp_written(0..own.pages.len());
    }
}
