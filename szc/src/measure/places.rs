//! Where the functions of a program lay in a run: what the runtime says in `SZC_MAP`, with one
//! layout of code for the whole run.
//!
//! The frames and blocks of all runs have the same seeds, so that code alone differs between them.
#![forbid(unsafe_code)]

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::fs;
use std::path::Path;

use super::child::Outcome;
use super::instrument::Instrument;

/// In front of a function's name in a figure, which is the address of its body within a page.
pub const PLACE_PREFIX: &str = "place:";

const PAGE_BYTES: u64 = 4096;

/// Variables under which a run has one layout of code, and the frames and blocks of all others.
const VARIABLES: [(&str, &str); 3] =
    [("SZC_INTERVAL_MS", "0"), ("SZC_STACK_SEED", "1"), ("SZC_HEAP_SEED", "1")];

/// The instrument.
pub struct Places;

impl Instrument for Places {
    fn another(&self) -> Box<dyn Instrument> {
        Box::new(Self)
    }

    fn environment(&self, scratch: &Path) -> Vec<(String, OsString)> {
        let owned = |(name, value): (&str, &str)| (name.to_owned(), OsString::from(value));
        let map = ("SZC_MAP".to_owned(), scratch.join("map.%p").into_os_string());
        VARIABLES.map(owned).into_iter().chain([map]).collect()
    }

    fn figures(
        &mut self,
        scratch: &Path,
        outcome: &Outcome,
    ) -> Result<BTreeMap<String, f64>, String> {
        let map = fs::read_to_string(scratch.join(format!("map.{}", outcome.pid)));
        let places = places(&map.unwrap_or_default());
        if places.is_empty() {
            return Err(
                "it has left no places of functions (SZC_MAP)\n  needed: a program that szc \
                        built, with -Rcode, and that ends by exit or by returning from main\n  \
                        next: build it with szc, and look at what szc inspect says of it"
                    .to_owned(),
            );
        }
        Ok(places)
    }
}

/// The figures of a map. Functions of one name cannot be told apart, and are left out.
fn places(map: &str) -> BTreeMap<String, f64> {
    let mut found = BTreeMap::new();
    let mut twice = BTreeSet::new();
    for line in map.lines() {
        let mut words = line.splitn(3, ' ');
        let (Some(address), Some(_), Some(rest)) = (words.next(), words.next(), words.next())
        else {
            continue;
        };
        let Ok(address) = u64::from_str_radix(address.trim_start_matches("0x"), 16) else {
            continue;
        };
        let name = rest.rsplit_once(" [epoch").map_or(rest, |(name, _)| name);
        // Below a page's bytes.
        let place = (address % PAGE_BYTES) as f64;
        if found.insert(format!("{PLACE_PREFIX}{name}"), place).is_some() {
            twice.insert(format!("{PLACE_PREFIX}{name}"));
        }
    }
    found.retain(|name, _| !twice.contains(name));
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_map_says_where_functions_lie_in_pages() {
        let map = "7f0000001040 20 main [epoch 0]\n7f0000002010 8 a b [epoch 0]\n\
                   7f0000003010 8 twice [epoch 0]\n7f0000003050 8 twice [epoch 0]\nnonsense\n";
        let found = places(map);
        let expected = [("place:a b", 16.0), ("place:main", 64.0)];
        assert_eq!(found, expected.map(|(name, place)| (name.to_owned(), place)).into());
    }
}
