//! One process measures hundreds of layouts of `parse`: each iteration begins with a new one.
//!
//! `cargo szc bench`; by plain cargo it is an ordinary bench.

use std::hint::black_box;

use criterion::{BatchSize, Criterion, criterion_group, criterion_main};

fn parse(criterion: &mut Criterion) {
    let input: String = (0..300).map(|number| format!("{},", number * number)).collect();
    szc_rt::pause();
    let before = szc_rt::layout();
    criterion.bench_function("parse", |bencher| {
        bencher.iter_batched(
            szc_rt::relayout,
            |_| (0..100).map(|_| parser::parse(black_box(&input))).sum::<u32>(),
            BatchSize::PerIteration,
        );
    });
    println!("parse: {} layouts", szc_rt::layout() - before);
    szc_rt::resume();
}

criterion_group!(benches, parse);
criterion_main!(benches);
