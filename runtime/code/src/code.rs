//! Code randomization of one image: its functions, copied to a fresh layout in every epoch.
//!
//! Who may call what: [`Code::resolve`] runs at a first call on any thread, [`Code::plan`] and
//! [`Code::publish`] on the maintenance task, all under one lock. Between the two the maintenance
//! task runs [`Plan::prepare`] without the lock, on a place of the arena that no thread knows yet.
//! [`PcMap`](crate::pc_map::PcMap) is asked anywhere, without the lock.

use crate::callers::Callers;
use crate::copy::{copy_unit, resolve_copies, write_missing_clone};
use crate::counts::Counts;
use crate::epoch_layout::HAS_CLONE;
use crate::image::Image;
use crate::layout_ref::LayoutRef;
use crate::patchable_entry::PatchableEntry;
use crate::plan::{Plan, Prepared, Unreachable};
use crate::resolver::{Caller, Resolver};
use crate::space::{CodeSpace, Places};
use core::ops::Range;
use szc_layout::epoch::Exhausted;
use szc_layout::rng::Seeds;
use szc_layout::slot::Frames;
use szc_sys::arch;
use szc_sys::os::{self, Errno, Shared};

/// The state of code randomization of one image.
pub struct Code {
    pub(crate) space: Shared<CodeSpace>,
    pub(crate) epochs: Places,
    pub(crate) seeds: Seeds,
    /// Old copies whose calls lead into the current layout.
    pub(crate) callers: Callers,
    pub(crate) reclaims: bool,
    /// There can be no further epoch.
    pub(crate) stopped: bool,
    pub(crate) counts: Counts,
}

impl Code {
    /// What is known without the lock.
    pub fn space(&self) -> &Shared<CodeSpace> {
        &self.space
    }

    /// The image.
    pub fn image(&self) -> &Image {
        &self.space.image
    }

    /// Bytes of memory for copies.
    pub fn arena_bytes(&self) -> usize {
        self.space.arena.range().1
    }

    /// What has happened so far.
    pub fn counts(&self) -> Counts {
        Counts { kept: u64::from(self.epochs.kept()), ..self.counts }
    }

    /// The current layout.
    pub fn current(&self) -> LayoutRef<'_> {
        self.space.layout(self.epochs.place())
    }

    /// The layouts that may run.
    pub fn layouts(&self) -> impl Iterator<Item = LayoutRef<'_>> {
        (0..self.epochs.opened())
            .filter(|&place| self.epochs.is_in_use(place))
            .map(|place| self.space.layout(place))
    }

    /// Addresses of all layouts that there were, which identify them.
    pub fn starts(&self) -> impl Iterator<Item = usize> {
        (0..self.epochs.opened()).map(|place| self.space.arena.address(place, 0))
    }

    /// Makes all original entries lead into a layout.
    pub(crate) fn install(&self, place: u32) {
        let layout = self.space.layout(place);
        for function in 0..self.image().count() {
            self.image().retarget(function, layout.entry(function));
        }
    }

    /// Serves a call that came through the stub that contains `address`: copies the function meant
    /// and says where it goes on. Nothing if there is no such stub.
    #[inline]
    pub fn resolve(&mut self, address: usize, caller: &impl Caller) -> Option<usize> {
        let Self { space, epochs, callers, counts, .. } = self;
        Resolver { space, epochs, callers, counts }.resolve(address, caller)
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
        Ok(Plan {
            space: self.space.clone(),
            seeds: self.seeds,
            epoch,
            place,
            trapped: self.epochs.take_traps(place),
            current: self.epochs.place(),
            copied_count: self.current().drawn.copied_count(),
        })
    }

    /// Begins the epoch that was prepared.
    ///
    /// A thread that fetched an older entry goes where that one led: to a copy that stays.
    pub fn publish(&mut self, prepared: &Prepared) {
        let old = self.epochs.place();
        if self.take_what_changes().is_err() {
            return self.stop();
        }
        for layout in self.layouts() {
            layout.drawn.take_forwarded(|function| {
                PatchableEntry::of(layout, function).unresolve();
            });
        }
        self.space.arena.note_published(prepared.place);
        self.install(prepared.place);
        self.epochs.advance(prepared.place);
        self.callers.retarget_all(&self.space, &self.epochs);
        self.unresolve_copies(old);
        self.counts.epochs += 1;
        self.counts.relocations += u64::from(self.current().drawn.copied_count());
        self.counts.retained_bytes += self.counts.live_bytes;
        self.counts.live_bytes = prepared.bytes;
    }

    /// Makes all memory this process's alone that a new epoch changes: that of the current layout,
    /// and of older ones that lead there.
    fn take_what_changes(&self) -> Result<(), Errno> {
        let current = self.epochs.place();
        for layout in self.layouts() {
            let drawn = layout.drawn;
            let changes = drawn.place() == current
                || drawn.has_forwarded()
                || self.callers.are_in(drawn.epoch());
            if changes {
                self.space.arena.take_place(drawn.place())?;
            }
        }
        Ok(())
    }

    fn unresolve_copies(&self, place: u32) {
        let layout = self.space.layout(place);
        for index in 0..layout.drawn.copied_count() {
            PatchableEntry::of(layout, layout.drawn.copied(index)).unresolve();
        }
    }

    /// Makes calls of all copied functions of the current layout ask the resolver.
    pub fn unresolve_current(&self) {
        // Otherwise nobody is stopped.
        if self.space.arena.take_place(self.epochs.place()).is_ok() {
            self.unresolve_copies(self.epochs.place());
        }
    }

    /// Undoes that.
    pub fn resolve_current(&self) {
        resolve_copies(self.current(), 0);
    }

    /// Copies all functions into the current layout and leads every slot there, so that nothing
    /// asks the resolver any more; no further epoch begins.
    pub fn freeze(&mut self) {
        let Self { space, epochs, counts, .. } = &mut *self;
        let current = space.layout(epochs.place());
        for function in 0..space.image.count() {
            counts.add(copy_unit(current, function));
            if current.drawn.is_copied(function) {
                counts.live_bytes += write_missing_clone(current, function);
            }
        }
        os::synchronize_cores();
        for function in 0..space.image.count() {
            let entry = PatchableEntry::of(current, function);
            if current.drawn.has(function, HAS_CLONE) {
                entry.retarget_checks_to_clone();
            }
            match space.image.pinned(function) {
                Some(original) => entry.forward(original),
                None => entry.resolve(),
            }
        }
        let current = self.current();
        for old in self.layouts().filter(|old| old.drawn.place() != current.drawn.place()) {
            for function in 0..old.image.count() {
                let entry = PatchableEntry::of(old, function);
                if entry.is_unresolved() {
                    entry.forward(current.entry(function));
                }
            }
        }
        self.stopped = true;
    }

    /// Lets pages go, until they are needed again, that only who copies functions looks at.
    pub fn let_go(&self) {
        if !arch::is_simulated() {
            self.space.image.let_go();
            self.space.arena.let_written_go(self.epochs.opened());
        }
    }

    /// Records that no further epoch can begin.
    pub fn stop(&mut self) {
        self.stopped = true;
        self.counts.exhausted = true;
    }

    /// Whether there can be no further epoch.
    pub fn is_quiescent(&self) -> bool {
        self.stopped || (self.counts.exhausted && !self.reclaims)
    }

    /// Calls `visit` with layout and function of every copy that is there.
    pub fn for_each_copy(&self, mut visit: impl FnMut(LayoutRef<'_>, u32)) {
        for layout in self.layouts() {
            for index in 0..layout.drawn.copied_count() {
                visit(layout, layout.drawn.copied(index));
            }
        }
    }

    /// Number of functions whose frames get pads from the current layout, and the sum of those pads
    /// in bytes.
    pub fn pads(&self) -> (u64, u64) {
        let (image, current) = (self.image(), self.current());
        if image.frames() != Frames::Padded {
            return (0, 0);
        }
        let padded = (0..image.count()).filter(|&index| image.function(index).has_frame());
        padded.fold((0, 0), |(count, sum), index| (count + 1, sum + u64::from(current.pad(index))))
    }

    /// Whether it is time to look for copies that can be freed.
    pub fn wants_cycle(&self) -> bool {
        self.reclaims && self.epochs.wants_cycle()
    }

    /// Layouts for which there is room without freeing one, if copies are to be freed and there can
    /// be a further epoch.
    pub fn places_left(&self) -> Option<u32> {
        (self.reclaims && !self.stopped).then(|| self.epochs.left())
    }

    /// The same among the places to get along with.
    pub fn preferred_places_left(&self) -> Option<u32> {
        (self.reclaims && !self.stopped).then(|| self.epochs.preferred_left())
    }

    /// Memory that holds nothing but copies, and what belongs to them.
    pub fn memory(&self) -> [Range<usize>; 2] {
        self.space.arena.memory()
    }

    /// Begins a GC cycle, if copies are freed: makes all old layouts white, but those with labels
    /// that may have been stored, unless `sees_labels`: all memory is looked at. Returns how many,
    /// and the addresses of all copies.
    ///
    /// From now on nobody can come to a white layout who does not refer to it already: all entries
    /// in old layouts lead to the resolver or to the current one, which is not white.
    pub fn begin_cycle(&mut self, sees_labels: bool) -> Option<(u32, Range<usize>)> {
        if !self.reclaims {
            return None;
        }
        let mut white = self.epochs.begin_cycle();
        // Lower addresses could also be stored in half a word.
        if !sees_labels || self.space.arena.address(0, 0) <= u32::MAX as usize {
            for place in 0..self.epochs.opened() {
                if self.epochs.is_white(place) && self.space.layouts.at(place).labels_escape() {
                    self.epochs.mark(place);
                    white -= 1;
                }
            }
        }
        let arena = &self.space.arena;
        let start = arena.address(0, 0);
        Some((white, start..start + self.epochs.opened() as usize * arena.place_bytes()))
    }

    /// Whether labels of a white layout may have been stored.
    pub fn has_white_labels(&self) -> bool {
        let places = 0..self.epochs.opened();
        places.into_iter().any(|place| {
            self.epochs.is_white(place) && self.space.layouts.at(place).labels_escape()
        })
    }

    /// Whether it is time for a cycle, and what keeps layouts is mostly labels that may have been
    /// stored.
    pub fn is_full_of_labels(&self) -> bool {
        let labels = || self.layouts().filter(|layout| layout.drawn.labels_escape()).count();
        self.wants_cycle() && labels() as u32 > self.epochs.kept() / 2
    }

    /// Marks the layout at an address to which there is a reference. Whether the address is one of
    /// this image's copies.
    pub fn mark(&mut self, address: usize) -> bool {
        let located = self.space.arena.locate(address);
        if let Some((place, _)) = located {
            self.epochs.mark(place);
        }
        located.is_some()
    }

    /// Ends a cycle without freeing anything.
    pub fn abandon_cycle(&mut self) {
        self.epochs.abandon_cycle();
    }

    /// Ends a cycle: nobody refers to what is white still.
    pub fn end_cycle(&mut self) {
        for place in 0..self.epochs.opened() {
            if self.epochs.is_white(place) {
                self.counts.retained_bytes -= self.space.layouts.at(place).copied_bytes();
            }
        }
        self.counts.freed += u64::from(self.epochs.end_cycle());
    }

    /// Something that nobody can reach.
    pub fn unreachable(&self) -> Option<Unreachable> {
        let place = self.epochs.unreachable()?;
        Some(Unreachable { space: self.space.clone(), place })
    }

    /// Makes its place available for another layout, and gives back the memory of places that are
    /// no longer needed, if the kernel lets us.
    pub fn free(&mut self, unreachable: &Unreachable) {
        self.epochs.free(unreachable.place);
        let surplus = self.epochs.surplus();
        if !surplus.is_empty() && self.space.arena.close(&surplus).is_ok() {
            self.epochs.close(surplus);
        }
    }

    /// Whether places are needed at once.
    pub fn is_hurried(&self) -> bool {
        self.counts.exhausted || self.epochs.is_hurried()
    }
}
