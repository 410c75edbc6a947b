//! Start: runs before every constructor of the program.

use crate::exports::heap::linkage;
use crate::exports::unwinding::find_fde_address;
use crate::facts::{self, FACTS, Facts};
use crate::library::{self, Wanted};
use crate::path::Path;
use crate::reclaim::stacks;
use crate::registration;
use crate::report::{self, stop};
use crate::settings::{self, CodeReclaim, EXIT_CONFIG, Inject, Settings, Symbols};
use crate::stack::pad_reserve::AboveFrames;
use crate::state::CODE;
use crate::{arch, fork, handlers, heap, maintenance, next, os, paths, stack, symbols, unwind};
use core::ffi::{CStr, c_char, c_int, c_void};
use szc_abi::digest;
use szc_code::budget::{Budget, Reclaim};
use szc_code::entry_jumps::take_over;
use szc_code::refused::Refused;
use szc_code::table;
use szc_heap::HeapBase;
use szc_layout::arch::injected::{ARRAY_INTEGERS, Computation, Injected};
use szc_layout::held::{HeldFrame, HeldFunction, HeldPad, MAX_HELD};
use szc_layout::rng::Seeds;
use szc_layout::slot::{CopyShape, Frames, InjectedFunction, Order, Patching};

/// Tags of the auxiliary vector: the program has more rights than its caller (set-user-ID), and the
/// path it was started by.
const AT_SECURE: usize = 23;
const AT_EXECFN: usize = 31;

unsafe extern "C" {
    fn __cxa_atexit(
        action: extern "C" fn(*mut c_void),
        argument: *mut c_void,
        image: *mut c_void,
    ) -> c_int;
    fn __cxa_at_quick_exit(action: extern "C" fn(*mut c_void), image: *mut c_void) -> c_int;
}

/// Starts the runtime.
///
/// # Safety
/// The vectors must be those that the loader gave the program, whose only thread calls.
pub unsafe fn start(arguments: *const *const c_char, environment: *const *const c_char) {
    // SAFETY: the loader's vector: strings up to a null, and behind it the auxiliary vector.
    let environment = unsafe { Environment::new(environment) };
    let above_frames = AboveFrames {
        arguments: arguments as usize,
        environment: environment.next as usize,
        file: environment.auxiliary(AT_EXECFN).unwrap_or_default(),
    };
    if environment.auxiliary(AT_SECURE).is_some_and(|secure| secure != 0) {
        // Whoever starts a program with more rights than their own must not choose its layout or
        // make it write files.
        begin(&Settings::default(), above_frames);
        return;
    }
    match settings::read(environment) {
        Ok(mut settings) => {
            if settings.paths.is_some() {
                // Blocks are known by their addresses.
                settings.code = false;
                settings.stack = false;
            }
            begin(&settings, above_frames);
        }
        Err(bad) => {
            stop(EXIT_CONFIG, &[b"found ", bad.found, b"; needed is ", bad.needed.as_bytes()])
        }
    }
}

fn begin(settings: &Settings<'_>, above_frames: AboveFrames) {
    let log = settings.log.map(|path| writable(path, b"SZC_LOG"));
    let map = settings.map.map(|path| writable(path, b"SZC_MAP"));
    let paths_file = settings.paths.map(|path| writable(path, b"SZC_PATHS"));
    // Without the kernel's random numbers the clock is the only source left.
    let seed =
        settings.seed.unwrap_or_else(|| os::random_u64().unwrap_or_else(|_| os::monotonic_ns()));
    let seeds = Seeds {
        code: settings.code_seed.unwrap_or(seed),
        stack: settings.stack_seed.unwrap_or(seed),
    };
    let heap_seed = settings.heap_seed.unwrap_or(seed);
    let mut facts = Facts {
        log,
        map,
        paths: paths_file,
        seed,
        interval_ms: settings.interval_ms,
        clock: settings.clock,
        code: false,
        refused: None,
        libraries_move: settings.code,
        stack: stack::start(settings.stack, settings.stack_room_kib, seeds.stack, above_frames),
        heap: false,
        heap_refused: None,
        movable: 0,
        pinned: 0,
    };
    // Frames that get their pads from copies need copies also where code is not to be randomized.
    let wants_copies = settings.code || (facts.stack && stack::has_resizable_frames());
    let may_copy = wants_copies && !arch::keeps_code();
    let obstacle = if may_copy { unwind::obstacle(find_fde_address()) } else { None };
    facts.refused = obstacle.map(Refused::text);
    let copies = may_copy && obstacle.is_none();
    let shape = CopyShape {
        order: if settings.code { Order::Random } else { Order::Linked },
        frames: if facts.stack { Frames::Padded } else { Frames::AsBuilt },
        patching: Patching::Bodies,
        held: settings
            .places
            .map(|held| held.map(|(name, at)| HeldFunction { name: digest(name), at })),
        held_frame: settings.pad.map(|(name, pad)| HeldFrame { name: digest(name), pad }),
        notes_calls: settings.map.is_some() || matches!(settings.pad, Some((_, HeldPad::At(_)))),
        injected: settings.inject.map(injected),
    };
    // A child has profiles of its own, too.
    if copies || facts.stack || facts.paths.is_some() {
        // Before the heap: of its locks, which a thread may hold whose signal handler calls
        // something for the first time, none must be waited for by who holds the lock of the
        // copies.
        fork::register();
    }
    if settings.heap {
        let config = heap::Config {
            seed: heap_seed,
            base: settings.heap_base,
            max_entries: settings.heap_shuffle,
            draws: settings.blocks,
        };
        match heap::start(config, linkage()) {
            Some(Ok(())) => facts.heap = true,
            Some(Err(reason)) => facts.heap_refused = Some(reason),
            None => {}
        }
    } else {
        facts.heap_refused = heap::leave(heap_seed, linkage());
    }
    if settings.blocks.is_some() && !(facts.heap && settings.heap_base == HeapBase::Segregated) {
        let needed = b"a program built with -Rheap, and SZC_HEAP_BASE=segregated";
        stop(EXIT_CONFIG, &[b"SZC_BLOCKS needs ", needed]);
    }
    next::find_all();
    let budget = budget(settings);
    let mut has_copies = false;
    if copies {
        if unwind::is_loaded() {
            unwind::find_unwinder();
        }
        symbols::start(settings.symbols);
        stacks::remember_main(above_frames.environment);
        let counts_callers = settings.blocks.is_some() && settings.map.is_some();
        match start_code(seeds, budget, shape, counts_callers) {
            Ok((movable, pinned)) => {
                has_copies = true;
                facts.code = settings.code;
                (facts.movable, facts.pinned) = (movable, pinned);
            }
            Err(reason) => facts.refused = Some(reason.text()),
        }
    }
    if let Some((name, _)) = settings.places[0] {
        let wanted = settings.places.iter().flatten().count();
        if !(facts.code && CODE.with(|images| images.held_functions()) == wanted) {
            hold_nothing(name, settings.places[1].map(|(name, _)| name));
        }
    }
    if let Some((name, pad)) = settings.pad {
        hold_pad(name, pad, settings.symbols, has_copies);
    }
    if let Some(inject) = settings.inject {
        let found = if has_copies { CODE.with(|images| images.injected()) } else { None };
        let Some(addresses) = found else {
            let needed: &[u8] =
                b"; needed is one that moves and has 71 bytes (fibonacci: 48), as szc \
                inspect --functions lists them";
            stop(EXIT_CONFIG, &[b"found no function of SZC_INJECT, ", inject.function, needed])
        };
        unwind::injected::set(addresses);
    }
    if !has_copies {
        facts.stack &= stack::has_tables();
    }
    if facts.paths.is_some() && !paths::start(settings.paths_shape, seed) {
        stop(EXIT_CONFIG, &[b"SZC_PATHS_MEMORY_KIB is too small for SZC_PATHS_MAX_LENGTH"]);
    }
    let logs = facts.log.is_some() || facts.map.is_some() || facts.paths.is_some();
    let stack = facts.stack;
    FACTS.set(facts);
    if logs {
        facts::expect_log();
        szc_heap::want_counts();
        handlers::install_fatal();
        // SAFETY: the function lives as long as the program.
        unsafe {
            __cxa_atexit(at_exit, os::null(), os::null());
            __cxa_at_quick_exit(at_exit, os::null());
        }
    }
    if copies || stack {
        let libraries = library::start(Wanted {
            seeds,
            code: copies,
            shape: CopyShape { held: [None; MAX_HELD], held_frame: None, injected: None, ..shape },
            stack,
            budget,
        });
        if has_copies || stack || libraries {
            // Without the task the program keeps its first layout; the log then shows no epochs.
            let _ = maintenance::start();
        }
    }
}

/// Ends the program because functions are not there that are to be held at offsets.
fn hold_nothing(name: &[u8], other: Option<&[u8]>) -> ! {
    let needed = b"; needed is a function that moves, as szc inspect --functions lists them";
    let (or, other) = other.map_or((&b""[..], &b""[..]), |other| (&b" or "[..], other));
    stop(EXIT_CONFIG, &[b"found no function of SZC_PLACE, ", name, or, other, needed])
}

/// Ends the program if a pad cannot be held.
fn hold_pad(name: &[u8], pad: HeldPad, symbols: Symbols, has_copies: bool) {
    if !(has_copies && CODE.with(|images| images.holds_pad())) {
        let needed = b"; needed is a function that szc inspect --functions calls padded";
        stop(EXIT_CONFIG, &[b"found no function of SZC_PAD, ", name, needed]);
    }
    // What a tool is told of a frame when its layout begins holds from then on.
    let is_told = matches!(symbols, Symbols::Debugger | Symbols::Files);
    if is_told && matches!(pad, HeldPad::At(_)) {
        let needed = b" begins, and needs SZC_PAD=FUNCTION:BYTES";
        stop(EXIT_CONFIG, &[b"SZC_SYMBOLS=gdb and elf tell of frames when a layout", needed]);
    }
}

/// What is computed at each call of a function, with memory for the array.
fn injected(inject: Inject<'_>) -> InjectedFunction {
    let Inject { function, computation, rounds } = inject;
    let array = match computation {
        Computation::Fibonacci => 0,
        Computation::Array => os::map_anonymous(ARRAY_INTEGERS * size_of::<u32>())
            .map_or_else(|_| stop(EXIT_CONFIG, &[b"no memory for SZC_INJECT"]), |at| at as usize),
    };
    InjectedFunction { name: digest(function), code: Injected { computation, rounds, array } }
}

fn budget(settings: &Settings<'_>) -> Budget {
    let reclaim = match settings.code_reclaim {
        // The map lists all copies, also those that could be freed.
        CodeReclaim::On if settings.map.is_some() => Reclaim::Late,
        CodeReclaim::On => Reclaim::On,
        CodeReclaim::Off => Reclaim::Off,
        CodeReclaim::Stress => Reclaim::Stress,
    };
    Budget::of((settings.code_budget_mib as usize) << 20, reclaim)
}

fn start_code(
    seeds: Seeds,
    budget: Budget,
    shape: CopyShape,
    counts_callers: bool,
) -> Result<(u32, u32), Refused> {
    let table = table::map_own().map_err(Refused::Table)?;
    let image = (arch::image_base(), table::OWN_FILE);
    let budget = |refused: Option<_>| refused.is_none().then_some(budget);
    // SAFETY: the program's own table, and its one thread is here.
    let code = unsafe { registration::begin(image, table, seeds, shape, budget) }?;
    let space = code.space().clone();
    CODE.with(|images| images.set_program(code));
    if counts_callers {
        szc_heap::look_for_callers_in(space.arena.range());
    }
    // SAFETY: the program has one thread, which is here and enters no function of the program
    // meanwhile.
    if let Err(reason) = unsafe { take_over(&space.image) } {
        // SAFETY: nothing of it was changed.
        let code = CODE.with(|images| unsafe { images.take_program() });
        code.into_iter().for_each(registration::end);
        return Err(reason);
    }
    let table = space.image.table();
    Ok((table.movable_count() as u32, table.pinned_count() as u32))
}

/// A path that can be written to, or the end of the program: a log that never appears would be
/// noticed too late.
fn writable(path: &CStr, name: &[u8]) -> Path {
    let absolute = Path::absolute(path);
    let opened = absolute
        .and_then(|path| path.for_process(os::process_id()))
        .is_some_and(|path| os::File::open(path.as_c_str(), os::OPEN_APPEND).is_ok());
    match absolute {
        Some(absolute) if opened => absolute,
        _ => stop(
            EXIT_CONFIG,
            &[
                b"cannot write to ",
                path.to_bytes(),
                b"; ",
                name,
                b" needs a file in a directory that exists and can be written to",
            ],
        ),
    }
}

extern "C" fn at_exit(_argument: *mut c_void) {
    report::write_log();
}

/// The environment as the loader passes it.
struct Environment {
    next: *const *const c_char,
}

impl Environment {
    /// # Safety
    /// `vector` must be the loader's environment vector.
    unsafe fn new(vector: *const *const c_char) -> Self {
        Self { next: vector }
    }

    /// The value of a tag of the auxiliary vector.
    fn auxiliary(&self, tag: usize) -> Option<usize> {
        // SAFETY: the vector ends with a null, behind which the auxiliary vector lies, which ends
        // with the tag 0.
        unsafe {
            let mut at = self.next;
            while !(*at).is_null() {
                at = at.add(1);
            }
            let mut pair = at.add(1).cast::<[usize; 2]>();
            while (*pair)[0] != 0 {
                if (*pair)[0] == tag {
                    return Some((*pair)[1]);
                }
                pair = pair.add(1);
            }
        }
        None
    }
}

impl Iterator for Environment {
    type Item = &'static CStr;

    fn next(&mut self) -> Option<&'static CStr> {
        // SAFETY: `new` was promised a vector of strings that ends with a null.
        unsafe {
            let entry = *self.next;
            if entry.is_null() {
                return None;
            }
            self.next = self.next.add(1);
            Some(CStr::from_ptr(entry))
        }
    }
}
