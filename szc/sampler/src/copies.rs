//! Copies of functions in a process whose code moves: from an address in a copy to that in the
//! original, which symbols and lines are known for.
//!
//! What the process has in memory for itself is read from outside, as
//! [`szc_abi::copies`] describes it: which layout a place has, and where functions lie in it. A
//! layout is kept by its epoch, so that a process that ends is understood to its last sample.
#![forbid(unsafe_code)]

mod image_pads;
mod pads;
mod rules;

use std::collections::{BTreeMap, HashMap};
use std::path::Path;
use std::sync::Arc;

use szc_abi::PATCHABLE_ENTRY_BYTES;
use szc_abi::copies::{
    COUNT_WORD, CopiesDescription, DESCRIPTION_WORD, DIRECTORY_MAGIC, DIRECTORY_WORDS, IMAGES_WORD,
};

pub use self::image_pads::ImagePads;
use crate::directory;
use crate::memory::{Memory, OfProcess};

/// Most images of a process; a greater number is none.
const MAX_IMAGES: u64 = 256;
/// Layouts of an image that are kept, those that were asked for last.
const MAX_LAYOUTS: usize = 64;
/// Most functions of an image; a greater number is none.
const MAX_FUNCTIONS: u64 = 1 << 24;

/// Where an address in a copy comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Original {
    /// The corresponding address in the original function.
    pub address: u64,
    /// Epoch of the layout.
    pub epoch: u64,
    /// Lowest address of the function's image.
    pub image: u64,
}

/// How a frame is laid out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Rules {
    /// As at this address of the original.
    Original(u64),
    /// As an FDE says that stands at an address of the process. Its CIE is that of the original.
    Own {
        /// Its bytes, from the length on.
        fde: Arc<[u8]>,
        /// Where it stands.
        at: u64,
        /// The corresponding address in the original.
        original: u64,
    },
    /// The function was called, and so many bytes lie on the stack above the return address's
    /// place.
    Called {
        /// Bytes between the stack pointer and the return address.
        bytes: u64,
    },
}

/// The copies of a process.
#[derive(Clone)]
pub struct Copies {
    directory: u64,
    images: Vec<Image>,
}

#[derive(Clone)]
struct Image {
    about: CopiesDescription,
    /// Offset in the image by function.
    starts: Vec<u32>,
    clones: Clones,
    pads: ImagePads,
    /// By place.
    layouts: BTreeMap<u64, Layout>,
    /// How often it was looked at.
    looks: u64,
}

#[derive(Clone, Default)]
struct Clones {
    /// Offset in the place of the unpadded clone of each function.
    starts: Vec<u32>,
    /// Of its full check.
    checks: Vec<u32>,
    /// Of the FDE of its body with a pad.
    fdes: Vec<u32>,
}

#[derive(Clone)]
struct Layout {
    epoch: u64,
    pad_seed: u64,
    /// Functions by position.
    order: Vec<u32>,
    /// Offset of the origin by function.
    origins: Vec<u32>,
    /// When it was last asked for, in looks at the image.
    used: u64,
    /// FDEs of bodies with pads that were asked for, by function.
    fdes: HashMap<u32, Arc<[u8]>>,
}

/// What an offset of a place belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Spot {
    function: u32,
    /// Distance from the function's first instruction: 0 in front of its body.
    inside: u64,
    part: Part,
}

/// A part of a function in a layout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    /// So many bytes behind the stub's first one.
    Stub(u64),
    FullCheck,
    Clone,
    /// In front of the body, or in front of that the check.
    Front,
    Body,
}

impl Copies {
    /// Those of a process of this program, whose text was mapped at `start` from `offset` of its
    /// file on. Nothing if szc has not built it.
    #[must_use]
    pub fn of(program: &Path, start: u64, offset: u64) -> Option<Self> {
        let directory = start.wrapping_add(directory::distance(program, offset, DIRECTORY_MAGIC)?);
        Some(Self { directory, images: Vec::new() })
    }

    /// Where an address in a copy comes from. Nothing if it is in none, or the process was gone
    /// before its layout was read.
    pub fn original(&mut self, pid: u32, address: u64) -> Option<Original> {
        self.original_in(&OfProcess(pid), address)
    }

    /// The same, and how frames are laid out there. No rules: the process was gone before they
    /// were read.
    pub fn rules(&mut self, pid: u32, address: u64) -> Option<(Original, Option<Rules>)> {
        self.rules_in(&OfProcess(pid), address)
    }

    fn original_in(&mut self, memory: &impl Memory, address: u64) -> Option<Original> {
        let image = self.image_of(memory, address)?;
        let (place, spot) = image.spot(memory, address)?;
        image.original(place, spot)
    }

    fn rules_in(
        &mut self,
        memory: &impl Memory,
        address: u64,
    ) -> Option<(Original, Option<Rules>)> {
        let image = self.image_of(memory, address)?;
        let (place, spot) = image.spot(memory, address)?;
        let original = image.original(place, spot)?;
        Some((original, image.rules(memory, address, place, (spot, original.address))))
    }

    fn image_of(&mut self, memory: &impl Memory, address: u64) -> Option<&mut Image> {
        let is_inside =
            |image: &Image| address.wrapping_sub(image.about.arena) < image.about.arena_bytes;
        if !self.images.iter().any(is_inside) {
            self.find_images(memory);
        }
        self.images.iter_mut().find(|image| is_inside(image))
    }

    /// Reads which images there are, and keeps what is known of those that are still there.
    fn find_images(&mut self, memory: &impl Memory) {
        let found = descriptions(memory, self.directory).unwrap_or_default();
        for about in found {
            if !self.images.iter().any(|image| image.about == about) {
                // A new image may lie where an old one was.
                self.images.retain(|image| image.about.arena != about.arena);
                self.images.extend(Image::read(memory, about));
            }
        }
    }
}

fn descriptions(memory: &impl Memory, directory: u64) -> Option<Vec<CopiesDescription>> {
    let word = |index: usize| memory.word(directory + 8 * index as u64);
    let mut words = [0; DIRECTORY_WORDS];
    for (index, value) in words.iter_mut().enumerate() {
        *value = word(index)?;
    }
    if words[..2] != DIRECTORY_MAGIC || words[COUNT_WORD] == 0 {
        return None;
    }
    let count = memory.word(words[COUNT_WORD])?.min(MAX_IMAGES);
    let description = |slot| {
        let image = memory.word(words[IMAGES_WORD] + 8 * slot).filter(|&image| image != 0)?;
        let mut bytes = [0; CopiesDescription::BYTES];
        memory.read(image.checked_add(words[DESCRIPTION_WORD])?, &mut bytes)?;
        Some(CopiesDescription::read(&bytes))
    };
    Some((0..count).filter_map(description).collect())
}

impl Image {
    fn read(memory: &impl Memory, about: CopiesDescription) -> Option<Self> {
        let is_sound = about.functions <= MAX_FUNCTIONS
            && about.place_bytes != 0
            && (4..=1 << 10).contains(&about.record_bytes)
            && about.record_start_at <= about.record_bytes - 4;
        if !is_sound {
            return None;
        }
        let count = usize::try_from(about.functions).ok()?;
        let record = usize::try_from(about.record_bytes).ok()?;
        let start_at = usize::try_from(about.record_start_at).ok()?;
        let mut records = vec![0; count.checked_mul(record)?];
        memory.read(about.records, &mut records)?;
        let start =
            |record: &[u8]| record[start_at..].first_chunk().map(|c| u32::from_le_bytes(*c));
        let starts = records.chunks_exact(record).filter_map(start).collect();
        let clones = if about.clones == 0 {
            Clones::default()
        } else {
            let mut starts = memory.numbers(about.clones, 3 * count)?;
            let mut checks = starts.split_off(count);
            let fdes = checks.split_off(count);
            Clones { starts, checks, fdes }
        };
        let (layouts, pads) = (BTreeMap::new(), ImagePads::default());
        let mut image = Self { about, starts, clones, pads, layouts, looks: 0 };
        image.pads.functions = image.padded(&records);
        image.pads.starts = image.starts_of_padded();
        Some(image)
    }

    /// The place that an address lies in, and what it belongs to there.
    fn spot(&mut self, memory: &impl Memory, address: u64) -> Option<(u64, Spot)> {
        let inside = address - self.about.arena;
        let place = inside / self.about.place_bytes;
        self.look_at(memory, place);
        let layout = self.layouts.get(&place)?;
        Some((place, self.locate(layout, inside % self.about.place_bytes)?))
    }

    fn original(&self, place: u64, spot: Spot) -> Option<Original> {
        let image = self.about.image;
        let start = image + u64::from(*self.starts.get(spot.function as usize)?);
        let epoch = self.layouts.get(&place)?.epoch;
        Some(Original { address: start + spot.inside, epoch, image })
    }

    /// Reads the layout at a place, unless the one that is known is still there. If the process is
    /// gone that is what it was.
    fn look_at(&mut self, memory: &impl Memory, place: u64) {
        self.looks += 1;
        let used = self.looks;
        if let Some(layout) = self.layouts.get_mut(&place) {
            layout.used = used;
        }
        let head = self.head(place);
        let epoch = || memory.word(head + self.about.layout_epoch_at);
        let Some(before) = epoch() else { return };
        if self.layouts.get(&place).is_some_and(|layout| layout.epoch == before) {
            return;
        }
        let read = || {
            let count = usize::try_from(self.about.functions).ok()?;
            let pad_seed = memory.word(head + self.about.layout_pad_seed_at)?;
            let arrays = memory.word(head + self.about.layout_arrays_at)?;
            let mut order = memory.numbers(arrays, 2 * count)?;
            let origins = order.split_off(count);
            // It may have been drawn anew meanwhile; then nobody was in it.
            (epoch() == Some(before)).then_some(Layout {
                epoch: before,
                pad_seed,
                order,
                origins,
                used,
                fdes: HashMap::new(),
            })
        };
        if let Some(layout) = read() {
            self.layouts.insert(place, layout);
        }
        while self.layouts.len() > MAX_LAYOUTS {
            // Not the oldest: a function that runs for long stays in an old one.
            let oldest = self.layouts.iter().min_by_key(|(_, layout)| layout.used);
            let Some((&oldest, _)) = oldest else { break };
            self.layouts.remove(&oldest);
        }
    }

    /// Where what is known of a place's layout is.
    fn head(&self, place: u64) -> u64 {
        self.about.layouts + place * self.about.layout_bytes
    }

    /// What an offset of a place belongs to.
    fn locate(&self, layout: &Layout, offset: u64) -> Option<Spot> {
        let about = &self.about;
        let stubs = about.place_bytes.checked_sub(about.functions * about.stub_bytes)?;
        if let Some(inside) = offset.checked_sub(stubs) {
            let function = u32::try_from(inside / about.stub_bytes).ok()?;
            let part = Part::Stub(inside % about.stub_bytes);
            return Some(Spot { function, inside: 0, part });
        }
        let offset32 = u32::try_from(offset).ok()?;
        let within = |starts: &[u32]| {
            let index = starts.partition_point(|&start| start <= offset32).checked_sub(1)?;
            Some((u32::try_from(index).ok()?, u64::from(offset32 - starts[index])))
        };
        if !self.clones.starts.is_empty() {
            if (about.clones_start..about.clones_end).contains(&offset) {
                let (function, inside) = within(&self.clones.starts)?;
                return Some(Spot { function, inside, part: Part::Clone });
            }
            if (about.checks_start..about.clones_start).contains(&offset) {
                let (function, _) = within(&self.clones.checks)?;
                return Some(Spot { function, inside: 0, part: Part::FullCheck });
            }
        }
        let origin = |function: u32| layout.origins.get(function as usize).copied();
        let is_behind = |function: &u32| {
            origin(*function)
                .is_some_and(|origin| origin.saturating_sub(PATCHABLE_ENTRY_BYTES) <= offset32)
        };
        let behind = layout.order.partition_point(is_behind).checked_sub(1)?;
        let function = layout.order[behind];
        let body = u64::from(origin(function)?) + self.check_bytes(function);
        let part = if offset < body { Part::Front } else { Part::Body };
        Some(Spot { function, inside: offset.saturating_sub(body), part })
    }

    /// Bytes in front of a function's body: a check, if its frame has a pad, and so a clone.
    fn check_bytes(&self, function: u32) -> u64 {
        let index = function as usize;
        let Some(&start) = self.clones.starts.get(index) else { return 0 };
        let next = self.clones.starts.get(index + 1).map_or(self.about.clones_end, |&n| n.into());
        if u64::from(start) < next { self.about.check_bytes } else { 0 }
    }
}

#[cfg(test)]
mod tests;
