//! A bench by divan for a crate that has none.

// The crate is of the edition of 2015.
extern crate divan;
extern crate fnv;

use std::hash::Hasher;

use divan::black_box;

fn main() {
    divan::main();
}

fn hashed(mut hasher: impl Hasher) -> u64 {
    hasher.write(black_box(b"of twenty characters"));
    hasher.finish()
}

#[divan::bench]
fn fnv() -> u64 {
    hashed(fnv::FnvHasher::default())
}

#[divan::bench]
fn siphash() -> u64 {
    hashed(std::collections::hash_map::DefaultHasher::new())
}
