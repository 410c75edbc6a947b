# shellcheck shell=bash disable=SC2034
# itoa: integers as text; benches by criterion 0.8, beside those of the standard library.
crate=itoa
crate_version=1.0.18
bench=bench
bench_args=(--measurement-time 0.05 --warm-up-time 0.02 --sample-size 10 --nresamples 1000)
slow_rows='/itoa$'

slow_down() {
    sed -i '/^    pub fn format</a\(0..80).for_each(|i| { hint::black_box(i); });' src/lib.rs
}
