# shellcheck shell=bash disable=SC2034
# regex-automata, Rust: its unit and integration tests, with the standard library in the programs.
# Objects of rustc have no stack pads.

crate=regex-automata
crate_version=0.4.14
randomized='"code":true,"stack":false,"heap":true'

suite_build() { cargo_test --no-run; }

suite_run() { cargo_test; }

suite_results() { cargo_results "$1"; }
