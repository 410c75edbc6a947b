//! All images whose code moves: the program, and the libraries that were built for it.

use crate::library::record::Library;
use crate::pc_map::{DIRECTORY, PC_MAP};
use core::ops::Range;
use core::ptr::NonNull;
use core::sync::atomic::{AtomicUsize, Ordering, fence};
use szc_code::MAX_IMAGES;
use szc_code::code::Code;
use szc_code::counts::Counts;
use szc_code::layout_ref::LayoutRef;
use szc_code::plan::{Plan, Prepared};
use szc_code::resolver::Caller;
use szc_layout::epoch::Exhausted;
use szc_sys::os;

/// Slot of the program.
const PROGRAM: usize = 0;

/// The images, by slot: the program's first, then libraries, whose slots are used again when they
/// are gone.
pub struct Images {
    program: Option<Code>,
    /// Room for all libraries, once there is one.
    libraries: *mut Option<Library>,
    /// Slots that were ever used.
    used: usize,
    /// Libraries that were ever in a slot.
    added: u64,
    /// What was counted for libraries that are gone.
    gone: Counts,
    /// No layout follows, and nobody asks the resolver.
    frozen: bool,
    /// The slot that a library is just put into or taken out of; 0 (the program's) if there is
    /// none.
    changing: AtomicUsize,
}

impl Images {
    /// None.
    pub const fn new() -> Self {
        Self {
            program: None,
            libraries: os::null(),
            used: 0,
            added: 0,
            gone: Counts::NONE,
            frozen: false,
            changing: AtomicUsize::new(PROGRAM),
        }
    }

    /// Sets the program's code, which is not entered yet.
    pub fn set_program(&mut self, code: Code) {
        PC_MAP.set(PROGRAM, code.space().clone());
        DIRECTORY.lead_to(&PC_MAP);
        self.used = self.used.max(PROGRAM + 1);
        self.program = Some(code);
    }

    /// Takes the program's code out again, for whoever gives its memory back.
    ///
    /// # Safety
    /// It must never have been entered.
    pub unsafe fn take_program(&mut self) -> Option<Code> {
        // SAFETY: the caller's promise.
        unsafe { PC_MAP.clear(PROGRAM) };
        self.program.take()
    }

    /// Slots to look at: all images are in slots below this.
    pub fn slots(&self) -> usize {
        self.used
    }

    /// The libraries.
    pub fn libraries(&self) -> &[Option<Library>] {
        let count = self.used.saturating_sub(1);
        if self.libraries.is_null() {
            return &[];
        }
        // SAFETY: the array has `MAX_IMAGES` elements, all written.
        unsafe { core::slice::from_raw_parts(self.libraries, count) }
    }

    /// The library in a slot.
    pub fn library_mut(&mut self, slot: usize) -> Option<&mut Library> {
        if self.libraries.is_null() || slot == PROGRAM || slot >= self.used {
            return None;
        }
        // SAFETY: as `libraries`.
        unsafe { (*self.libraries.add(slot - 1)).as_mut() }
    }

    /// Libraries that were ever added, in this process.
    pub fn libraries_added(&self) -> u64 {
        self.added
    }

    /// Bytes of memory for copies of all libraries.
    pub fn library_bytes(&self) -> usize {
        let codes = self.libraries().iter().flatten().filter_map(|library| library.code.as_ref());
        codes.map(Code::arena_bytes).sum()
    }

    /// Whether there is a slot for another library. The first time makes them all.
    pub fn make_room(&mut self) -> bool {
        if self.libraries.is_null() {
            let bytes = MAX_IMAGES * size_of::<Option<Library>>();
            let Ok(array) = os::map_anonymous(bytes) else { return false };
            let array: *mut Option<Library> = array.cast();
            for index in 0..MAX_IMAGES {
                // SAFETY: the memory has room for that many.
                unsafe { array.add(index).write(None) };
            }
            self.libraries = array;
        }
        self.used < MAX_IMAGES || self.libraries().iter().any(Option::is_none)
    }

    /// How many functions of the program are held at offsets.
    pub fn held_functions(&self) -> usize {
        self.program.as_ref().map_or(0, |code| code.image().held().iter().flatten().count())
    }

    /// Whether the program has the function whose pad is to be held.
    pub fn holds_pad(&self) -> bool {
        self.program.as_ref().is_some_and(|code| code.image().held_pad().is_some())
    }

    /// The addresses of a computation in front of a function of the program.
    pub fn injected(&self) -> Option<Range<usize>> {
        let image = self.program.as_ref()?.image();
        let (function, injected) = image.injected()?;
        let start = image.original(image.function(function));
        Some(start..start + injected.bytes())
    }

    /// Whether no image can have another epoch.
    pub fn are_quiescent(&self) -> bool {
        self.all().all(Code::is_quiescent)
    }

    /// Gives a library a slot; nothing if [`Self::make_room`] finds none.
    pub fn add(&mut self, library: Library) -> Option<usize> {
        if self.libraries.is_null() {
            return None;
        }
        // SAFETY: as `libraries`; the lock makes this the only reference.
        let all = unsafe { core::slice::from_raw_parts_mut(self.libraries, MAX_IMAGES - 1) };
        let index = all.iter().position(Option::is_none)?;
        let slot = index + 1;
        self.begin_change(slot);
        if let Some(code) = &library.code {
            PC_MAP.set(slot, code.space().clone());
            DIRECTORY.lead_to(&PC_MAP);
        }
        all[index] = Some(library);
        self.added += 1;
        self.used = self.used.max(slot + 1);
        self.end_change();
        Some(slot)
    }

    /// Says that the library in a slot is not whole, for a child that may be forked meanwhile.
    fn begin_change(&self, slot: usize) {
        self.changing.store(slot, Ordering::Relaxed);
        // Everything that follows comes behind that store.
        fence(Ordering::SeqCst);
    }

    fn end_change(&self) {
        // Release: what was changed comes before this store.
        self.changing.store(PROGRAM, Ordering::Release);
    }

    /// Takes the code out of a library.
    ///
    /// # Safety
    /// It must never have been entered.
    pub unsafe fn take_code(&mut self, slot: usize) -> Option<Code> {
        // SAFETY: the caller's promise.
        unsafe { PC_MAP.clear(slot) };
        self.begin_change(slot);
        let code = self.library_mut(slot).and_then(|library| library.code.take());
        self.end_change();
        code
    }

    /// Takes a library out of its slot, for whoever gives its memory back.
    ///
    /// # Safety
    /// No entry of the library leads to its copies any more, and no thread is inside one or can
    /// come back to one.
    pub unsafe fn remove(&mut self, slot: usize) -> Option<Library> {
        // SAFETY: the caller's promise.
        unsafe { PC_MAP.clear(slot) };
        self.library_mut(slot)?;
        self.begin_change(slot);
        // SAFETY: as `library_mut`.
        let library = unsafe { (*self.libraries.add(slot - 1)).take() };
        self.end_change();
        let library = library?;
        if let Some(code) = &library.code {
            let last = code.counts();
            self.gone = self.gone.with(Counts {
                live_bytes: 0,
                retained_bytes: 0,
                kept: 0,
                exhausted: false,
                ..last
            });
        }
        Some(library)
    }

    fn code(&self, slot: usize) -> Option<&Code> {
        if slot == PROGRAM {
            return self.program.as_ref();
        }
        self.libraries().get(slot - 1)?.as_ref()?.code.as_ref()
    }

    /// The code of the image in a slot.
    pub fn code_mut(&mut self, slot: usize) -> Option<&mut Code> {
        if slot == PROGRAM {
            return self.program.as_mut();
        }
        self.library_mut(slot)?.code.as_mut()
    }

    /// All images' code, to be changed.
    pub fn all_mut(&mut self) -> impl Iterator<Item = &mut Code> {
        let count = if self.libraries.is_null() { 0 } else { self.used.saturating_sub(1) };
        let first = if count == 0 { NonNull::dangling().as_ptr() } else { self.libraries };
        // SAFETY: the array has `MAX_IMAGES` elements, all written; this is the only reference.
        let libraries = unsafe { core::slice::from_raw_parts_mut(first, count) };
        let codes = libraries.iter_mut().flatten().filter_map(|library| library.code.as_mut());
        self.program.iter_mut().chain(codes)
    }

    /// All images' code.
    pub fn all(&self) -> impl Iterator<Item = &Code> {
        (0..self.used).filter_map(|slot| self.code(slot))
    }

    /// Serves a call that came through a stub of some image; see [`Code::resolve`].
    pub fn resolve(&mut self, address: usize, caller: &impl Caller) -> Option<usize> {
        (0..self.used).find_map(|slot| self.code_mut(slot)?.resolve(address, caller))
    }

    /// What the next epoch of the image in a slot needs to know, unless it has no place left.
    /// Nothing if there is none, or it is about to be unloaded.
    pub fn plan(&mut self, slot: usize) -> Option<Result<Plan, Exhausted>> {
        if self.library_mut(slot).is_some_and(|library| library.detaching) {
            return None;
        }
        let code = self.code_mut(slot)?;
        Some(code.plan())
    }

    /// Begins the epoch that was prepared for the image in a slot.
    pub fn publish(&mut self, slot: usize, prepared: &Prepared) {
        if let Some(code) = self.code_mut(slot) {
            code.publish(prepared);
        }
    }

    /// Copies all functions of all images; no layout follows. See [`Code::freeze`].
    pub fn freeze(&mut self) {
        self.frozen = true;
        for slot in 0..self.used {
            // One that is detaching may have been unloaded: its bytes are gone.
            let detaching = self.library_mut(slot).is_some_and(|library| library.detaching);
            if let Some(code) = self.code_mut(slot).filter(|_| !detaching) {
                code.freeze();
            }
        }
    }

    /// Whether [`Self::freeze`] was called.
    pub fn are_frozen(&self) -> bool {
        self.frozen
    }

    /// Records that there was no memory for the image's next epoch.
    pub fn stop(&mut self, slot: usize) {
        if let Some(code) = self.code_mut(slot) {
            code.stop();
        }
    }

    /// Calls `visit` with layout and function of every copy.
    pub fn for_each_copy(&self, mut visit: impl FnMut(LayoutRef<'_>, u32)) {
        self.all().for_each(|code| code.for_each_copy(&mut visit));
    }

    /// Whether an address lies in an image whose table is in use, and which stays.
    pub fn has_table_at(&mut self, address: usize) -> bool {
        (0..self.slots()).any(|slot| {
            let detaching = self.library_mut(slot).is_some_and(|library| library.detaching);
            !detaching && self.code_mut(slot).is_some_and(|code| code.image().contains(address))
        })
    }

    /// What has happened so far, in all images.
    pub fn counts(&self) -> Counts {
        self.all().map(Code::counts).fold(self.gone, Counts::with)
    }

    /// Number of functions of the program whose frames get pads from their copies, and the sum of
    /// those pads.
    pub fn pads(&self) -> (u64, u64) {
        self.program.as_ref().map_or((0, 0), Code::pads)
    }

    /// The layouts of all images that may run.
    pub fn layouts(&self) -> impl Iterator<Item = LayoutRef<'_>> {
        self.all().flat_map(Code::layouts)
    }

    /// In a forked child: makes whole what another thread of the parent may have been in the middle
    /// of, and counts anew.
    pub fn become_child(&mut self) {
        let changing = self.changing.load(Ordering::Relaxed);
        if changing != PROGRAM {
            // It was not loaded yet, or is gone, and so is the thread that was to go on with that.
            // SAFETY: no thread but this is left. The array was there when the change began; what
            // is overwritten may be no library.
            unsafe {
                PC_MAP.clear(changing);
                self.libraries.add(changing - 1).write(None);
            }
            self.end_change();
        }
        self.gone = Counts::NONE;
        self.all_mut().for_each(Code::become_child);
    }

    /// In a forked child: gives it its own copies.
    ///
    /// # Safety
    /// As [`Code::unshare`].
    pub unsafe fn unshare(&mut self) -> Result<(), os::Errno> {
        for code in self.all_mut() {
            // SAFETY: the caller's promise.
            unsafe { code.unshare()? };
        }
        Ok(())
    }
}
