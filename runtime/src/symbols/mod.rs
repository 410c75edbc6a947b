//! Names for copies, for those who look at the program from outside: debuggers and profilers.
//!
//! Only on demand (`SZC_SYMBOLS`, or a debugger that started the program): telling takes time and
//! memory in every epoch, which a measurement would see.

mod debugger;
mod object;
mod perf;

use crate::arch;
use crate::code::arena::Arena;
use crate::code::image::Image;
use crate::code::pristine;
use crate::code::region::Region;
use crate::code::views::Form;
use crate::os::Lock;
use crate::settings::Symbols;
use core::cell::UnsafeCell;
use core::ffi::CStr;
use core::sync::atomic::{AtomicBool, Ordering};
use debugger::Template;
use szc_abi::unwind::Frames;

/// Images that debuggers are told of; others stay nameless.
const MAX_IMAGES: usize = 64;

/// Set at start, before any other thread exists.
static FOR_DEBUGGER: AtomicBool = AtomicBool::new(false);
static FOR_PERF: AtomicBool = AtomicBool::new(false);

/// No image lies at this address.
const FORGOTTEN: usize = 0;

/// One template for each image, by the address of its first byte; no template where there was no
/// memory for it.
type Known = [Option<(usize, Option<Template>)>; MAX_IMAGES];

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
    let has_interface = arch::debugger_descriptor().is_some();
    let debugger = match wanted {
        Symbols::Debugger => true,
        Symbols::IfDebugged => arch::debugger_listens(),
        Symbols::Perf | Symbols::Nobody => false,
    };
    FOR_DEBUGGER.store(has_interface && debugger, Ordering::Relaxed);
    FOR_PERF.store(wanted == Symbols::Perf, Ordering::Relaxed);
}

/// Whether a debugger may write breakpoints into copies, and has written some into originals.
pub fn for_debugger() -> bool {
    FOR_DEBUGGER.load(Ordering::Relaxed)
}

/// Whether anyone is told.
pub fn tells_anyone() -> bool {
    for_debugger() || FOR_PERF.load(Ordering::Relaxed)
}

/// How the memory of copies has to be mapped for those who are told.
pub fn view_form() -> Form {
    if for_debugger() {
        Form::Debugger
    } else if FOR_PERF.load(Ordering::Relaxed) {
        Form::Perf
    } else {
        Form::Plain
    }
}

/// Keeps what debuggers are to be told of an image, which was loaded from `file`. All signals must be blocked.
pub fn introduce(image: &Image, file: &CStr) {
    if !for_debugger() {
        return;
    }
    TEMPLATES.lock.with(|| {
        // SAFETY: the lock makes this the only reference.
        let known = unsafe { &mut *TEMPLATES.known.get() };
        if let Some(slot) =
            known.iter_mut().find(|slot| slot.as_ref().is_none_or(|(base, _)| *base == FORGOTTEN))
        {
            let made =
                pristine::with_file(file, |file| Template::of(image, Frames::parse(file).as_ref()));
            *slot = Some((image.address(0), made.unwrap_or_else(|| Template::of(image, None))));
        }
    });
}

/// Tells of a layout before any thread runs in it. All signals must be blocked.
pub fn announce(image: &Image, arena: &Arena, region: &Region) {
    if for_debugger() {
        TEMPLATES.lock.with(|| {
            // SAFETY: the lock makes this the only reference.
            let known = unsafe { &*TEMPLATES.known.get() };
            let base = image.address(0);
            let template = known.iter().flatten().find(|(known, _)| *known == base);
            if let Some((_, Some(template))) = template {
                debugger::announce(template, arena, region);
            }
        });
    }
    announce_to_perf(image, arena, region);
}

/// As [`announce`], for perf alone: in a forked child, whose debugger knows its layouts.
pub fn announce_to_perf(image: &Image, arena: &Arena, region: &Region) {
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

/// Takes back what was told of an image that is unloaded, and of its layouts at these addresses. All
/// signals must be blocked.
pub fn forget(image: &Image, layouts: impl Iterator<Item = usize>) {
    if !for_debugger() {
        return;
    }
    TEMPLATES.lock.with(|| {
        layouts.for_each(debugger::withdraw);
        // SAFETY: the lock makes this the only reference.
        let known = unsafe { &mut *TEMPLATES.known.get() };
        let base = image.address(0);
        // Another image may come to lie there.
        for slot in known.iter_mut().flatten().filter(|slot| slot.0 == base) {
            slot.0 = FORGOTTEN;
            if let Some(template) = slot.1.take() {
                template.free();
            }
        }
    });
}

/// In a forked child: the thread that held the lock does not exist.
pub fn become_child() {
    TEMPLATES.lock.reset();
}
