//! The table by which unwinders search the descriptions of functions (`.eh_frame_hdr`), where it
//! leads past one.
//!
//! A function that can never be left may have no code, and then the next one begins at its address.
//! lld 22 enters one of their two descriptions. If that is the empty one's, the other is not found,
//! and exceptions end the program, where a table of GNU ld's has both.
//!
//! Source: Linux Standard Base, "Exception Frames".

use crate::frame::{Change, NewBytes};
use crate::read::Image;
use std::collections::HashMap;
use szc_abi::unwind::EhFrame;

/// Bytes of the length in front of each description, and of what tells whether it is one.
const WORD: usize = 4;

/// Lengths that say that 8 more bytes of length follow.
const LONG: u32 = u32::MAX;

/// What makes such entries lead to the description of code.
#[must_use]
pub fn repairs(image: &Image<'_>, unwind: &EhFrame<'_>) -> Vec<Change> {
    let mut empty = Vec::new();
    unwind.for_each_empty(|place, start| empty.push((place, start)));
    if empty.is_empty() {
        return Vec::new();
    }
    let mut full = HashMap::new();
    for address in descriptions(image) {
        if let Some(frame) = unwind.fde(address).filter(|frame| frame.bytes > 0) {
            full.insert(frame.start, address);
        }
    }
    let change = |(place, start): (u64, u64)| {
        let word = unwind.word_to(*full.get(&start)?)?;
        Some(Change { address: place, bytes: NewBytes::from_slice(&word) })
    };
    empty.into_iter().filter_map(change).collect()
}

/// Addresses of all descriptions of functions.
fn descriptions(image: &Image<'_>) -> Vec<u64> {
    let mut found = Vec::new();
    for section in image.sections.iter().filter(|section| section.name == ".eh_frame") {
        let word = |at: usize| {
            section.data.get(at..)?.first_chunk::<WORD>().map(|bytes| u32::from_le_bytes(*bytes))
        };
        let mut at = 0;
        while let Some(length) = word(at).filter(|&length| length != LONG) {
            // Nothing: the end of what an object file brought. What several functions share has the
            // number 0.
            if length > 0 && word(at + WORD).is_some_and(|number| number != 0) {
                found.push(section.address + at as u64);
            }
            at += WORD + length as usize;
        }
    }
    found
}
