//! The addresses of the shuffled heap are random where the paper says so (4.2.2); the full table is
//! printed by `cargo run -p szc-tests --release --bin heap-randomness`.

use std::sync::OnceLock;
use szc_tests::addresses::{Pattern, Programs, Sample, Source, addresses_for, assess};
use szc_tests::nist::Test;
use szc_tests::nist::verdict::Assessment;

/// Enough for every test, Rank included.
const BITS: usize = 40_000;
const SEQUENCES: usize = 50;

/// What a source's sequences say in the paper's six tests.
fn six(source: &Source) -> Vec<Assessment> {
    six_of_size(source, 64)
}

fn six_of_size(source: &Source, size_bytes: usize) -> Vec<Assessment> {
    static PROGRAMS: OnceLock<Programs> = OnceLock::new();
    let sample = Sample { addresses: addresses_for(SEQUENCES, BITS), size_bytes, seed: 20_130_316 };
    let bits = PROGRAMS
        .get_or_init(Programs::build)
        .bits(source, &sample)
        .unwrap_or_else(|error| panic!("{error}"));
    let mut results = assess(&bits, BITS);
    results.retain(|result| Test::OF_THE_PAPER.iter().any(|test| test.name() == result.test));
    assert_eq!(results.len(), 6);
    results
}

/// Tests in which fewer sequences pass than a perfect source's would once in 10,000 times.
fn failed(results: &[Assessment]) -> Vec<&'static str> {
    results.iter().filter(|result| result.chance() < 1e-4).map(|result| result.test).collect()
}

fn shuffled(n: u32, pattern: Pattern) -> Source {
    Source::Heap { base: "segregated".to_owned(), n, pattern }
}

fn heap(n: u32, pattern: Pattern) -> Vec<Assessment> {
    six(&shuffled(n, pattern))
}

#[test]
fn lrand48_passes_the_papers_six_tests() {
    let results = six(&Source::Lrand48);
    assert_eq!(failed(&results), [""; 0], "{results:?}");
}

#[test]
fn addresses_of_the_plain_heap_are_not_random() {
    let failed = failed(&six(&Source::Glibc(Pattern::Fresh)));
    assert!(failed.contains(&"BlockFrequency") && failed.contains(&"FFT"), "{failed:?}");
}

#[test]
fn fresh_blocks_of_the_shuffled_heap_pass_the_papers_six_tests() {
    let results = heap(256, Pattern::Fresh);
    assert_eq!(failed(&results), [""; 0], "{results:?}");
}

#[test]
fn reused_blocks_of_the_shuffled_heap_pass_the_papers_six_tests() {
    let results = heap(256, Pattern::Churn { live: 10_000 });
    assert_eq!(failed(&results), [""; 0], "{results:?}");
}

#[test]
fn larger_blocks_pass_them_too() {
    for (size_bytes, pattern) in
        [(160, Pattern::Fresh), (1000, Pattern::Fresh), (1000, Pattern::Churn { live: 10_000 })]
    {
        let results = six_of_size(&shuffled(256, pattern), size_bytes);
        assert_eq!(failed(&results), [""; 0], "{size_bytes} bytes: {results:?}");
    }
}

#[test]
fn without_a_choice_the_shuffled_heap_fails() {
    let results = heap(1, Pattern::Fresh);
    assert_ne!(failed(&results), [""; 0], "{results:?}");
}
