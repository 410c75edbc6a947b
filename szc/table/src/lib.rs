//! The relocation table of an image: read what the linker retained, decide what may move, write it.
//!
//! `read → decode → jump_tables → decide (frame) → emit → write`; each phase borrows the one before
//! it and changes nothing in it. The format is `szc-abi`'s; what the runtime does with a table is
//! not known here.

#![forbid(unsafe_code)]

mod by_address;
mod canonical;
pub mod decide;
pub mod decision;
mod decode;
pub mod edits;
mod eh_frame_hdr;
mod emit;
pub mod frame;
mod hot_patch;
mod inner_calls;
mod instructions;
mod jump_tables;
mod landing_pads;
mod noreturn;
mod pc_tables;
pub mod pins;
pub mod read;
pub mod records;
pub mod references;
mod relocation;
mod section_numbers;
mod stack_pointer;
mod stack_switch;
mod survey;
mod switch;
mod tail_calls;
pub mod write;
