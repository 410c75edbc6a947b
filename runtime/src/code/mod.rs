//! Code randomization: the functions of an image, copied to a fresh layout in every epoch.
//!
//! Each image has a [`Code`] of its own, and so an arena, epochs and layouts of its own; [`images`]
//! holds them all.
//!
//! Who may call what: [`Code::resolve`] runs at a first call on any thread, [`Code::plan`] and
//! [`Code::publish`] on the maintenance task, all under one lock. Between the two the maintenance
//! task runs [`Plan::prepare`] without the lock, on a place of the arena that no thread knows yet.
//! [`Locator::origin`] runs anywhere, without the lock.

pub mod arena;
mod budget;
pub mod copy;
mod counts;
mod guesses;
pub mod headers;
pub mod image;
pub mod images;
pub mod layout;
pub mod object;
pub mod origin;
mod plan;
pub mod pristine;
pub mod reclaim;
mod refused;
pub mod region;
pub mod slot;
pub mod spares;
pub mod table;
pub mod views;

use crate::arch::{self, entry};
use crate::epoch::{Epochs, Exhausted, Use};
use crate::os;
use crate::symbols;
use crate::unwind;
use arena::{Arena, Private, Unavailable};
pub use budget::{Budget, Reclaim};
use core::ffi::CStr;
pub use counts::Counts;
use headers::Headers;
use image::{Image, RedirectFailed};
use origin::Locator;
pub use plan::{Plan, Prepared};
use pristine::Pristine;
use reclaim::stacks::{self, Blocked};
pub use refused::Refused;
use region::Region;
use slot::{Frames, Shape, Slot};
use szc_abi::{Header, PLACEMENT_GRAIN_BYTES, Table};
use table::MappedTable;

/// Most slots of old epochs that lead to the current one at a time.
const MAX_REDIRECTS: usize = 4 << 20;

/// The slot of a function at a place of the arena.
#[derive(Clone, Copy)]
struct SlotAt {
    place: u32,
    function: u32,
}

/// Memory for what the unwinder is to be told of the functions of the image at `base`.
fn headers_for(base: usize, table: &Table<'_>) -> Result<Headers, Refused> {
    let count = table.movable_count();
    if !unwind::wants_relocated_rules() {
        return Ok(Headers::alone(count));
    }
    Headers::with_rules(count, |index| {
        let function = table.movable(index)?;
        unwind::room(base + function.start as usize, function.rules_bytes as usize)
    })
}

/// The state of code randomization of one image.
pub struct Code {
    image: Image,
    table: MappedTable,
    arena: Arena,
    epochs: Epochs<'static>,
    seed: u64,
    /// By place of the arena.
    regions: *mut Region,
    /// Slots of old epochs that lead to the current one.
    redirects: *mut SlotAt,
    redirect_count: usize,
    reclaims: bool,
    /// There can be no further epoch.
    stopped: bool,
    counts: Counts,
}

impl Code {
    /// Draws the first layout of the image at `base`, which was loaded from `file`; nothing of it changes yet.
    pub fn prepare(
        base: usize,
        file: &CStr,
        mapped: MappedTable,
        seed: u64,
        budget: Budget,
        shape: Shape,
    ) -> Result<Self, Refused> {
        let table = mapped.table;
        if table.header().flags & Header::FLAG_SWITCHES_STACKS != 0 {
            stacks::block(Blocked::Switches);
        }
        if table.movable_count() == 0 {
            return Err(Refused::NothingMovable);
        }
        if !arch::is_simulated() && entry::has_shadow_stack() {
            return Err(Refused::ShadowStack);
        }
        os::register_core_synchronization().map_err(|_| Refused::Membarrier)?;
        let functions = || (0..table.movable_count()).filter_map(|index| table.movable(index));
        let frames = if symbols::for_debugger() { Frames::AsBuilt } else { shape.frames };
        let shape = Shape { frames, ..shape };
        let slots_bytes = layout::max_bytes(functions().map(|f| Slot::of(&f, frames).bytes));
        let (slots_bytes, spare_bytes) = slots_bytes
            .zip(spares::bytes(functions(), frames))
            .ok_or(Refused::Arena(Unavailable::Budget))?;
        let place_bytes = (slots_bytes.next_multiple_of(PLACEMENT_GRAIN_BYTES) as usize)
            + spare_bytes as usize
            + table.movable_count() * entry::STUB_BYTES;
        // Where address space is limited, most of it is left to the program.
        let budget_bytes = budget.bytes.min(os::limit(os::LIMIT_ADDRESS_BYTES) / 16);
        let headers = headers_for(base, &table)?;
        // The pointers stand before the first layout, within reach of the image, and so do headers for unwinders.
        let private =
            Private { bytes: Image::pointer_bytes(&table), header_bytes: headers.bytes() };
        let (arena, pointers) = Arena::new(
            base,
            base + image::loaded_bytes(base),
            place_bytes,
            budget_bytes,
            private,
            symbols::view_form(),
            symbols::room(&table, frames, file),
        )
        .map_err(Refused::Arena)?;
        let pristine = Pristine::of(base, file);
        let image = Image::new(base, table, pointers.cast(), pristine, shape, slots_bytes, headers)
            .ok_or(Refused::Memory)?;
        let regions = os::map_anonymous(arena.places() as usize * size_of::<Region>())
            .map_err(|_| Refused::Memory)?
            .cast();
        let redirects = os::map_anonymous(MAX_REDIRECTS * size_of::<SlotAt>())
            .map_err(|_| Refused::Memory)?
            .cast();
        let uses = os::map_anonymous(arena.places() as usize).map_err(|_| Refused::Memory)?;
        // SAFETY: zeroed memory of that many bytes, unmapped by `free` alone; zero is `Use::Fresh`.
        let uses: &'static mut [Use] =
            unsafe { core::slice::from_raw_parts_mut(uses.cast(), arena.places() as usize) };
        let epochs = Epochs::first(uses, budget.preferred_places(&arena));
        let mut first = Region::draw(&image, &arena, None, 0, seed, 0).ok_or(Refused::Memory)?;
        let live_bytes = first.complete_for_debugger(&image, &arena);
        first.open_copies(&image, &arena, 0);
        symbols::introduce(&image, file);
        symbols::announce(&image, &arena, &first);
        let mut code = Self {
            image,
            table: mapped,
            arena,
            epochs,
            seed,
            regions,
            redirects,
            redirect_count: 0,
            // Whoever was told where a function lies would find another there.
            reclaims: budget.reclaim != Reclaim::Off && !symbols::tells_anyone(),
            stopped: false,
            counts: Counts {
                relocations: u64::from(first.copied_count()),
                live_bytes,
                ..Counts::default()
            },
        };
        code.install(first);
        // The stubs and heads of the first epoch were written through the other view of the memory.
        os::synchronize_cores();
        Ok(code)
    }

    /// Gives back all memory.
    ///
    /// # Safety
    /// No entry of the image leads here any more, no thread is inside a copy or can come back to one,
    /// and there is no plan.
    pub unsafe fn free(self) {
        symbols::forget(
            &self.image,
            (0..self.epochs.opened()).map(|place| self.arena.address(place, 0)),
        );
        // SAFETY: the caller's promise; the mappings are those of `prepare`.
        unsafe {
            for place in 0..self.epochs.most_opened() {
                self.region(place).free();
            }
            let uses = self.epochs.into_places();
            os::unmap(uses.as_mut_ptr().cast(), uses.len());
            os::unmap(self.regions.cast(), self.arena.places() as usize * size_of::<Region>());
            os::unmap(self.redirects.cast(), MAX_REDIRECTS * size_of::<SlotAt>());
            self.image.free();
            self.arena.free();
            self.table.free();
        }
    }

    /// The image.
    pub fn image(&self) -> &Image {
        &self.image
    }

    /// What has happened so far.
    pub fn counts(&self) -> Counts {
        Counts { kept: u64::from(self.epochs.kept()), ..self.counts }
    }

    /// Forgets what was counted, for a forked child.
    pub fn reset_counts(&mut self) {
        let live_bytes = self.counts.live_bytes;
        let retained_bytes = self.counts.retained_bytes;
        self.counts = Counts { live_bytes, retained_bytes, ..Counts::default() };
    }

    fn region(&self, place: u32) -> &Region {
        // SAFETY: places are below the array's length; a region is written before any address in
        // it is given out.
        unsafe { &*self.regions.add(place as usize) }
    }

    fn current_place(&self) -> u32 {
        self.epochs.place()
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
        if !self.epochs.is_in_use(place) {
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
            region.open_copies(&self.image, &self.arena, from);
            region.open(&self.image, &self.arena, function);
        }
        let target = region.entry(&self.arena, function);
        if place != current {
            self.send_on(SlotAt { place, function }, target);
        }
        Some(target)
    }

    /// Makes an old slot lead to the current epoch. One that cannot be remembered stays closed:
    /// slower, and as correct.
    fn send_on(&mut self, slot: SlotAt, target: usize) {
        if self.redirect_count < MAX_REDIRECTS {
            // SAFETY: below the array's length.
            unsafe { self.redirects.add(self.redirect_count).write(slot) };
            self.redirect_count += 1;
            self.region(slot.place).send_on(&self.image, &self.arena, slot.function, target);
        }
    }

    /// What the next epoch needs to know of this one.
    ///
    /// # Errors
    /// [`Exhausted`] when no place is free.
    pub fn plan(&mut self) -> Result<Plan, Exhausted> {
        let next = if self.stopped { Err(Exhausted) } else { self.epochs.next() };
        self.counts.exhausted = next.is_err();
        self.counts.skipped += u64::from(next.is_err());
        let (epoch, place) = next?;
        let old = *self.region(self.current_place());
        // A region of zeros where there was none.
        let last = *self.region(place);
        Ok(Plan { image: self.image, arena: self.arena, seed: self.seed, epoch, place, old, last })
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
            // Where nobody can come any more there may be something else by now.
            if self.epochs.is_in_use(slot.place) {
                self.region(slot.place).close(&self.image, &self.arena, slot.function);
            }
        }
        self.redirect_count = 0;
        self.install(prepared.region);
        self.epochs.advance(prepared.region.place());
        let new = *self.region(self.current_place());
        for index in 0..old.copied_count() {
            let function = old.copied(index);
            old.close(&self.image, &self.arena, function);
            if new.is_copied(function) {
                let target = new.entry(&self.arena, function);
                self.send_on(SlotAt { place: old_place, function }, target);
            }
        }
        self.counts.epochs += 1;
        self.counts.relocations += u64::from(new.copied_count());
        self.counts.retained_bytes += self.counts.live_bytes;
        self.counts.live_bytes = prepared.bytes;
    }

    /// Copies all functions into the current layout and leads every slot there, so that nothing asks the resolver any
    /// more; no further epoch begins.
    pub fn settle(&mut self) {
        let current = self.current_place();
        // SAFETY: as `region`; the lock makes this the only reference.
        let region = unsafe { &mut *self.regions.add(current as usize) };
        for function in 0..self.image.count() {
            let (copied, bytes) = region.copy_unit(&self.image, &self.arena, function);
            self.counts.relocations += u64::from(copied);
            self.counts.live_bytes += bytes;
        }
        os::synchronize_cores();
        for function in 0..self.image.count() {
            match self.image.staying(function) {
                Some(original) => region.send_on(&self.image, &self.arena, function, original),
                None => region.open(&self.image, &self.arena, function),
            }
        }
        let region = *region;
        for old in self.regions_in_use().filter(|old| old.place() != current) {
            for function in 0..self.image.count() {
                if old.is_closed(&self.arena, function) {
                    old.send_on(
                        &self.image,
                        &self.arena,
                        function,
                        region.entry(&self.arena, function),
                    );
                }
            }
        }
        self.stopped = true;
    }

    /// Records that no further epoch can begin.
    pub fn stop(&mut self) {
        self.stopped = true;
        self.counts.exhausted = true;
    }

    /// Whether there can be no further epoch.
    pub fn is_at_rest(&self) -> bool {
        self.stopped || (self.counts.exhausted && !self.reclaims)
    }

    /// Finds where copies come from, for as long as the program runs.
    pub fn locator(&self) -> Locator {
        Locator::new(self.image, self.arena, self.regions)
    }

    /// Calls `visit` with epoch, function, address and bytes of every copy that is there.
    pub fn for_each_copy(&self, mut visit: impl FnMut(u64, u32, usize, u32)) {
        for region in self.regions_in_use() {
            for index in 0..region.copied_count() {
                let function = region.copied(index);
                let bytes = self.image.function(function).size;
                let body = region.body(&self.arena, function);
                let body = body + self.image.slot(function).body as usize;
                visit(region.epoch(), function, body, bytes);
            }
        }
    }

    /// Number of functions whose frames get pads from the current layout, and the sum of those pads in bytes.
    pub fn pads(&self) -> (u64, u64) {
        if self.image.frames() != Frames::Padded {
            return (0, 0);
        }
        let region = self.region(self.current_place());
        let padded =
            (0..self.image.count()).filter(|&index| self.image.function(index).has_frame());
        padded.fold((0, 0), |(count, sum), index| (count + 1, sum + u64::from(region.pad(index))))
    }

    /// Tells profilers of the layouts of a forked child.
    pub fn announce_to_profilers(&self) {
        for region in self.regions_in_use() {
            symbols::announce_to_profilers(&self.image, &self.arena, region);
        }
    }

    fn regions_in_use(&self) -> impl Iterator<Item = &Region> {
        (0..self.epochs.opened())
            .filter(|&place| self.epochs.is_in_use(place))
            .map(|place| self.region(place))
    }

    /// In a forked child: gives it its own copies, and makes every function ask the resolver again.
    ///
    /// The parent may have been copying, or have changed heads, while the memory was copied. Bodies
    /// of what was copied before stay as they are: the child may be inside them.
    ///
    /// # Safety
    /// As [`Arena::unshare`].
    pub unsafe fn unshare(&mut self) -> Result<(), os::Errno> {
        self.epochs.become_child();
        let epochs = &self.epochs;
        // SAFETY: the caller's promise.
        unsafe { self.arena.unshare(epochs.opened(), |place| epochs.is_in_use(place))? };
        self.redirect_count = 0;
        // Also slots without a copy: an old one may lead to the current layout, and the parent may have
        // made it do so without this process knowing.
        for region in self.regions_in_use() {
            for function in 0..self.image.count() {
                region.close(&self.image, &self.arena, function);
            }
        }
        Ok(())
    }
}

/// Takes over an image: from here on each of its movable functions asks the resolver when it is first
/// called. The resolver must already know of it.
///
/// # Safety
/// As [`Image::redirect_entries`].
pub unsafe fn take_over(image: &Image) -> Result<(), Refused> {
    // SAFETY: the caller's promise.
    match unsafe { image.redirect_entries() } {
        // Entries that lead through their pointers are served like all others.
        Ok(()) | Err(RedirectFailed::PartlyWritten) => Ok(()),
        Err(RedirectFailed::NothingWritten) => Err(Refused::Text),
    }
}
