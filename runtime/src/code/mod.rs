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
pub mod body;
mod budget;
mod callers;
mod calls;
mod copy;
mod counts;
mod entrances;
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
mod self_test;
mod setup;
pub mod slot;
pub mod spares;
pub mod table;
pub mod views;

use crate::epoch::{Epochs, Exhausted};
use crate::os;
use crate::stack;
use crate::symbols;
use arena::Arena;
pub use budget::{Budget, Reclaim};
use callers::Callers;
pub use counts::Counts;
use image::{Image, RedirectFailed};
use origin::Locator;
pub use plan::{Plan, Prepared};
use reclaim::home;
pub use refused::Refused;
use region::Region;
use slot::Frames;
use table::MappedTable;

/// Most slots of old epochs of an image that lead to the current one at a time.
const MAX_REDIRECTS: usize = 4 << 20;

/// How many of them an image of so many functions can have, with so many places.
fn max_redirects(functions: usize, places: u32) -> usize {
    functions.saturating_mul(places as usize).min(MAX_REDIRECTS)
}

/// The slot of a function at a place of the arena.
#[derive(Clone, Copy)]
struct SlotAt {
    place: u32,
    function: u32,
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
    /// Old copies whose calls lead into the current layout.
    callers: Callers,
    reclaims: bool,
    /// There can be no further epoch.
    stopped: bool,
    counts: Counts,
}

impl Code {
    /// The image.
    pub fn image(&self) -> &Image {
        &self.image
    }

    /// Bytes of memory for copies.
    pub fn arena_bytes(&self) -> usize {
        self.arena.range().1
    }

    /// What has happened so far.
    pub fn counts(&self) -> Counts {
        Counts { kept: u64::from(self.epochs.kept()), ..self.counts }
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
            self.image.set_pointer(function, region.entry(&self.image, &self.arena, function));
        }
    }

    /// Serves a call that came through the stub that contains `address`, with this stack pointer:
    /// copies the function meant and says where it goes on. Nothing if there is no such stub.
    pub fn resolve(&mut self, address: usize, stack_pointer: usize) -> Option<usize> {
        let (place, offset) = self.arena.locate(address)?;
        if !self.epochs.is_in_use(place) {
            return None;
        }
        let (function, _) = self.region(place).stub_at(&self.arena, offset)?;
        if let Some(original) = self.image.staying(function) {
            return Some(original);
        }
        let current = self.current_place();
        if !self.region(place).is_closed(&self.image, &self.arena, function) {
            // Its check led here; or another thread called it at the same time and was served
            // first.
            let spare = (place == current).then(|| self.without_pad(function, stack_pointer));
            let entry = || self.region(place).entry(&self.image, &self.arena, function);
            return Some(spare.flatten().unwrap_or_else(entry));
        }
        // SAFETY: as `region`; the lock makes this the only reference.
        let region = unsafe { &mut *self.regions.add(current as usize) };
        let from = region.copied_count();
        let (copied, bytes) = region.copy_unit(&self.image, &self.arena, function);
        self.counts.relocations += u64::from(copied);
        self.counts.live_bytes += bytes;
        // In a forked child copies may wait to be entered again.
        if region.is_closed(&self.image, &self.arena, function) {
            os::synchronize_cores();
            region.open_copies(&self.image, &self.arena, from);
            region.open(&self.image, &self.arena, function);
        }
        let target = region.entry(&self.image, &self.arena, function);
        if place != current {
            self.send_on(SlotAt { place, function }, target);
            if let Some(return_address) = home::word_at(stack_pointer) {
                self.lead_caller(return_address);
            }
        }
        Some(self.without_pad(function, stack_pointer).unwrap_or(target))
    }

    /// Where a call with this stack pointer goes on whose frame gets no pad there, though the
    /// function's frames get pads: in the spare body of the current layout, which is written if
    /// nobody needed it before.
    fn without_pad(&mut self, function: u32, stack_pointer: usize) -> Option<usize> {
        self.image.slot(function).spare?;
        if stack::pad_range::current().contains(stack_pointer) {
            return None;
        }
        // SAFETY: as `region`; the lock makes this the only reference.
        let region = unsafe { &mut *self.regions.add(self.current_place() as usize) };
        self.counts.live_bytes += region.write_missing_spare(&self.image, &self.arena, function);
        // In a forked child it may be there, and nobody be led there yet.
        if !region.leads_to_spare(&self.image, &self.arena, function) {
            os::synchronize_cores();
            region.lead_to_spare(&self.image, &self.arena, function);
        }
        Some(region.spare(&self.image, &self.arena, function))
    }

    /// Makes an old slot lead to the current epoch. One that cannot be remembered stays closed:
    /// slower, and as correct.
    fn send_on(&mut self, slot: SlotAt, target: usize) {
        let most = max_redirects(self.image.count() as usize, self.arena.places());
        if self.redirect_count < most {
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
        Ok(Plan {
            image: self.image,
            arena: self.arena,
            seed: self.seed,
            epoch,
            place,
            trapped: self.epochs.take_traps(place),
            old,
            last,
        })
    }

    /// Begins the epoch that was prepared.
    ///
    /// A thread that fetched an older head goes where that one led: to a copy that stays.
    pub fn publish(&mut self, prepared: &Prepared) {
        let old = *self.region(self.current_place());
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
        self.lead_callers_on();
        for index in 0..old.copied_count() {
            old.close(&self.image, &self.arena, old.copied(index));
        }
        self.counts.epochs += 1;
        self.counts.relocations += u64::from(prepared.region.copied_count());
        self.counts.retained_bytes += self.counts.live_bytes;
        self.counts.live_bytes = prepared.bytes;
    }

    /// Copies all functions into the current layout and leads every slot there, so that nothing
    /// asks the resolver any more; no further epoch begins.
    pub fn settle(&mut self) {
        let current = self.current_place();
        // SAFETY: as `region`; the lock makes this the only reference.
        let region = unsafe { &mut *self.regions.add(current as usize) };
        for function in 0..self.image.count() {
            let (copied, bytes) = region.copy_unit(&self.image, &self.arena, function);
            self.counts.relocations += u64::from(copied);
            self.counts.live_bytes += bytes;
            if region.is_copied(function) {
                self.counts.live_bytes +=
                    region.write_missing_spare(&self.image, &self.arena, function);
            }
        }
        os::synchronize_cores();
        for function in 0..self.image.count() {
            if region.is_copied(function) && self.image.slot(function).spare.is_some() {
                region.lead_to_spare(&self.image, &self.arena, function);
            }
            match self.image.staying(function) {
                Some(original) => region.send_on(&self.image, &self.arena, function, original),
                None => region.open(&self.image, &self.arena, function),
            }
        }
        let region = *region;
        for old in self.regions_in_use().filter(|old| old.place() != current) {
            for function in 0..self.image.count() {
                if old.is_closed(&self.image, &self.arena, function) {
                    old.send_on(
                        &self.image,
                        &self.arena,
                        function,
                        region.entry(&self.image, &self.arena, function),
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

    /// Number of functions whose frames get pads from the current layout, and the sum of those pads
    /// in bytes.
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

    /// In a forked child: makes whole what another thread of the parent may have been in the middle
    /// of, and counts anew.
    pub fn become_child(&mut self) {
        self.epochs.become_child();
        let current = self.current_place();
        // SAFETY: as `region`; the lock makes this the only reference.
        unsafe { (*self.regions.add(current as usize)).become_child(&self.image) };
        let bytes = |region: &Region| region.copied_bytes();
        let live_bytes = bytes(self.region(current));
        let retained_bytes = self.regions_in_use().map(bytes).sum::<u64>() - live_bytes;
        self.counts = Counts { live_bytes, retained_bytes, ..Counts::default() };
    }

    /// In a forked child: gives it its own copies, and makes every function ask the resolver again.
    ///
    /// The parent may have been copying, or have changed heads, while the memory was copied. Bodies
    /// of what was copied before stay as they are: the child may be inside them.
    ///
    /// # Safety
    /// As [`Arena::unshare`].
    pub unsafe fn unshare(&mut self) -> Result<(), os::Errno> {
        let Self { arena, epochs, regions, image, .. } = self;
        let (opened, place_bytes) = (epochs.opened(), arena.place_bytes());
        let parts = |part: &mut dyn FnMut(usize, usize)| {
            for place in (0..opened).filter(|&place| epochs.is_in_use(place)) {
                // SAFETY: as `region`.
                let region = unsafe { &*regions.add(place as usize) };
                let from = place as usize * place_bytes;
                region.written(image, place_bytes, |start, bytes| part(from + start, bytes));
            }
        };
        // SAFETY: the caller's promise.
        unsafe { arena.unshare(opened, parts)? };
        self.redirect_count = 0;
        for region in self.regions_in_use() {
            region.ask_again(&self.image, &self.arena);
        }
        self.find_callers();
        Ok(())
    }
}

/// Takes over an image: from here on each of its movable functions asks the resolver when it is
/// first called. The resolver must already know of it.
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
