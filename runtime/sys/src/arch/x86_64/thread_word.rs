//! Words that each thread has for itself: `#[thread_local]` is not stable in Rust.
//!
//! The runtime is part of the program's image, so its thread-local storage lies at a fixed distance
//! from the thread pointer (Drepper, "ELF handling for thread-local storage", local-exec model).

/// Defines a word of thread-local storage, 0 at first or another number, and the functions that
/// read and set it.
macro_rules! thread_word {
    ($symbol:literal, $(#[$get_doc:meta])* $get:ident, $(#[$set_doc:meta])* $set:ident) => {
        thread_word!(@data concat!(".section .tbss.", $symbol, ", \"awT\", @nobits"), $symbol, 0);
        thread_word!(@functions $symbol, $(#[$get_doc])* $get, $(#[$set_doc])* $set);
    };
    (
        $symbol:literal = $first:expr,
        $(#[$get_doc:meta])* $get:ident, $(#[$set_doc:meta])* $set:ident
    ) => {
        thread_word!(
            @data concat!(".section .tdata.", $symbol, ", \"awT\", @progbits"), $symbol, $first
        );
        thread_word!(@functions $symbol, $(#[$get_doc])* $get, $(#[$set_doc])* $set);
    };
    (@data $section:expr, $symbol:literal, $first:expr) => {
        core::arch::global_asm!(
            $section,
            ".p2align 3",
            concat!(".globl ", $symbol),
            concat!(".hidden ", $symbol),
            concat!(".type ", $symbol, ", @object"),
            concat!(".size ", $symbol, ", 8"),
            concat!($symbol, ":"),
            concat!(".quad ", $first),
            ".text",
        );
    };
    (
        @functions $symbol:literal,
        $(#[$get_doc:meta])* $get:ident, $(#[$set_doc:meta])* $set:ident
    ) => {
        $(#[$get_doc])*
        #[inline]
        #[must_use]
        pub fn $get() -> usize {
            let value: usize;
            // SAFETY: reads the thread's own word.
            unsafe {
                core::arch::asm!(
                    concat!("mov {}, qword ptr fs:[", $symbol, "@TPOFF]"),
                    out(reg) value,
                    options(nostack, preserves_flags, readonly),
                );
            }
            value
        }

        $(#[$set_doc])*
        pub fn $set(value: usize) {
            // SAFETY: writes the thread's own word.
            unsafe {
                core::arch::asm!(
                    concat!("mov qword ptr fs:[", $symbol, "@TPOFF], {}"),
                    in(reg) value,
                    options(nostack, preserves_flags),
                );
            }
        }
    };
}

thread_word!(
    "szc_rt_thread_heap",
    /// What the heap keeps for the calling thread; 0 at first.
    heap_slot,
    /// Sets what [`heap_slot`] reads.
    set_heap_slot
);

thread_word!(
    "szc_rt_thread_fork",
    /// The signals that the calling thread, which forks, had blocked before.
    mask_before_fork,
    /// Sets what [`mask_before_fork`] reads.
    set_mask_before_fork
);

thread_word!(
    "szc_rt_thread_errno",
    /// `errno` of the calling thread, which forks, before.
    errno_before_fork,
    /// Sets what [`errno_before_fork`] reads.
    set_errno_before_fork
);

thread_word!(
    "szc_rt_thread_walk",
    /// The context that a walk of the calling thread's stack shows the program at the moment; 0 for
    /// none.
    shown_context,
    /// Sets what [`shown_context`] reads.
    set_shown_context
);

thread_word!(
    "szc_rt_thread_paths",
    /// The profile of the calling thread's subpaths; 0 at first.
    paths_slot,
    /// Sets what [`paths_slot`] reads.
    set_paths_slot
);

// Programs that tell of their blocks take 1 off at each check; below 0 code runs that tells, as at
// the start of every thread.
thread_word!(
    "szc_path_countdown" = -1,
    /// How many checks on the calling thread asks the runtime; below 0: it tells of its blocks.
    path_countdown,
    /// Sets what [`path_countdown`] reads.
    set_path_countdown
);
