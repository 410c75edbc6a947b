//! Names for copies, for those who look at the program from outside: debuggers and profilers.
//!
//! Only on demand (`SZC_SYMBOLS`, or a debugger that started the program): telling takes time and
//! memory in every epoch, which a measurement would see.

mod debugger;
pub mod elf;
mod object;
mod perf;
mod sink;

use crate::code::arena::Arena;
use crate::code::image::Image;
use crate::code::pristine;
use crate::code::region::Region;
use crate::code::slot;
use crate::code::views::Form;
use crate::exports;
use crate::os::Lock;
use crate::settings::Symbols;
use core::cell::UnsafeCell;
use core::ffi::CStr;
use core::sync::atomic::{AtomicBool, Ordering};
use debugger::Template;
use elf::{Described, Room};
use szc_abi::Table;
use szc_abi::unwind::Frames;

/// Images that debuggers and files are told of; others stay nameless.
const MAX_IMAGES: usize = 64;

/// Set at start, before any other thread exists.
static FOR_DEBUGGER: AtomicBool = AtomicBool::new(false);
static FOR_PERF: AtomicBool = AtomicBool::new(false);
static FOR_FILES: AtomicBool = AtomicBool::new(false);

/// No image lies at this address.
const FORGOTTEN: usize = 0;

/// What is kept of an image.
enum Kept {
    /// For debuggers.
    Template(Template),
    /// For files.
    Described(Described),
}

impl Kept {
    fn free(self) {
        match self {
            Self::Template(template) => template.free(),
            Self::Described(described) => described.free(),
        }
    }
}

/// What is kept of each image, by the address of its first byte; nothing where there was no memory
/// for it.
type Known = [Option<(usize, Option<Kept>)>; MAX_IMAGES];

struct Templates {
    lock: Lock,
    known: UnsafeCell<Known>,
}

// SAFETY: reached under the lock alone.
unsafe impl Sync for Templates {}

static TEMPLATES: Templates =
    Templates { lock: Lock::new(), known: UnsafeCell::new([const { None }; MAX_IMAGES]) };

/// Decides who is told. Only the first thread of the program may, before it starts others.
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
pub fn for_debugger() -> bool {
    FOR_DEBUGGER.load(Ordering::Relaxed)
}

fn for_files() -> bool {
    FOR_FILES.load(Ordering::Relaxed)
}

/// Whether anyone is told.
pub fn tells_anyone() -> bool {
    for_debugger() || for_files() || FOR_PERF.load(Ordering::Relaxed)
}

/// Room that an image needs in its arena for what is said there; `frames`: what copies do to
/// frames.
pub fn room(table: &Table<'_>, frames: slot::Frames, file: &CStr) -> Room {
    if for_files() { elf::room(table, frames, file) } else { Room::default() }
}

/// How the memory of copies has to be mapped for those who are told.
pub fn view_form() -> Form {
    if for_debugger() {
        Form::Debugger
    } else if FOR_PERF.load(Ordering::Relaxed) {
        Form::Perf
    } else if for_files() {
        Form::File
    } else {
        Form::Plain
    }
}

/// Keeps what debuggers and files are to be told of an image, which was loaded from `file`. All
/// signals must be blocked.
pub fn introduce(image: &Image, file: &CStr) {
    if !for_debugger() && !for_files() {
        return;
    }
    TEMPLATES.lock.with(|| {
        // SAFETY: the lock makes this the only reference.
        let known = unsafe { &mut *TEMPLATES.known.get() };
        if let Some(slot) =
            known.iter_mut().find(|slot| slot.as_ref().is_none_or(|(base, _)| *base == FORGOTTEN))
        {
            let kept = if for_files() {
                Some(Kept::Described(Described::of(image, file)))
            } else {
                let frames = |file: &[u8]| Template::of(image, Frames::parse(file).as_ref());
                let made = pristine::with_file(file, frames);
                made.unwrap_or_else(|| Template::of(image, None)).map(Kept::Template)
            };
            *slot = Some((image.address(0), kept));
        }
    });
}

/// Tells of a layout before any thread runs in it. All signals must be blocked.
pub fn announce(image: &Image, arena: &Arena, region: &Region) {
    with_kept(for_debugger(), image, |kept| {
        if let Kept::Template(template) = kept {
            debugger::announce(template, arena, region);
        }
    });
    announce_to_profilers(image, arena, region);
}

fn with_kept(is_wanted: bool, image: &Image, action: impl FnOnce(&Kept)) {
    if !is_wanted {
        return;
    }
    TEMPLATES.lock.with(|| {
        // SAFETY: the lock makes this the only reference.
        let known = unsafe { &*TEMPLATES.known.get() };
        let base = image.address(0);
        let kept = known.iter().flatten().find(|(known, _)| *known == base);
        if let Some((_, Some(kept))) = kept {
            action(kept);
        }
    });
}

/// As [`announce`], but not for debuggers: in a forked child, whose debugger knows its layouts.
pub fn announce_to_profilers(image: &Image, arena: &Arena, region: &Region) {
    with_kept(for_files(), image, |kept| {
        if let Kept::Described(described) = kept {
            described.announce(image, arena, region);
        }
    });
    if FOR_PERF.load(Ordering::Relaxed) {
        perf::announce(image, arena, region);
    }
}

/// Takes back what was told of the layout at this address, before anything is written there. All
/// signals must be blocked.
pub fn withdraw(layout: usize) {
    if for_debugger() {
        TEMPLATES.lock.with(|| debugger::withdraw(layout));
    }
}

/// Takes back what was told of an image that is unloaded, and of its layouts at these addresses.
/// All signals must be blocked.
pub fn forget(image: &Image, layouts: impl Iterator<Item = usize>) {
    if !for_debugger() && !for_files() {
        return;
    }
    TEMPLATES.lock.with(|| {
        if for_debugger() {
            layouts.for_each(debugger::withdraw);
        }
        // SAFETY: the lock makes this the only reference.
        let known = unsafe { &mut *TEMPLATES.known.get() };
        let base = image.address(0);
        // Another image may come to lie there.
        for slot in known.iter_mut().flatten().filter(|slot| slot.0 == base) {
            slot.0 = FORGOTTEN;
            if let Some(kept) = slot.1.take() {
                kept.free();
            }
        }
    });
}

/// In a forked child: the thread that held the lock does not exist.
pub fn become_child() {
    TEMPLATES.lock.reset();
}
