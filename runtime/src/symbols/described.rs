//! What is kept of an image, to describe its layouts.
#![forbid(unsafe_code)]

use super::elf::needs::Needs;
use super::elf::source::{Places, Source};
use super::whole_file::WholeFile;
use core::ffi::CStr;
use szc_abi::Table;
use szc_abi::unwind::EhFrame;
use szc_code::image::Image;
use szc_code::layout_ref::LayoutRef;
use szc_layout::slot;

/// An image whose layouts are described, in files or for a debugger.
pub struct Described {
    file: Option<WholeFile>,
    pub needs: Needs,
    for_debugger: bool,
}

impl Described {
    /// An image with this table, which was loaded from `file`; `frames`: what copies do to frames.
    pub fn of(table: &Table<'_>, frames: slot::Frames, file: &CStr, for_debugger: bool) -> Self {
        let file = WholeFile::map(file);
        let unwind = file.as_ref().and_then(|file| EhFrame::parse(file.bytes()));
        let needs = Needs::of(&Source { table, frames, unwind, for_debugger });
        Self { file, needs, for_debugger }
    }

    /// What can be said of the image.
    pub fn source<'a>(&'a self, image: &'a Image) -> Source<'a> {
        let unwind = self.file.as_ref().and_then(|file| EhFrame::parse(file.bytes()));
        let (table, frames) = (image.table(), image.frames());
        Source { table, frames, unwind, for_debugger: self.for_debugger }
    }
}

/// A layout, by distances of addresses from one.
pub struct PlacesFrom<'a> {
    pub layout: LayoutRef<'a>,
    /// The address that they count from.
    pub from: usize,
}

impl PlacesFrom<'_> {
    fn distance(&self, address: usize) -> u64 {
        (address - self.from) as u64
    }
}

impl Places for PlacesFrom<'_> {
    fn function(&self, position: u32) -> u32 {
        self.layout.drawn.order().get(position as usize).copied().unwrap_or(position)
    }
    fn body(&self, function: u32) -> u64 {
        self.distance(self.layout.origin(function))
    }
    fn full_check(&self, function: u32) -> u64 {
        self.distance(self.layout.full_check(function))
    }
    fn clone(&self, function: u32) -> u64 {
        self.distance(self.layout.unpadded(function))
    }
    fn stub(&self, function: u32) -> u64 {
        self.distance(self.layout.stub(function))
    }
    fn pad(&self, function: u32) -> u32 {
        self.layout.pad(function)
    }
}
