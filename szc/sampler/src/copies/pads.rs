//! Pads of frames, as a process's layouts have drawn them.
#![forbid(unsafe_code)]

use std::rc::Rc;

use szc_layout::slot;

use super::image_pads::ImagePads;
use super::{Copies, Image, Part};
use crate::memory::{Memory, OfProcess};

impl Copies {
    /// Lowest address of the program's own image, which comes first.
    #[must_use]
    pub fn programs_image(&self) -> Option<u64> {
        self.images.first().map(|image| image.about.image)
    }

    /// Distance of a thread's pad state from its thread pointer, modulo 2⁶⁴, if an image is known.
    #[must_use]
    pub fn pad_state_offset(&self) -> Option<u64> {
        self.images.first().map(|image| image.about.pad_state_offset)
    }

    /// The pads of a process by image, the program's own first, as they are now; as they were, if
    /// it is gone.
    pub fn pads(&mut self, pid: u32) -> Vec<ImagePads> {
        self.pads_in(&OfProcess(pid))
    }

    /// The pad that the frame at an address in a copy has, once it is taken.
    pub fn pad_at(&mut self, pid: u32, address: u64) -> u32 {
        self.pad_in(&OfProcess(pid), address).unwrap_or(0)
    }

    pub(super) fn pads_in(&mut self, memory: &impl Memory) -> Vec<ImagePads> {
        self.find_images(memory);
        self.images
            .iter_mut()
            .map(|image| {
                if let Some(layouts) = image.drawn(memory) {
                    image.pads.layouts = layouts;
                }
                image.pads.clone()
            })
            .collect()
    }

    pub(super) fn pad_in(&mut self, memory: &impl Memory, address: u64) -> Option<u32> {
        let image = self.image_of(memory, address)?;
        let (place, spot) = image.spot(memory, address)?;
        if spot.part != Part::Body || image.check_bytes(spot.function) == 0 {
            return None;
        }
        let start = image.about.image + u64::from(*image.starts.get(spot.function as usize)?);
        let functions = &image.pads.functions;
        let index = functions.binary_search_by_key(&start, |&(first, _)| first).ok()?;
        Some(slot::pad(image.layouts.get(&place)?.pad_seed, functions[index].1))
    }
}

impl Image {
    /// The functions whose frames have pads.
    pub(super) fn padded(&self, records: &[u8]) -> Rc<[(u64, u64)]> {
        let Ok(name_at) = usize::try_from(self.about.record_name_hash_at) else {
            return Rc::default();
        };
        let Ok(bytes) = usize::try_from(self.about.record_bytes) else { return Rc::default() };
        let names = records.chunks_exact(bytes).map(|record| record.get(name_at..)?.first_chunk());
        let mut functions: Vec<(u64, u64)> = (0..)
            .zip(names.zip(&self.starts))
            .filter(|(function, _)| self.check_bytes(*function) != 0)
            .filter_map(|(_, (name, start))| {
                Some((self.about.image + u64::from(*start), u64::from_le_bytes(*name?)))
            })
            .collect();
        functions.sort_unstable();
        functions.into()
    }

    /// First addresses of all functions, in order; of none, if no frames have pads.
    pub(super) fn starts_of_padded(&self) -> Rc<[u64]> {
        if self.clones.starts.is_empty() {
            return Rc::default();
        }
        let mut starts: Vec<u64> =
            self.starts.iter().map(|start| self.about.image + u64::from(*start)).collect();
        starts.sort_unstable();
        starts.into()
    }

    /// Epoch and seed of the layouts of all places.
    fn drawn(&self, memory: &impl Memory) -> Option<Vec<(u64, u64)>> {
        let about = &self.about;
        let places = about.arena_bytes / about.place_bytes;
        let bytes = usize::try_from(places.checked_mul(about.layout_bytes)?).ok()?;
        let mut heads = vec![0; bytes];
        memory.read(about.layouts, &mut heads)?;
        let head_bytes = usize::try_from(about.layout_bytes).ok()?;
        let word = |head: &[u8], at: u64| {
            let at = usize::try_from(at).ok()?;
            Some(u64::from_le_bytes(*head.get(at..)?.first_chunk()?))
        };
        let mut layouts = Vec::new();
        for head in heads.chunks_exact(head_bytes) {
            if word(head, about.layout_arrays_at)? != 0 {
                let epoch = word(head, about.layout_epoch_at)?;
                layouts.push((epoch, word(head, about.layout_pad_seed_at)?));
            }
        }
        layouts.sort_unstable();
        Some(layouts)
    }
}
