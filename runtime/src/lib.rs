//! The runtime of szc: linked into every program, it relocates the program's functions while they
//! run.
//!
//! A static library without std: nothing here allocates, takes a lock of libc's, or depends on
//! thread-local storage, because it runs inside any call of the program and on a task that libc
//! does not know.
#![cfg_attr(not(test), no_std)]
// A system call's numbers and addresses are words; the runtime supports 64-bit targets only.
#![allow(clippy::cast_possible_truncation)]
// A test program is not started by the runtime.
#![cfg_attr(test, allow(dead_code))]

mod exports;
mod facts;
mod handlers;
mod images;
mod library;
mod lifecycle;
mod path;
mod paths;
mod pc_map;
mod reclaim;
mod registration;
mod report;
mod resolver;
mod settings;
mod start;
mod state;
mod symbols;
mod unwind;

use lifecycle::{announced, filters, fork, maintenance};
use szc_code as code;
use szc_heap as heap;
use szc_layout::rng;
use szc_stack as stack;
use szc_sys::{arch, errno, next, os};

/// Nothing can be repaired where a panic happens: say where and abort.
#[cfg(not(test))]
#[panic_handler]
fn panic(info: &core::panic::PanicInfo<'_>) -> ! {
    let place = info.location().map_or(("an unknown place", 0), |at| (at.file(), at.line()));
    report::internal_error("it panicked", place)
}
