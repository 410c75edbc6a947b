//! What a fork does to the code of an image: before it in the parent, and in the child.

use crate::code::Code;
use crate::copy::{copy_unit, resolve_copies, write_missing_clone};
use crate::counts::Counts;
use crate::epoch_layout::{COPIED, HAS_CLONE};
use crate::layout_ref::LayoutRef;
use crate::patchable_entry::PatchableEntry;
use crate::sharing;
use crate::wanted::MAX_AT_A_FORK;
use szc_sys::os::{self, Errno};

impl Code {
    /// In a forked child: makes whole what another thread of the parent may have been in the middle
    /// of, and counts anew. A copy that it had begun is none, and will be written again.
    pub fn become_child(&mut self) {
        self.epochs.become_child();
        if self.shares() {
            let Counts { live_bytes, retained_bytes, .. } = self.counts;
            self.counts = Counts { live_bytes, retained_bytes, ..Counts::default() };
            return;
        }
        let current = self.current();
        while let Some(last) = current.drawn.copied_count().checked_sub(1)
            && !current.drawn.is_copied(current.drawn.copied(last))
        {
            current.drawn.pop();
        }
        let bytes = |function| {
            let slot = current.image.slot(function);
            let clone = if current.drawn.has(function, HAS_CLONE) { slot.clone_bytes() } else { 0 };
            u64::from(slot.bytes + slot.fde_bytes() + clone)
        };
        let copied = (0..current.drawn.copied_count()).map(|index| current.drawn.copied(index));
        let live_bytes = copied.map(bytes).sum();
        current.drawn.recount_bytes(live_bytes);
        let all = self.layouts().map(|layout| layout.drawn.copied_bytes()).sum::<u64>();
        let retained_bytes = all - live_bytes;
        self.counts = Counts { live_bytes, retained_bytes, ..Counts::default() };
    }

    /// Before a fork: copies what earlier children had to copy.
    pub fn expect_child(&mut self) {
        let Self { space, epochs, counts, .. } = self;
        if !space.arena.is_shared_with_children() || !space.wanted.expect_child() {
            return;
        }
        let current = space.layout(epochs.place());
        let from = current.drawn.copied_count();
        let is_missing = |&(function, is_clone): &(u32, bool)| {
            let what = if is_clone { HAS_CLONE } else { COPIED };
            !current.drawn.has(function, what) && current.image.pinned(function).is_none()
        };
        for (function, is_clone) in space.wanted.functions().filter(is_missing).take(MAX_AT_A_FORK)
        {
            counts.add(copy_unit(current, function));
            if is_clone {
                counts.live_bytes += write_missing_clone(current, function);
                os::synchronize_cores();
                PatchableEntry::of(current, function).retarget_checks_to_clone();
            }
        }
        if from != current.drawn.copied_count() {
            os::synchronize_cores();
            resolve_copies(current, from);
        }
    }

    /// In a forked child: whether it goes on with its parent's memory, which neither of them writes
    /// to any more.
    fn shares(&self) -> bool {
        self.space.arena.is_shared_with_children() && !sharing::was_written()
    }

    /// In a forked child: gives it its own copies, and makes every function ask the resolver again;
    /// unless it can go on with its parent's memory.
    ///
    /// The parent may have been copying, or have changed entries, while the memory was copied.
    /// Bodies of what was copied before stay as they are: the child may be inside them.
    ///
    /// # Safety
    /// No other thread may run in this process, and the parent must not change the memory
    /// meanwhile.
    pub unsafe fn unshare(&mut self) -> Result<(), Errno> {
        if self.shares() {
            return Ok(());
        }
        let Self { space, epochs, .. } = self;
        let (opened, place_bytes) = (epochs.opened(), space.arena.place_bytes());
        let parts = |part: &mut dyn FnMut(usize, usize)| {
            for place in (0..opened).filter(|&place| epochs.is_in_use(place)) {
                let from = place as usize * place_bytes;
                space.written(place, |start, bytes| part(from + start, bytes));
            }
        };
        // SAFETY: the caller's promise.
        unsafe { space.arena.unshare(opened, parts)? };
        self.layouts().for_each(ask_again);
        self.callers.find(&self.space, &self.epochs);
        Ok(())
    }
}

/// In a forked child, which has memory of its own with what was written: unresolves all slots, also
/// those without a copy, because an old one may lead to the current layout. A thread of the parent
/// may have forwarded an entry of which nothing is known here; checks may so lead to an unpadded
/// clone that was not copied, and lead to the stub again.
fn ask_again(layout: LayoutRef<'_>) {
    let drawn = layout.drawn;
    drawn.forget_forwarded();
    for function in 0..layout.image.count() {
        let entry = PatchableEntry::of(layout, function);
        entry.unresolve();
        let has_checks = drawn.is_copied(function) && layout.image.slot(function).padded.is_some();
        if has_checks && !drawn.has(function, HAS_CLONE) {
            entry.retarget_checks_to_stub();
        }
    }
}
