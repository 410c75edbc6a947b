//! How code randomization of an image begins, with its first layout, and how it ends with the
//! image.

use super::arena::{Arena, Private, Unavailable};
use super::headers::Headers;
use super::image::{self, Image};
use super::pristine::Pristine;
use super::reclaim::stacks::{self, Blocked};
use super::region::Region;
use super::slot::{Entrances, Frames, Shape, Slot};
use super::table::MappedTable;
use super::{
    Budget, Callers, Code, Counts, Reclaim, Refused, SlotAt, layout, max_redirects, self_test,
    spares,
};
use crate::arch::{self, entry};
use crate::epoch::{Epochs, Use};
use crate::os;
use crate::symbols;
use crate::unwind;
use core::ffi::CStr;
use szc_abi::{Header, PLACEMENT_GRAIN_BYTES, Table};

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

impl Code {
    /// Draws the first layout of the image at `base`, which was loaded from `file`; nothing of it
    /// changes yet.
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
        let entrances = if symbols::tells_anyone() { Entrances::Heads } else { shape.entrances };
        let shape = Shape { frames, entrances, ..shape };
        let slots_bytes = layout::max_bytes(functions().map(|f| Slot::of(&f, frames, entrances)));
        let (slots_bytes, spare_bytes) = slots_bytes
            .zip(spares::bytes(functions(), frames))
            .ok_or(Refused::Arena(Unavailable::Budget))?;
        let place_bytes = (slots_bytes.next_multiple_of(PLACEMENT_GRAIN_BYTES) as usize)
            + spare_bytes as usize
            + table.movable_count() * entry::STUB_BYTES;
        // Where address space is limited, most of it is left to the program.
        let limit_bytes = os::limit(os::LIMIT_ADDRESS_BYTES) / 16;
        let room = symbols::room(&table, frames, file);
        let budget_bytes = budget.bytes_for(place_bytes + room.place_bytes).min(limit_bytes);
        let headers = headers_for(base, &table)?;
        // The pointers stand before the first layout, within reach of the image, and so do headers
        // for unwinders.
        let private =
            Private { bytes: Image::pointer_bytes(&table), header_bytes: headers.bytes() };
        let (arena, pointers) = Arena::new(
            base,
            base + image::loaded_bytes(base),
            place_bytes,
            budget_bytes,
            private,
            symbols::view_form(),
            room,
        )
        .map_err(Refused::Arena)?;
        if let Some(reason) = self_test::obstacle(&arena) {
            // SAFETY: nobody has used it.
            unsafe { arena.free() };
            return Err(reason);
        }
        let pristine = Pristine::of(base, file);
        let image = Image::new(base, table, pointers.cast(), pristine, shape, slots_bytes, headers)
            .ok_or(Refused::Memory)?;
        let regions = os::map_anonymous(arena.places() as usize * size_of::<Region>())
            .map_err(|_| Refused::Memory)?
            .cast();
        let most = max_redirects(table.movable_count(), arena.places());
        let redirects =
            os::map_anonymous(most * size_of::<SlotAt>()).map_err(|_| Refused::Memory)?.cast();
        let callers = Callers::new().map_err(|_| Refused::Memory)?;
        let uses = os::map_anonymous(arena.places() as usize).map_err(|_| Refused::Memory)?;
        // SAFETY: zeroed memory of that many bytes, unmapped by `free` alone; zero is `Use::Fresh`.
        let uses: &'static mut [Use] =
            unsafe { core::slice::from_raw_parts_mut(uses.cast(), arena.places() as usize) };
        let epochs = Epochs::first(uses, budget.preferred_places(&arena));
        let mut first =
            Region::draw(&image, &arena, None, (0, false), seed, 0).ok_or(Refused::Memory)?;
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
            callers,
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
    /// No entry of the image leads here any more, no thread is inside a copy or can come back to
    /// one, and there is no plan.
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
            let most = max_redirects(self.image.count() as usize, self.arena.places());
            os::unmap(self.redirects.cast(), most * size_of::<SlotAt>());
            self.callers.free();
            self.image.free();
            self.arena.free();
            self.table.free();
        }
    }
}
