//! Where the functions of a program, or their frames, lay in a run, or which draws its blocks had:
//! what the runtime says in `SZC_MAP`, with one layout for the whole run.
//!
//! All else has the same seeds in all runs, so that code alone, frames alone or blocks alone
//! differ.
#![forbid(unsafe_code)]

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::fs;
use std::path::Path;

use super::child::Outcome;
use super::instrument::Instrument;
use super::program::ONE_LAYOUT;
use crate::samples::luck::{DRAWS, Part};

/// In front of a function's name in a figure, which is the address of its body within a page.
pub const PLACE_PREFIX: &str = "place:";

/// The same for the pad of its frame, in bytes.
pub const PAD_PREFIX: &str = "pad:";

/// The same for where its frame begins at its first call, within a page.
pub const FRAME_PREFIX: &str = "frame:";

/// The same in front of the sizes of blocks: their draw.
pub const BLOCKS_PREFIX: &str = "blocks:";

/// The same in front of the sizes of blocks and, behind a colon, a function that asked for some:
/// how often. Without a function: by all.
pub const ASKED_PREFIX: &str = "asked:";

const PAGE_BYTES: u64 = 4096;

/// The variable that gives all runs the same blocks.
pub const SAME_BLOCKS: (&str, &str) = ("SZC_HEAP_SEED", "1");

/// The instrument.
pub struct Places {
    /// What differs between runs.
    pub part: Part,
    /// Functions that have to be there.
    pub needed: Vec<String>,
    /// What the draws of blocks are made from.
    pub seed: u64,
}

impl Places {
    /// Variables under which a run has one layout, and the same as all others but for the part.
    fn variables(&self) -> Vec<(String, String)> {
        let [code, stack] = [("SZC_CODE_SEED", "1"), ("SZC_STACK_SEED", "1")];
        let alike = match self.part {
            Part::Code => [stack, SAME_BLOCKS],
            Part::Stack => [code, SAME_BLOCKS],
            Part::Heap => [code, stack],
        };
        let owned = |(name, value): (&str, &str)| (name.to_owned(), value.to_owned());
        let mut variables: Vec<_> = [ONE_LAYOUT].into_iter().chain(alike).map(owned).collect();
        if self.part == Part::Heap {
            variables.push(draws(self.seed, None));
        }
        variables
    }

    /// Why a run says nothing.
    const fn missing(&self) -> &'static str {
        match self.part {
            Part::Code => {
                "it has left no places of functions (SZC_MAP)\n  needed: a program that szc \
                 built, with -Rcode, and that ends by exit or by returning from main\n  \
                 next: build it with szc, and look at what szc inspect says of it"
            }
            Part::Stack => {
                "it has left no pads of frames (SZC_MAP)\n  needed: a program that szc built, \
                 with -Rstack, whose pads come with copies of functions, and that ends by exit or \
                 by returning from main\n  next: build it with szc, and look for padded \
                 functions in what szc inspect --functions says of it"
            }
            Part::Heap => {
                "it has left no draws of blocks (SZC_MAP)\n  needed: a program that szc built, \
                 with -Rheap, that allocates, and that ends by exit or by returning from main\n  \
                 next: build it with szc, and look at what its log says (SZC_LOG)"
            }
        }
    }
}

impl Instrument for Places {
    fn another(&self) -> Box<dyn Instrument> {
        Box::new(Self { part: self.part, needed: self.needed.clone(), seed: self.seed })
    }

    fn environment(&self, scratch: &Path) -> Vec<(String, OsString)> {
        let owned = |(name, value): (String, String)| (name, OsString::from(value));
        let map = ("SZC_MAP".to_owned(), scratch.join("map.%p").into_os_string());
        self.variables().into_iter().map(owned).chain([map]).collect()
    }

    fn figures(
        &mut self,
        scratch: &Path,
        outcome: &Outcome,
    ) -> Result<BTreeMap<String, f64>, String> {
        let map = fs::read_to_string(scratch.join(format!("map.{}", outcome.pid)));
        let places = places(&map.unwrap_or_default(), self.part);
        if places.is_empty() {
            return Err(self.missing().to_owned());
        }
        let is_there = |name: &&String| places.contains_key(&format!("{PLACE_PREFIX}{name}"));
        if let Some(name) = self.needed.iter().find(|name| !is_there(name)) {
            return Err(format!(
                "{name}, of --pairs, has no place in it\n  needed: functions that move and run, \
                 one of a name, as szc inspect --functions prints them\n  next: szc profile \
                 record -- CMD, and szc profile, tell which ones take the time"
            ));
        }
        Ok(places)
    }
}

/// The variable by which blocks of each size have one of [`DRAWS`], and those of the same size as a
/// block of so many bytes this one. As long for each draw.
#[must_use]
pub fn draws(seed: u64, held: Option<(&str, u32)>) -> (String, String) {
    let held = held.map_or_else(String::new, |(bytes, draw)| format!(",{bytes}:{draw:02}"));
    ("SZC_BLOCKS".to_owned(), format!("{seed}/{DRAWS}{held}"))
}

/// The sizes, the draw and the number of blocks of a line about them.
fn drawn(line: &str) -> Option<(String, f64, f64)> {
    let line = line.strip_prefix("# blocks ")?.trim_end_matches(']');
    let words: Vec<&str> = line.split(' ').collect();
    let &[least, most, "[draw", draw, "of", _, "allocations", count] = &words[..] else {
        return None;
    };
    let sizes = if most == "-" { format!("{least}-") } else { format!("{least}-{most}") };
    Some((sizes, draw.parse().ok()?, count.parse().ok()?))
}

/// The figures of a map about blocks: their draws, how many there were, and who asked.
fn blocks(map: &str) -> BTreeMap<String, f64> {
    let mut found = BTreeMap::new();
    let mut sizes_from = BTreeMap::new();
    for line in map.lines() {
        let Some((sizes, draw, count)) = drawn(line) else { continue };
        found.insert(format!("{BLOCKS_PREFIX}{sizes}"), draw);
        found.insert(format!("{ASKED_PREFIX}{sizes}:"), count);
        let least = sizes.split('-').next().unwrap_or_default().to_owned();
        sizes_from.insert(least, sizes);
    }
    let copies = Copies::of(map);
    for line in map.lines() {
        let Some((least, address, count)) = asked(line) else { continue };
        // In front of what it returns to is the call.
        let Some(name) = copies.function_at(address - 1) else { continue };
        let Some(sizes) = sizes_from.get(least) else { continue };
        *found.entry(format!("{ASKED_PREFIX}{sizes}:{name}")).or_default() += count;
    }
    found
}

/// The least size, a return address and a count of a line about who asked.
fn asked(line: &str) -> Option<(&str, u64, f64)> {
    let words: Vec<&str> = line.strip_prefix("# asked ")?.split(' ').collect();
    let &[least, address, count] = &words[..] else { return None };
    Some((least, u64::from_str_radix(address, 16).ok()?, count.parse().ok()?))
}

/// The copies of a map, by where they lie.
pub(super) struct Copies<'a>(Vec<Copy<'a>>);

impl<'a> Copies<'a> {
    pub(super) fn of(map: &'a str) -> Self {
        let mut copies: Vec<Copy<'a>> = map.lines().filter_map(Copy::read).collect();
        copies.sort_by_key(|copy| copy.address);
        Self(copies)
    }

    /// The function whose copy has this address in it.
    pub(super) fn function_at(&self, address: u64) -> Option<&'a str> {
        let behind = self.0.partition_point(|copy| copy.address <= address);
        let copy = self.0[..behind].last()?;
        (address < copy.address + copy.bytes).then_some(copy.name)
    }
}

/// The figures of a map. Functions of one name cannot be told apart, and are left out.
fn places(map: &str, part: Part) -> BTreeMap<String, f64> {
    if part == Part::Heap {
        return blocks(map);
    }
    let mut found = BTreeMap::new();
    let mut twice = BTreeSet::new();
    for copy in map.lines().filter_map(Copy::read) {
        for (prefix, bytes) in copy.figures(part).into_iter().flatten() {
            let name = format!("{prefix}{}", copy.name);
            // Below a page's bytes.
            if found.insert(name.clone(), (bytes % PAGE_BYTES) as f64).is_some() {
                twice.insert(name);
            }
        }
    }
    found.retain(|name, _| !twice.contains(name));
    found
}

/// A line of a map: a copy of a function.
struct Copy<'a> {
    /// The function.
    name: &'a str,
    /// Where its body begins.
    address: u64,
    /// How long it is.
    bytes: u64,
    pad: Option<u64>,
    stack: Option<u64>,
}

impl<'a> Copy<'a> {
    fn read(line: &'a str) -> Option<Self> {
        let mut words = line.splitn(3, ' ');
        let (address, bytes, rest) = (words.next()?, words.next()?, words.next()?);
        let number = |text: &str| u64::from_str_radix(text.trim_start_matches("0x"), 16).ok();
        let (address, bytes) = (number(address)?, number(bytes)?);
        let (name, of_copy) = rest.rsplit_once(" [epoch ").unwrap_or((rest, ""));
        let word = |what| {
            of_copy.trim_end_matches(']').split(", ").find_map(|one| str::strip_prefix(one, what))
        };
        let pad = word("pad ").and_then(|text| text.parse().ok());
        let stack = word("stack ").and_then(|text| u64::from_str_radix(text, 16).ok());
        Some(Self { name, address, bytes, pad, stack })
    }

    fn figures(&self, part: Part) -> [Option<(&'static str, u64)>; 2] {
        let frame = |pad| self.stack.map(|stack| (FRAME_PREFIX, stack.wrapping_sub(pad)));
        match part {
            Part::Code => [Some((PLACE_PREFIX, self.address)), None],
            Part::Heap => [None, None],
            Part::Stack => [self.pad.map(|pad| (PAD_PREFIX, pad)), self.pad.and_then(frame)],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn figures<const N: usize>(expected: [(&str, f64); N]) -> BTreeMap<String, f64> {
        expected.map(|(name, place)| (name.to_owned(), place)).into()
    }

    #[test]
    fn a_map_says_where_functions_lie_in_pages() {
        let map = "7f0000001040 20 main [epoch 0, pad 16, stack 7ffc00001000]\n\
                   7f0000002010 8 a b [epoch 0]\n\
                   7f0000003010 8 twice [epoch 0]\n7f0000003050 8 twice [epoch 0]\nnonsense\n";
        let expected = figures([("place:a b", 16.0), ("place:main", 64.0)]);
        assert_eq!(places(map, Part::Code), expected);
    }

    #[test]
    fn a_map_says_which_draws_blocks_had() {
        let map = "7f0000001040 20 main [epoch 0]\n\
                   # blocks 33 64 [draw 3 of 16, allocations 1000]\n\
                   # blocks 16385 - [draw 15 of 16, allocations 1]\n# blocks\n\
                   # asked 33 7f0000001060 700\n# asked 33 7f0000001050 50\n\
                   # asked 33 7f0000001061 9\n# asked 65 7f0000001060 7\n";
        let expected = figures([
            ("asked:16385-:", 1.0),
            ("asked:33-64:", 1000.0),
            ("asked:33-64:main", 750.0),
            ("blocks:16385-", 15.0),
            ("blocks:33-64", 3.0),
        ]);
        assert_eq!(places(map, Part::Heap), expected);
        assert_eq!(places(map, Part::Code), figures([("place:main", 64.0)]));
        assert_eq!(draws(7, Some(("33", 3))).1, "7/16,33:03");
    }

    #[test]
    fn a_map_says_where_frames_with_pads_begin() {
        let map = "7f0000001040 20 main [epoch 0, pad 48, stack 7ffc00001010]\n\
                   7f0000002010 8 leaf [epoch 0, stack 7ffc00001ff0]\n\
                   7f0000003010 8 a, pad 5 [epoch 0, pad 4080]\n";
        let expected =
            figures([("frame:main", 4064.0), ("pad:a, pad 5", 4080.0), ("pad:main", 48.0)]);
        assert_eq!(places(map, Part::Stack), expected);
        assert!(places("7f0000002010 8 leaf [epoch 0]\n", Part::Stack).is_empty());
    }
}
