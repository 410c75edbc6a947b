# shellcheck shell=bash disable=SC2034
# fnv: a hash function. It has no benches; this one is by divan.
crate=fnv
crate_version=1.0.7
bench="hash"
bench_args=(--sample-count 20 --min-time 0.05)
slow_rows='^fnv$' same_rows='^siphash$'

prepare() {
    printf '[dev-dependencies]\ndivan = "0.1.21"\n\n[[bench]]\nname = "hash"\nharness = false\n' \
        >>Cargo.toml
    mkdir benches
    cp "$RECIPES/fnv/hash.rs" benches/
}

slow_down() {
    sed -i '/^    fn write(/a\        (0..40).for_each(|i| { std::hint::black_box(i); });' lib.rs
}
