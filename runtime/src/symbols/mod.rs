//! Names for copies, for those who look at the program from outside: debuggers and profilers.
//!
//! Only on demand (`SZC_SYMBOLS`, or a debugger that started the program): telling takes time and
//! memory in every epoch, which a measurement would see.

mod debugger;
mod described;
mod elf;
mod in_file;
mod perf;
mod whole_file;

use crate::exports;
use crate::settings::Symbols;
use core::cell::UnsafeCell;
use core::ffi::CStr;
use core::sync::atomic::{AtomicBool, Ordering};
use described::Described;
use elf::file;
use szc_abi::Table;
use szc_code::alias::Form;
use szc_code::image::Image;
use szc_code::image_file::FileRoom;
use szc_code::layout_ref::LayoutRef;
use szc_code::setup::Audience;
use szc_layout::slot::{self, CopyShape, Patching};
use szc_sys::os::Lock;

/// Images whose layouts are exported to debuggers and files; others have no names.
const MAX_REGISTERED: usize = 64;

/// Set at start, before any other thread exists.
static FOR_DEBUGGER: AtomicBool = AtomicBool::new(false);
static FOR_PERF: AtomicBool = AtomicBool::new(false);
static FOR_FILES: AtomicBool = AtomicBool::new(false);

/// What is kept of each image, by the address of its first byte.
type Known = [Option<(usize, Described)>; MAX_REGISTERED];

struct Registered {
    lock: Lock,
    known: UnsafeCell<Known>,
}

// SAFETY: reached under the lock alone.
unsafe impl Sync for Registered {}

static REGISTERED: Registered =
    Registered { lock: Lock::new(), known: UnsafeCell::new([const { None }; MAX_REGISTERED]) };

/// Decides what is exported. Only the first thread of the program may, before it starts others.
pub fn start(wanted: Symbols) {
    let has_interface = exports::debugger::debugger_descriptor().is_some();
    let debugger = match wanted {
        Symbols::Debugger => true,
        Symbols::IfDebugged => exports::debugger::debugger_listens(),
        Symbols::Perf | Symbols::Files | Symbols::Nobody => false,
    };
    FOR_DEBUGGER.store(has_interface && debugger, Ordering::Relaxed);
    FOR_PERF.store(wanted == Symbols::Perf, Ordering::Relaxed);
    FOR_FILES.store(wanted == Symbols::Files, Ordering::Relaxed);
}

/// Whether a debugger may write breakpoints into copies, and has written some into originals.
fn for_debugger() -> bool {
    FOR_DEBUGGER.load(Ordering::Relaxed)
}

fn for_files() -> bool {
    FOR_FILES.load(Ordering::Relaxed)
}

fn for_perf() -> bool {
    FOR_PERF.load(Ordering::Relaxed)
}

/// What copies are to be like for what is exported.
pub fn shape(shape: CopyShape) -> CopyShape {
    let is_exported = for_debugger() || for_files() || for_perf();
    CopyShape {
        frames: if for_debugger() { slot::Frames::AsBuilt } else { shape.frames },
        patching: if is_exported { Patching::NoOps } else { shape.patching },
        ..shape
    }
}

/// What exports need of an image with this table, which was loaded from `file`;
/// `frames`: what copies do to frames.
pub fn audience(table: &Table<'_>, frames: slot::Frames, file: &CStr) -> Audience {
    let form = if for_debugger() {
        Form::Debugger
    } else if for_perf() {
        Form::Perf
    } else if for_files() {
        Form::File
    } else {
        Form::Plain
    };
    let file_room = if for_files() {
        file::room(&Described::of(table, frames, file, false).needs)
    } else {
        FileRoom::default()
    };
    Audience { form, file_room, is_exported: form != Form::Plain }
}

/// Runs `action` on what is kept of images, if that is wanted.
fn with_known(action: impl FnOnce(&mut Known)) {
    if for_debugger() || for_files() {
        // SAFETY: the lock makes this the only reference.
        REGISTERED.lock.with(|| action(unsafe { &mut *REGISTERED.known.get() }));
    }
}

/// Registers an image, which was loaded from `file`. All signals must be blocked.
pub fn register_image(image: &Image, file: &CStr) {
    with_known(|known| {
        if let Some(free) = known.iter_mut().find(|known| known.is_none()) {
            let described = Described::of(image.table(), image.frames(), file, for_debugger());
            *free = Some((image.address(0), described));
        }
    });
}

/// Registers a layout before any thread runs in it. All signals must be blocked.
pub fn register_layout(layout: LayoutRef<'_>) {
    if for_debugger() {
        with_described(layout, |described| debugger::register(described, layout));
    }
    register_for_profilers(layout);
}

/// Whether profilers are told of layouts.
pub fn are_for_profilers() -> bool {
    for_files() || for_perf()
}

/// As [`register_layout`], but not for debuggers: in a forked child, whose debugger knows its
/// layouts.
pub fn register_for_profilers(layout: LayoutRef<'_>) {
    if for_files() {
        // SAFETY: the lock is held.
        with_described(layout, |described| unsafe { in_file::add(described, layout) });
    }
    if for_perf() {
        perf::add(layout);
    }
}

fn with_described(layout: LayoutRef<'_>, action: impl FnOnce(&Described)) {
    with_known(|known| {
        let base = layout.image.address(0);
        if let Some((_, described)) = known.iter().flatten().find(|(known, _)| *known == base) {
            action(described);
        }
    });
}

/// Unregisters the layout at this address, before anything is written there. All signals must be
/// blocked.
pub fn unregister_layout(start: usize) {
    if for_debugger() {
        REGISTERED.lock.with(|| debugger::unregister(start));
    }
}

/// Unregisters an image that is unloaded, and its layouts at these addresses. All signals must be
/// blocked.
pub fn unregister_image(image: &Image, layouts: impl Iterator<Item = usize>) {
    with_known(|known| {
        if for_debugger() {
            layouts.for_each(debugger::unregister);
        }
        let base = image.address(0);
        // Another image may come to lie there.
        for free in known {
            if free.as_ref().is_some_and(|(known, _)| *known == base) {
                *free = None;
            }
        }
    });
}

/// In a forked child: the thread that held the lock does not exist.
pub fn become_child() {
    REGISTERED.lock.reset();
}
