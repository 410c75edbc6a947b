//! Seeds of libraries: each has streams of its own, which depend on the program's seeds, the
//! library's file name, and on how often a library of that name was loaded before, and on nothing
//! else.
#![forbid(unsafe_code)]

use crate::rng::{Purpose, Seeds, Stream};
use core::sync::atomic::{AtomicU64, Ordering};
use szc_abi::digest;

/// Names that are told apart by how often they were loaded; later ones count together.
const NAMES: usize = 256;

/// How often each name was loaded, by the digest of the name; written under `CHANGES`.
static LOADED: [(AtomicU64, AtomicU64); NAMES] =
    [const { (AtomicU64::new(0), AtomicU64::new(0)) }; NAMES];

/// The seeds of the library that is being attached, given those of the program.
pub fn of_library(seeds: Seeds, file_name: &[u8]) -> Seeds {
    let name = digest(file_name);
    let load = count(name);
    Seeds { code: of_load(seeds.code, name, load), stack: of_load(seeds.stack, name, load) }
}

fn of_load(seed: u64, name: u64, load: u64) -> u64 {
    Stream::of(Purpose::Library, seed ^ name, load).bits()
}

/// Loads of this name before.
fn count(name: u64) -> u64 {
    let is_it = |known: u64| known == name || known == 0;
    let slot = LOADED.iter().find(|(known, _)| is_it(known.load(Ordering::Relaxed)));
    let (known, loads) = slot.unwrap_or(&LOADED[NAMES - 1]);
    known.store(name, Ordering::Relaxed);
    loads.fetch_add(1, Ordering::Relaxed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_load_of_each_name_has_a_seed_of_its_own_that_can_be_had_again() {
        let five = Seeds { code: 5, stack: 5 };
        let seeds = [
            of_library(five, b"a.so").code,
            of_library(five, b"b.so").code,
            of_library(five, b"a.so").stack,
            of_load(6, digest(b"a.so"), 0),
        ];
        for (index, seed) in seeds.iter().enumerate() {
            assert!(!seeds[..index].contains(seed));
        }
        assert_eq!(seeds[0], of_load(5, digest(b"a.so"), 0));
        assert_eq!(seeds[2], of_load(5, digest(b"a.so"), 1));
    }
}
