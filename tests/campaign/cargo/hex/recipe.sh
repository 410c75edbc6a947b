# shellcheck shell=bash disable=SC2034
# hex: bytes as text and back; benches by criterion 0.3, beside those of other crates.
crate=hex
crate_version=0.4.3
bench=hex
# Times are whole seconds in criterion 0.3.
bench_args=(--measurement-time 1 --warm-up-time 1 --sample-size 10 --nresamples 1000
    '^(rustc_)?hex_')
slow_rows='^hex_decode$'

# What they convert is the source of the crate, which the slowdown makes longer.
prepare() {
    cp src/lib.rs benches/data
    sed -i 's|include_bytes!("../src/lib.rs")|include_bytes!("data")|' benches/hex.rs
}

slow_down() {
    sed -i '/^pub fn decode</a\    (0..400_000).for_each(|i| { core::hint::black_box(i); });' \
        src/lib.rs
}
