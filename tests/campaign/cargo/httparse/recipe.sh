# shellcheck shell=bash disable=SC2034
# httparse: requests and responses of HTTP; benches by criterion 0.3, and a build script that asks
# what the processor can do.
crate=httparse
crate_version=1.10.1
bench=parse
bench_args=(--measurement-time 1 --warm-up-time 1 --sample-size 10 --nresamples 1000
    '^(version|method)/')
slow_rows='^version/'

slow_down() {
    sed -i '/^pub fn parse_version/a\    (0..40).for_each(|i| { core::hint::black_box(i); });' \
        src/lib.rs
}
