//! Counts words: what `campaign/power.sh` measures of Rust, and compiles by rustc alone. Maps,
//! strings, sorting, and a planted loop, whose rounds are the variable `ROUNDS` at that time.

use std::collections::{BTreeMap, HashMap};
use std::hint::black_box;

/// How often the planted loop runs in every 16th call.
const ROUNDS: u64 = match option_env!("ROUNDS") {
    Some(text) => match u64::from_str_radix(text, 10) {
        Ok(rounds) => rounds,
        Err(_) => panic!("ROUNDS is a number"),
    },
    None => 0,
};

/// The next of Marsaglia's xorshift generator.
fn next(state: &mut u64) -> u64 {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    *state
}

#[inline(never)]
fn word(state: &mut u64, calls: &mut u64) -> String {
    *calls += 1;
    if calls.is_multiple_of(16) {
        for round in 0..black_box(ROUNDS) {
            black_box(round);
        }
    }
    let length = 2 + next(state) % 4;
    (0..length).map(|_| char::from(b'a' + (next(state) % 12) as u8)).collect()
}

fn main() {
    let size: u64 = std::env::args().nth(1).and_then(|size| size.parse().ok()).unwrap_or(1000);
    let (mut state, mut calls) = (88_172_645_463_325_252, 0);
    let mut counts: HashMap<String, u64> = HashMap::new();
    let mut lengths: BTreeMap<(usize, String), u64> = BTreeMap::new();
    for _ in 0..size {
        let word = word(&mut state, &mut calls);
        *counts.entry(word.clone()).or_default() += 1;
        *lengths.entry((word.len(), word)).or_default() += 1;
    }
    let mut ranked: Vec<_> = counts.iter().collect();
    ranked.sort_by(|one, other| other.1.cmp(one.1).then(one.0.cmp(other.0)));
    for (word, count) in ranked.iter().take(10) {
        println!("{word} {count}");
    }
    println!("{} words, {} by length", counts.len(), lengths.len());
}
