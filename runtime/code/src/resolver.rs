//! Serves calls that no entry serves yet: copies the function that is called, and retargets the
//! entry by which the call came.
#![forbid(unsafe_code)]

use crate::callers::Callers;
use crate::copy::{copy_unit, resolve_copies, write_missing_clone};
use crate::counts::Counts;
use crate::layout_ref::LayoutRef;
use crate::patchable_entry::PatchableEntry;
use crate::space::{CodeSpace, Places};
use szc_sys::os;

/// The thread that has called a stub, as far as the resolver needs to know of its stack.
pub trait Caller {
    /// Whether frames get pads where its stack pointer is.
    fn has_pad_reserve(&self) -> bool;
    /// Where its call returns, if that is known.
    fn return_address(&self) -> Option<usize>;
    /// Where the frame of the function that it calls begins: in front of the return address.
    fn frame(&self) -> usize;
}

/// What serving a call changes of an image's code.
pub(crate) struct Resolver<'a> {
    pub space: &'a CodeSpace,
    pub epochs: &'a Places,
    pub callers: &'a mut Callers,
    pub counts: &'a mut Counts,
}

impl Resolver<'_> {
    /// Serves a call that came through the stub that contains `address`. Nothing if there is no
    /// such stub.
    pub fn resolve(mut self, address: usize, caller: &impl Caller) -> Option<usize> {
        let (place, offset) = self.space.arena.locate(address)?;
        if !self.epochs.is_in_use(place) {
            return None;
        }
        let layout = self.space.layout(place);
        let function = layout.stub_at(offset)?;
        if let Some(original) = layout.image.pinned(function) {
            return Some(original);
        }
        let is_current = place == self.epochs.place();
        let entry = PatchableEntry::of(layout, function);
        if !entry.is_unresolved() {
            // Its check led here; or another thread called it at the same time and was served
            // first.
            let clone = is_current.then(|| self.without_pad(layout, function, caller)).flatten();
            return Some(clone.unwrap_or_else(|| layout.entry(function)));
        }
        let current = self.space.layout(self.epochs.place());
        let from = current.drawn.copied_count();
        if !current.drawn.is_copied(function) {
            current.image.first_calls().note(function, caller.frame());
        }
        self.counts.add(copy_unit(current, function));
        if from != current.drawn.copied_count() {
            self.space.wanted.note(function, false);
        }
        // In a forked child copies may wait to be entered again.
        let current_entry = PatchableEntry::of(current, function);
        if current_entry.is_unresolved() {
            os::synchronize_cores();
            resolve_copies(current, from);
            current_entry.resolve();
        }
        let target = current.entry(function);
        // Otherwise every such call asks.
        if !is_current && entry.is_own() {
            layout.drawn.note_forwarded(function);
            entry.forward(target);
            if let Some(return_address) = caller.return_address() {
                self.callers.add(self.space, self.epochs, return_address);
            }
        }
        Some(self.without_pad(current, function, caller).unwrap_or(target))
    }

    /// Where such a call goes on whose frame gets no pad, though the function's frames get pads: in
    /// the unpadded clone of the current layout, which is written if nobody needed it before.
    fn without_pad(
        &mut self,
        current: LayoutRef<'_>,
        function: u32,
        caller: &impl Caller,
    ) -> Option<usize> {
        current.image.slot(function).padded?;
        if caller.has_pad_reserve() {
            return None;
        }
        let written = write_missing_clone(current, function);
        if written != 0 {
            self.space.wanted.note(function, true);
        }
        self.counts.live_bytes += written;
        // In a forked child it may be there, and nobody be led there yet.
        let entry = PatchableEntry::of(current, function);
        if !entry.has_checks_to_clone() {
            os::synchronize_cores();
            entry.retarget_checks_to_clone();
        }
        Some(current.unpadded(function))
    }
}
