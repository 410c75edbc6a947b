# shellcheck shell=bash disable=SC2034
# bytes, Rust: shared and counted memory, panics that tests expect, allocators of the tests' own.
# Objects of rustc have no stack pads.

crate=bytes
crate_version=1.12.1
randomized='"code":true,"stack":false,"heap":true'

suite_build() { cargo_test --no-run; }

suite_run() { cargo_test; }

suite_results() { cargo_results "$1"; }
