# shellcheck shell=bash disable=SC2034
# crossbeam-channel, Rust: channels between many threads, without locks. Objects of rustc have no stack pads.

crate=crossbeam-channel
crate_version=0.5.15
randomized='"code":true,"stack":false,"heap":true'

suite_build() { cargo_test --no-run; }

suite_run() { cargo_test; }

suite_results() { cargo_results "$1"; }
