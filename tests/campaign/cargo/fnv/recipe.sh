# shellcheck shell=bash disable=SC2034
# fnv: a hash function. It has no benches; this one is by divan.
crate=fnv
crate_version=1.0.7
bench="hash"
bench_args=(--sample-count 20 --min-time 0.05)
slow_rows='^fnv$'

prepare() {
    printf '[dev-dependencies]\ndivan = "0.1.21"\n\n[[bench]]\nname = "hash"\nharness = false\n' \
        >>Cargo.toml
    mkdir benches
    cat >benches/hash.rs <<'END'
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
END
}

slow_down() {
    sed -i '/^    fn write(/a\        (0..400).for_each(|i| { std::hint::black_box(i); });' lib.rs
}
