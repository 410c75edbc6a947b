//! Names of the runtime: by which the driver links it, and by which the link step knows its
//! functions.

/// Symbol that pulls the runtime out of its archive.
pub const RUNTIME_START_SYMBOL: &str = "szc_rt_start";

/// Symbol that the link defines, anywhere, in programs whose code is to stay where it is.
pub const KEEPS_CODE_SYMBOL: &str = "szc_keeps_code";

/// What code asks for the address in the original of one that it has got from its own stack: a
/// function of the runtime. Where there is none, addresses are what they are.
pub const ORIGINAL_SYMBOL: &str = "szc_rt_original_address";

/// What a program calls to ask for a layout, for the number of the current one, and to begin and
/// end a time without new layouts: functions of the runtime, to which szc.h and the crate szc-rt
/// refer weakly.
pub const CONTROL_SYMBOLS: [&str; 4] =
    ["szc_rt_relayout", "szc_rt_layout", "szc_rt_pause", "szc_rt_resume"];

/// What code that tells of its blocks calls in each: a function of the runtime that keeps all
/// registers but those of the vector unit, as `preserve_most` says.
pub const PATH_BLOCK_SYMBOL: &str = "szc_rt_path_block";

/// As [`PATH_BLOCK_SYMBOL`], at a check of a thread whose countdown is below 0.
pub const PATH_CHECK_SYMBOL: &str = "szc_rt_path_check";

/// The countdown of a thread: a word of thread-local storage, from which each check takes 1. While
/// it is below 0 code tells of its blocks.
pub const PATH_COUNTDOWN_SYMBOL: &str = "szc_path_countdown";

/// Prefixes of the runtime's definitions of libc functions that belong in programs with this
/// randomization only: the driver takes the prefix off the names that a program asked for.
pub const STACK_EXPORT_PREFIX: &str = "szc_rt_stack_";
/// As [`STACK_EXPORT_PREFIX`], for definitions that go on in libc's own, which only a shared libc
/// has behind them: not in programs that are linked statically.
pub const SHARED_STACK_EXPORT_PREFIX: &str = "szc_rt_shared_stack_";
/// As [`STACK_EXPORT_PREFIX`], for definitions that tell of stacks which a program makes for
/// itself, or of its system call filters: in programs whose frames get pads, and in those whose
/// code moves.
pub const FRAMES_EXPORT_PREFIX: &str = "szc_rt_frames_";
/// As [`FRAMES_EXPORT_PREFIX`], for definitions that go on in libc's own, as those of
/// [`SHARED_STACK_EXPORT_PREFIX`] do.
pub const SHARED_FRAMES_EXPORT_PREFIX: &str = "szc_rt_shared_frames_";
/// As [`SHARED_STACK_EXPORT_PREFIX`], for definitions through which programs look at their own
/// stacks: in programs whose code moves and whose unwinder is the shared one.
pub const SHARED_WALKS_EXPORT_PREFIX: &str = "szc_rt_shared_walks_";
/// As [`SHARED_STACK_EXPORT_PREFIX`], for what unwinders inside libraries ask the loader: in
/// programs whose code moves, whatever their own unwinder is.
pub const SHARED_OBJECTS_EXPORT_PREFIX: &str = "szc_rt_shared_objects_";
/// As [`STACK_EXPORT_PREFIX`], for the heap.
pub const HEAP_EXPORT_PREFIX: &str = "szc_rt_heap_";

/// Crates that the runtime consists of, as their names stand in those of their functions.
pub const RUNTIME_CRATES: &[&str] =
    &["szc_runtime", "szc_sys", "szc_layout", "szc_heap", "szc_stack", "szc_code", "szc_paths"];

/// Symbols through which other code enters the runtime. Whatever is reachable from them runs inside
/// the resolver or on the maintenance task, or looks for what lies behind its own image, and so
/// must never be moved itself.
pub const RUNTIME_ENTRY_SYMBOLS: &[&str] = &[
    RUNTIME_START_SYMBOL,
    "szc_rt_stub",
    "szc_rt_resolve",
    "szc_rt_fatal",
    "szc_rt_find_fde",
    "_dl_find_object",
    "szc_rt_symbol_of",
    PATH_BLOCK_SYMBOL,
    PATH_CHECK_SYMBOL,
    ORIGINAL_SYMBOL,
    CONTROL_SYMBOLS[0],
    CONTROL_SYMBOLS[1],
    CONTROL_SYMBOLS[2],
    CONTROL_SYMBOLS[3],
    crate::library::ADOPT_SYMBOL,
    crate::library::RELEASE_SYMBOL,
    "szc_rt_restorer",
    "szc_rt_clone",
    "szc_rt_thread",
    "szc_rt_thread_enter",
    "szc_rt_clone_child",
    "_exit",
    "_Exit",
    "sigaction",
    "signal",
    "pthread_create",
    "thrd_create",
    "pthread_getattr_np",
    "makecontext",
    "clone",
    "_Fork",
    "prctl",
    "syscall",
    "setuid",
    "setgid",
    "seteuid",
    "setegid",
    "setreuid",
    "setregid",
    "setresuid",
    "setresgid",
    "setgroups",
    "initgroups",
    "unshare",
    "setns",
    "szc_rt_system_call",
    // The heap, with its prefix and without it: where a program brings its own, they stay too.
    "malloc",
    "szc_rt_heap_malloc",
    "free",
    "szc_rt_heap_free",
    "calloc",
    "szc_rt_heap_calloc",
    "realloc",
    "szc_rt_heap_realloc",
    "reallocarray",
    "szc_rt_heap_reallocarray",
    "aligned_alloc",
    "szc_rt_heap_aligned_alloc",
    "posix_memalign",
    "szc_rt_heap_posix_memalign",
    "memalign",
    "szc_rt_heap_memalign",
    "valloc",
    "szc_rt_heap_valloc",
    "pvalloc",
    "szc_rt_heap_pvalloc",
    "malloc_usable_size",
    "szc_rt_heap_malloc_usable_size",
    "free_sized",
    "szc_rt_heap_free_sized",
    "free_aligned_sized",
    "szc_rt_heap_free_aligned_sized",
    "cfree",
    "szc_rt_heap_cfree",
];
