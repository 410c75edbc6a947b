//! Copies of functions: memory for them, their layouts, and the entries and pointers that lead
//! there.
//!
//! Each image has a [`Code`](code::Code) of its own, and so an arena, epochs and layouts of its
//! own. Nothing here knows who else needs to know a layout: what unwinders, debuggers and
//! profilers are to know is returned.
#![cfg_attr(not(test), no_std)]
// Addresses and fields of machine code are words; the runtime supports 64-bit targets only.
#![allow(clippy::cast_possible_truncation)]

pub mod alias;
pub mod arena;
pub mod budget;
mod call_sites;
mod callers;
pub mod code;
pub mod copy;
pub mod counts;
pub mod description;
mod draw;
pub mod entry_jumps;
pub mod epoch_layout;
pub mod first_calls;
mod forked;
pub mod image;
pub mod image_file;
pub mod layout_ref;
pub mod loaded_image;
pub mod original_text;
mod patchable_entry;
mod pc_cache;
pub mod pc_map;
pub mod plan;
pub mod refused;
pub mod resolver;
mod self_test;
pub mod setup;
pub mod sharing;
pub mod side_memory;
pub mod space;
pub mod table;
pub mod unpadded_clones;
mod wanted;

pub use pc_cache::MAX_IMAGES;

#[cfg(test)]
mod tests;
