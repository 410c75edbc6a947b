//! Code randomization: the functions of an image, copied to a fresh layout in every epoch.
//!
//! Who may call what: [`Code::resolve`] runs in the trap handler of any thread, [`Code::plan`] and
//! [`Code::publish`] on the maintenance task, all under one lock. Between the two the maintenance
//! task runs [`Plan::prepare`] without the lock, on a place of the arena that no thread knows yet.
//! [`Locator::origin`] runs anywhere, without the lock.

pub mod arena;
pub mod image;
pub mod layout;
pub mod region;
pub mod table;

use crate::arch::TRAP;
use crate::epoch::{Epochs, Exhausted};
use crate::os;
use crate::rng::Stream;
use arena::{Arena, Unavailable};
use core::sync::atomic::AtomicUsize;
use image::{Image, RedirectFailed};
use region::Region;

/// One function in so many, of those that ran in the last epoch, is not copied ahead but waits for
/// its first call: a function that is no longer used is found out and costs nothing after a while.
const WAIT_ONE_IN: u32 = 8;

/// Most entries of old copies that lead to new ones at a time.
const MAX_REDIRECTS: usize = 4 << 20;

/// Why code is not randomized.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refused {
    /// The program has no relocation table.
    Table(table::Missing),
    /// No function of the program may move.
    NothingMovable,
    /// There is no arena.
    Arena(Unavailable),
    /// The kernel cannot make threads see new code.
    Membarrier,
    /// The kernel does not let a program change its own text.
    Text,
    /// Not enough memory.
    Memory,
    /// The kernel does not let the runtime handle SIGTRAP.
    Signal,
}

impl Refused {
    /// What a person reads.
    pub fn text(self) -> &'static str {
        match self {
            Self::Table(table::Missing::File) => "the program's file cannot be read",
            Self::Table(table::Missing::Section) => "the program has no relocation table",
            Self::Table(table::Missing::Malformed) => "the relocation table cannot be read",
            Self::NothingMovable => "no function of the program may move",
            Self::Arena(Unavailable::Memory(_)) => "the kernel gave no memory for copies of code",
            Self::Arena(Unavailable::Addresses) => "no addresses are free within reach of the code",
            Self::Arena(Unavailable::Budget) => "one layout is larger than SZC_CODE_BUDGET_MIB",
            Self::Arena(Unavailable::FileLimit) => {
                "the limit on file sizes (ulimit -f) is lower than SZC_CODE_BUDGET_MIB"
            }
            Self::Membarrier => "the kernel has no membarrier for code",
            Self::Text => "the kernel does not allow writing to /proc/self/mem",
            Self::Memory => "not enough memory",
            Self::Signal => "the kernel did not give SIGTRAP to the runtime",
        }
    }
}

/// What the log tells about code.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Epochs begun after the first.
    pub epochs: u64,
    /// Functions copied.
    pub relocations: u64,
    /// Bytes of copies in the current epoch.
    pub live_bytes: u64,
    /// Bytes of copies of earlier epochs, all kept.
    pub retained_bytes: u64,
    /// No place was left for another epoch.
    pub exhausted: bool,
}

/// The state of code randomization.
pub struct Code {
    image: Image,
    arena: Arena,
    epochs: Epochs,
    seed: u64,
    /// By place of the arena.
    regions: *mut Region,
    /// Entries of old copies that lead to the current epoch.
    redirects: *mut usize,
    redirect_count: usize,
    counts: Counts,
}

impl Code {
    /// Takes over the running program: from here on each of its movable functions traps when it is
    /// first called.
    ///
    /// # Safety
    /// Only the calling thread may exist, no movable function may have been entered, and the caller
    /// must handle the traps from now on.
    pub unsafe fn start(base: usize, seed: u64, budget_bytes: usize) -> Result<Self, Refused> {
        let table = table::map_own().map_err(Refused::Table)?;
        if table.movable_count() == 0 {
            return Err(Refused::NothingMovable);
        }
        os::register_core_synchronization().map_err(|_| Refused::Membarrier)?;
        let functions = || (0..table.movable_count()).filter_map(|index| table.movable(index));
        let layout_bytes = layout::max_bytes(functions().map(|function| function.copy_bytes()))
            .ok_or(Refused::Arena(Unavailable::Budget))?;
        // Where address space is limited, most of it is left to the program.
        let budget_bytes = budget_bytes.min(os::limit(os::LIMIT_ADDRESS_BYTES) / 16);
        // The pointers of the entries stand before the first layout, within reach of the image.
        let pointer_bytes = table.movable_count() * size_of::<usize>();
        let (arena, pointers) = Arena::new(
            base,
            base + image::loaded_bytes(base),
            layout_bytes as usize,
            budget_bytes,
            pointer_bytes,
        )
        .map_err(Refused::Arena)?;
        let image =
            Image::new(base, table, pointers.cast::<AtomicUsize>()).ok_or(Refused::Memory)?;
        let regions = os::map_anonymous(arena.places() as usize * size_of::<Region>())
            .map_err(|_| Refused::Memory)?
            .cast();
        let redirects = os::map_anonymous(MAX_REDIRECTS * size_of::<usize>())
            .map_err(|_| Refused::Memory)?
            .cast();
        let epochs = Epochs::first(arena.places());
        let first = Region::draw(&image, &arena, 0, seed, 0).ok_or(Refused::Memory)?;
        let mut code = Self {
            image,
            arena,
            epochs,
            seed,
            regions,
            redirects,
            redirect_count: 0,
            counts: Counts::default(),
        };
        code.install(first);
        // SAFETY: the caller's promise.
        match unsafe { code.image.redirect_entries() } {
            // Entries that lead through their pointers are served like all others.
            Ok(()) | Err(RedirectFailed::PartlyWritten) => Ok(code),
            Err(RedirectFailed::NothingWritten) => Err(Refused::Text),
        }
    }

    /// The image.
    pub fn image(&self) -> &Image {
        &self.image
    }

    /// What has happened so far.
    pub fn counts(&self) -> Counts {
        self.counts
    }

    /// Forgets what was counted, for a forked child.
    pub fn reset_counts(&mut self) {
        let live_bytes = self.counts.live_bytes;
        let retained_bytes = self.counts.retained_bytes;
        let exhausted = self.counts.exhausted;
        self.counts = Counts { live_bytes, retained_bytes, exhausted, ..Counts::default() };
    }

    fn region(&self, place: u32) -> &Region {
        // SAFETY: places are below the array's length; a region is written before any address in
        // it is given out.
        unsafe { &*self.regions.add(place as usize) }
    }

    fn current_place(&self) -> u32 {
        self.epochs.place_of(self.epochs.current())
    }

    /// Puts a region at its place and sends all entries there.
    fn install(&mut self, region: Region) {
        // SAFETY: as `region`.
        unsafe { self.regions.add(region.place() as usize).write(region) };
        for function in 0..self.image.count() {
            self.image.set_pointer(function, region.entry(&self.arena, function));
        }
    }

    /// Serves a trap at `address`: copies the function meant and says where to continue. Nothing if
    /// the trap is not one of the runtime's.
    pub fn resolve(&mut self, address: usize) -> Option<usize> {
        let (place, offset) = self.arena.locate(address)?;
        if u64::from(place) > self.epochs.current() {
            return None;
        }
        let function = self.region(place).function_at(&self.image, offset)?;
        if address != self.region(place).entry(&self.arena, function) {
            return None;
        }
        if region::entry_byte(&self.arena, address) != TRAP {
            // Another thread served the same trap first.
            return Some(address);
        }
        let current = self.current_place();
        // SAFETY: as `region`; the lock makes this the only reference.
        let region = unsafe { &mut *self.regions.add(current as usize) };
        let from = region.copied_count();
        let (copied, bytes) = region.copy_unit(&self.image, &self.arena, function);
        self.counts.relocations += u64::from(copied);
        self.counts.live_bytes += bytes;
        let target = region.entry(&self.arena, function);
        // In a forked child copies may wait to be entered again.
        let reopen = copied == 0 && region::entry_byte(&self.arena, target) == TRAP;
        if reopen {
            region::set_head_tail(&self.arena, target);
        }
        if place != current {
            region::set_jump_tail(&self.arena, address, target);
        }
        os::synchronize_cores();
        if reopen {
            region::open_head(&self.arena, target);
        }
        self.region(current).open_entries(&self.arena, from);
        if place != current && self.remember_redirect(address) {
            region::open_jump(&self.arena, address);
        }
        Some(target)
    }

    /// An entry that is not remembered stays a trap: slower, and as correct.
    fn remember_redirect(&mut self, entry: usize) -> bool {
        if self.redirect_count == MAX_REDIRECTS {
            return false;
        }
        // SAFETY: below the array's length.
        unsafe { self.redirects.add(self.redirect_count).write(entry) };
        self.redirect_count += 1;
        true
    }

    /// What the next epoch needs to know of this one.
    ///
    /// # Errors
    /// [`Exhausted`] when no place is left.
    pub fn plan(&self) -> Result<Plan, Exhausted> {
        let (epoch, place) = self.epochs.next()?;
        let old = *self.region(self.current_place());
        Ok(Plan { image: self.image, arena: self.arena, seed: self.seed, epoch, place, old })
    }

    /// Begins the epoch that was prepared.
    pub fn publish(&mut self, prepared: &Prepared) {
        let old_place = self.current_place();
        let old = *self.region(old_place);
        let entry = |code: &Self, function| old.entry(&code.arena, function);
        for index in 0..old.copied_count() {
            region::set_entry_byte(&self.arena, entry(self, old.copied(index)), TRAP);
        }
        for index in 0..self.redirect_count {
            // SAFETY: below the number of entries written.
            let redirect = unsafe { self.redirects.add(index).read() };
            region::set_entry_byte(&self.arena, redirect, TRAP);
        }
        self.redirect_count = 0;
        self.install(prepared.region);
        self.epochs.advance();
        // No thread may be inside an instruction whose tail is about to change.
        os::synchronize_cores();
        let new = *self.region(self.current_place());
        for index in 0..old.copied_count() {
            let function = old.copied(index);
            if new.is_copied(function) {
                let target = new.entry(&self.arena, function);
                region::set_jump_tail(&self.arena, entry(self, function), target);
            }
        }
        os::synchronize_cores();
        for index in 0..old.copied_count() {
            let function = old.copied(index);
            if new.is_copied(function) && self.remember_redirect(entry(self, function)) {
                region::open_jump(&self.arena, entry(self, function));
            }
        }
        self.counts.epochs += 1;
        self.counts.relocations += u64::from(new.copied_count());
        self.counts.retained_bytes += self.counts.live_bytes;
        self.counts.live_bytes = prepared.bytes;
    }

    /// Records that no further epoch can begin.
    pub fn set_exhausted(&mut self) {
        self.counts.exhausted = true;
    }

    /// Finds where copies come from, for as long as the program runs.
    pub fn locator(&self) -> Locator {
        Locator { image: self.image, arena: self.arena, regions: self.regions }
    }

    /// Calls `visit` with epoch, function, address and bytes of every copy.
    pub fn for_each_copy(&self, mut visit: impl FnMut(u64, u32, usize, u32)) {
        for epoch in 0..=self.epochs.current() {
            let region = self.region(self.epochs.place_of(epoch));
            for index in 0..region.copied_count() {
                let function = region.copied(index);
                let bytes = self.image.function(function).size;
                visit(epoch, function, region.body(&self.arena, function), bytes);
            }
        }
    }

    /// In a forked child: gives it its own copies, and makes every function trap again.
    ///
    /// The parent may have been copying, or have changed entries, while the memory was copied. Bodies
    /// of what was copied before stay as they are: the child may be inside them.
    ///
    /// # Safety
    /// As [`Arena::unshare`].
    pub unsafe fn unshare(&mut self) -> Result<(), os::Errno> {
        // SAFETY: the caller's promise.
        unsafe { self.arena.unshare(self.current_place() + 1)? };
        self.redirect_count = 0;
        for place in 0..=self.current_place() {
            let region = *self.region(place);
            for index in 0..region.copied_count() {
                let entry = region.entry(&self.arena, region.copied(index));
                region::set_entry_byte(&self.arena, entry, TRAP);
            }
        }
        let current = *self.region(self.current_place());
        for function in 0..self.image.count() {
            if !current.is_copied(function) {
                let entry = current.entry(&self.arena, function);
                region::set_entry_byte(&self.arena, entry, TRAP);
            }
        }
        Ok(())
    }
}

/// Everything needed to prepare an epoch while the program runs on.
pub struct Plan {
    image: Image,
    arena: Arena,
    seed: u64,
    epoch: u64,
    place: u32,
    old: Region,
}

impl Plan {
    /// Draws the epoch's layout and copies ahead most of the functions that the last one copied.
    /// Nothing if there is not enough memory.
    ///
    /// Works on a place of the arena that no thread knows; of the old region it reads only what was
    /// written before the plan was made.
    pub fn prepare(&self) -> Option<Prepared> {
        let mut region = Region::draw(&self.image, &self.arena, self.place, self.seed, self.epoch)?;
        // Which functions wait must not change where any function lies: a stream of its own.
        let mut waits = Stream::new(!self.seed, self.epoch);
        let mut bytes = 0;
        for index in 0..self.old.copied_count() {
            if waits.below(WAIT_ONE_IN) != 0 {
                let function = self.old.copied(index);
                bytes += region.copy_unit(&self.image, &self.arena, function).1;
            }
        }
        os::synchronize_cores();
        region.open_entries(&self.arena, 0);
        Some(Prepared { region, bytes })
    }
}

/// A layout that waits to begin.
pub struct Prepared {
    region: Region,
    bytes: u64,
}

/// Finds where an address in a copy comes from. Valid for as long as the program runs, on any
/// thread, without a lock: the layout of a region never changes once code runs in it.
#[derive(Clone, Copy)]
pub struct Locator {
    image: Image,
    arena: Arena,
    regions: *const Region,
}

impl Locator {
    /// The origin of an address, if it lies in a copy.
    pub fn origin(&self, address: usize) -> Option<Origin> {
        let (place, offset) = self.arena.locate(address)?;
        // SAFETY: below the number of places; a region is written before any address in it runs.
        let region = unsafe { self.regions.add(place as usize).read_volatile() };
        if region.bytes() == 0 {
            return None;
        }
        let function = region.function_at(&self.image, offset)?;
        let body = region.body(&self.arena, function);
        let original = self.image.original(&self.image.function(function));
        // In the head nothing of the function has run yet: that is its first instruction.
        Some(Origin { original: original + address.saturating_sub(body), body })
    }
}

/// Where an address in a copy comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Origin {
    /// The corresponding address in the original function.
    pub original: usize,
    /// Start of the copy's body.
    pub body: usize,
}
