//! Code randomization: the functions of an image, copied to a fresh layout in every epoch.
//!
//! Who may call what: [`Code::resolve`] runs at a first call on any thread, [`Code::plan`] and
//! [`Code::publish`] on the maintenance task, all under one lock. Between the two the maintenance
//! task runs [`Plan::prepare`] without the lock, on a place of the arena that no thread knows yet.
//! [`Locator::origin`] runs anywhere, without the lock.

pub mod arena;
pub mod image;
pub mod layout;
pub mod origin;
pub mod pristine;
pub mod region;
pub mod table;
pub mod views;

use crate::arch::{self, entry};
use crate::epoch::{Epochs, Exhausted};
use crate::os;
use crate::rng::Stream;
use crate::symbols;
use arena::{Arena, Unavailable};
use core::sync::atomic::AtomicUsize;
use image::{Image, RedirectFailed};
use origin::Locator;
use pristine::Pristine;
use region::Region;

/// One function in so many, of those that ran in the last epoch, is not copied ahead but waits for
/// its first call: a function that is no longer used is found out and costs nothing after a while.
const WAIT_ONE_IN: u32 = 8;

/// Most slots of old epochs that lead to the current one at a time.
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
    /// The processor compares return addresses with a stack of its own.
    ShadowStack,
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
            Self::ShadowStack => "the program runs with a shadow stack (CET)",
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

/// The slot of a function at a place of the arena.
#[derive(Clone, Copy)]
struct Slot {
    place: u32,
    function: u32,
}

/// The state of code randomization.
pub struct Code {
    image: Image,
    arena: Arena,
    epochs: Epochs,
    seed: u64,
    /// By place of the arena.
    regions: *mut Region,
    /// Slots of old epochs that lead to the current one.
    redirects: *mut Slot,
    redirect_count: usize,
    counts: Counts,
}

impl Code {
    /// Takes over the running program: from here on each of its movable functions asks the resolver
    /// when it is first called.
    ///
    /// # Safety
    /// Only the calling thread may exist, no movable function may have been entered, and the result
    /// must be where the resolver looks before any is.
    pub unsafe fn start(base: usize, seed: u64, budget_bytes: usize) -> Result<Self, Refused> {
        let table = table::map_own().map_err(Refused::Table)?;
        if table.movable_count() == 0 {
            return Err(Refused::NothingMovable);
        }
        if !arch::is_simulated() && entry::has_shadow_stack() {
            return Err(Refused::ShadowStack);
        }
        os::register_core_synchronization().map_err(|_| Refused::Membarrier)?;
        let functions = || (0..table.movable_count()).filter_map(|index| table.movable(index));
        let layout_bytes = layout::max_bytes(functions().map(|function| function.copy_bytes()))
            .ok_or(Refused::Arena(Unavailable::Budget))?;
        let place_bytes = layout_bytes as usize + table.movable_count() * entry::STUB_BYTES;
        // Where address space is limited, most of it is left to the program.
        let budget_bytes = budget_bytes.min(os::limit(os::LIMIT_ADDRESS_BYTES) / 16);
        // The pointers of the entries stand before the first layout, within reach of the image.
        let pointer_bytes = table.movable_count() * size_of::<usize>();
        let (arena, pointers) = Arena::new(
            base,
            base + image::loaded_bytes(base),
            place_bytes,
            budget_bytes,
            pointer_bytes,
            symbols::view_form(),
        )
        .map_err(Refused::Arena)?;
        let pristine = Pristine::of(base, c"/proc/self/exe");
        let image = Image::new(base, table, pointers.cast::<AtomicUsize>(), pristine)
            .ok_or(Refused::Memory)?;
        let regions = os::map_anonymous(arena.places() as usize * size_of::<Region>())
            .map_err(|_| Refused::Memory)?
            .cast();
        let redirects = os::map_anonymous(MAX_REDIRECTS * size_of::<Slot>())
            .map_err(|_| Refused::Memory)?
            .cast();
        let epochs = Epochs::first(arena.places());
        let mut first = Region::draw(&image, &arena, 0, seed, 0).ok_or(Refused::Memory)?;
        let live_bytes = first.complete_for_debugger(&image, &arena);
        first.open_copies(&arena, 0);
        symbols::announce(&image, &arena, &first);
        let mut code = Self {
            image,
            arena,
            epochs,
            seed,
            regions,
            redirects,
            redirect_count: 0,
            counts: Counts {
                relocations: u64::from(first.copied_count()),
                live_bytes,
                ..Counts::default()
            },
        };
        code.install(first);
        // The stubs and heads of the first epoch were written through the other view of the memory.
        os::synchronize_cores();
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

    /// Serves a call that came through the stub that contains `address`: copies the function meant
    /// and says where it is entered now. Nothing if there is no such stub.
    pub fn resolve(&mut self, address: usize) -> Option<usize> {
        let (place, offset) = self.arena.locate(address)?;
        if u64::from(place) > self.epochs.current() {
            return None;
        }
        let (function, _) = self.region(place).stub_at(&self.arena, offset)?;
        if let Some(original) = self.image.staying(function) {
            return Some(original);
        }
        if !self.region(place).is_closed(&self.arena, function) {
            // Another thread called it at the same time and was served first.
            return Some(self.region(place).entry(&self.arena, function));
        }
        let current = self.current_place();
        // SAFETY: as `region`; the lock makes this the only reference.
        let region = unsafe { &mut *self.regions.add(current as usize) };
        let from = region.copied_count();
        let (copied, bytes) = region.copy_unit(&self.image, &self.arena, function);
        self.counts.relocations += u64::from(copied);
        self.counts.live_bytes += bytes;
        // In a forked child copies may wait to be entered again.
        if region.is_closed(&self.arena, function) {
            os::synchronize_cores();
            region.open_copies(&self.arena, from);
            region.open(&self.arena, function);
        }
        let target = region.entry(&self.arena, function);
        if place != current {
            self.send_on(Slot { place, function }, target);
        }
        Some(target)
    }

    /// Makes an old slot lead to the current epoch. One that cannot be remembered stays closed:
    /// slower, and as correct.
    fn send_on(&mut self, slot: Slot, target: usize) {
        if self.redirect_count < MAX_REDIRECTS {
            // SAFETY: below the array's length.
            unsafe { self.redirects.add(self.redirect_count).write(slot) };
            self.redirect_count += 1;
            self.region(slot.place).send_on(&self.arena, slot.function, target);
        }
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
    ///
    /// A thread that fetched an older head goes where that one led: to a copy that stays.
    pub fn publish(&mut self, prepared: &Prepared) {
        let old_place = self.current_place();
        let old = *self.region(old_place);
        for index in 0..self.redirect_count {
            // SAFETY: below the number of slots written.
            let slot = unsafe { self.redirects.add(index).read() };
            self.region(slot.place).close(&self.arena, slot.function);
        }
        self.redirect_count = 0;
        self.install(prepared.region);
        self.epochs.advance();
        let new = *self.region(self.current_place());
        for index in 0..old.copied_count() {
            let function = old.copied(index);
            old.close(&self.arena, function);
            if new.is_copied(function) {
                let target = new.entry(&self.arena, function);
                self.send_on(Slot { place: old_place, function }, target);
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
        Locator::new(self.image, self.arena, self.regions)
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

    /// Tells profilers of the layouts of a forked child.
    pub fn announce_to_perf(&self) {
        for epoch in 0..=self.epochs.current() {
            let region = self.region(self.epochs.place_of(epoch));
            symbols::announce_to_perf(&self.image, &self.arena, region);
        }
    }

    /// In a forked child: gives it its own copies, and makes every function ask the resolver again.
    ///
    /// The parent may have been copying, or have changed heads, while the memory was copied. Bodies
    /// of what was copied before stay as they are: the child may be inside them.
    ///
    /// # Safety
    /// As [`Arena::unshare`].
    pub unsafe fn unshare(&mut self) -> Result<(), os::Errno> {
        let current = self.current_place();
        // SAFETY: the caller's promise.
        unsafe { self.arena.unshare(current + 1)? };
        self.redirect_count = 0;
        for place in 0..current {
            let region = *self.region(place);
            for index in 0..region.copied_count() {
                region.close(&self.arena, region.copied(index));
            }
        }
        for function in 0..self.image.count() {
            self.region(current).close(&self.arena, function);
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
        bytes += region.complete_for_debugger(&self.image, &self.arena);
        os::synchronize_cores();
        region.open_copies(&self.arena, 0);
        symbols::announce(&self.image, &self.arena, &region);
        Some(Prepared { region, bytes })
    }
}

/// A layout that waits to begin.
pub struct Prepared {
    region: Region,
    bytes: u64,
}
