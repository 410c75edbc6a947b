//! What an image and each of its layouts take in a file or in an object, counted by writing one
//! that lies nowhere.

#![forbid(unsafe_code)]

use super::sink::Sink;
use super::source::{Addresses, Cies, Out, Places, Source};
use szc_sys::os::PAGE_BYTES;

/// Bytes, and which CIEs there are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Needs {
    /// Names of functions.
    pub strings_bytes: usize,
    /// CIEs.
    pub cies: Cies,
    /// Their bytes.
    pub cies_bytes: usize,
    /// Symbols of a layout.
    pub symbols_bytes: usize,
    /// FDEs of a layout.
    pub frames_bytes: usize,
    /// Their index.
    pub index_bytes: usize,
}

/// No layout at all.
struct Nowhere;

impl Places for Nowhere {
    fn function(&self, position: u32) -> u32 {
        position
    }
    fn body(&self, _: u32) -> u64 {
        PAGE_BYTES as u64
    }
    fn full_check(&self, _: u32) -> u64 {
        PAGE_BYTES as u64
    }
    fn clone(&self, _: u32) -> u64 {
        PAGE_BYTES as u64
    }
    fn stub(&self, _: u32) -> u64 {
        PAGE_BYTES as u64
    }
    fn pad(&self, _: u32) -> u32 {
        0
    }
}

impl Needs {
    /// Those of an image.
    pub fn of(source: &Source<'_>) -> Self {
        let mut sink = Sink::new(None);
        let cies = source.cies(&mut sink);
        let mut out =
            Out { symbols: Sink::new(None), frames: Sink::new(None), index: Sink::new(None) };
        source.layout(&Nowhere, &cies, Addresses::default(), &mut out);
        Self {
            strings_bytes: 1 + source.table.names().len(),
            cies,
            cies_bytes: sink.at,
            symbols_bytes: out.symbols.at,
            frames_bytes: out.frames.at,
            index_bytes: out.index.at,
        }
    }
}
