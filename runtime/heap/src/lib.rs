//! Heap randomization: a shuffle layer over a base allocator.
//!
//! Layers, each of which knows only those below it:
//!
//! ```text
//! api        what the functions of malloc's family mean: sizes, alignments, errors
//! server     which heap serves a request: this thread's, the arena before start, the fallback
//! counts, fork
//! thread     the heap of a thread         large     blocks mapped on their own
//! shuffle    the shuffle layer of a class
//! base       segregated, tlsf, diehard
//! chunk, map, memory, sites, draws, size_class, sequence, random, config
//! ```
//!
//! The names of libc's functions are not here: whoever has them says in [`Linkage`] what became of
//! them in the link.
//!
//! Source: STABILIZER, section 4.2.2; the base allocators name theirs.
#![cfg_attr(not(test), no_std)]
// Addresses are words; the runtime supports 64-bit targets only.
#![allow(clippy::cast_possible_truncation)]

pub mod api;
mod base;
mod boot;
mod chunk;
mod config;
mod counts;
mod decommitted;
mod draws;
mod fallback;
mod fork;
mod large;
mod large_blocks;
mod large_mapping;
mod map;
mod memory;
mod random;
mod refusal;
mod sequence;
mod server;
mod shuffle;
mod sites;
mod size_class;
mod thread;

pub use config::{Config, HeapBase};
pub use counts::{Asked, Drawn, HeapCounts, each_asked, want as want_counts};
pub use draws::Draws;
pub use server::{Linkage, Server, counts, each_drawn, leave, start};
pub use sites::look_in as look_for_callers_in;

#[cfg(test)]
mod tests;
