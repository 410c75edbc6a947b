# shellcheck shell=bash
# A crate with a bench that prints what divan prints, in a repository whose versions take twenty
# times as long, each.
mkdir src benches
cat >Cargo.toml <<'END'
[package]
name = "parse"
version = "1.0.0"
edition = "2024"
[workspace]
[[bench]]
name = "parser"
harness = false
END
printf 'target\nbuilds\n*.json\n*.log\n' >.gitignore
printf 'fn main() { assert_eq!(std::env::args().count(), 2) }\n' >src/main.rs
version() {
    cat >benches/parser.rs <<END
use std::{hint::black_box, time::Instant};
fn time() -> f64 {
    let start = Instant::now();
    (0..2_000 * $1).for_each(|i| _ = black_box(i));
    start.elapsed().as_secs_f64() * 1e6
}
fn main() {
    // As divan asks the variables DIVAN_….
    assert!(std::env::var_os("DIVAN_SILENT").is_none());
    let us = (0..20).map(|_| time()).fold(f64::INFINITY, f64::min);
    println!("parser     fastest  │ slowest  │ median  │ mean  │ samples  │ iters");
    println!("╰─ parse   {us:.3} µs  │ {us:.3} µs  │ {us:.3} µs  │ {us:.3} µs  │ 1  │ 1");
}
END
    git add --all
    git -c user.name=szc -c user.email=szc@example.org commit --quiet --message "$1"
}
git init --quiet --initial-branch work .
version 1
git tag v1.0
git branch main
version 20
git tag v1.1
