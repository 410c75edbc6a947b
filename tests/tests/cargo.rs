//! `cargo szc`: a workspace of Rust as cargo knows it, built and measured by szc. Without a
//! network: its harness is a stand-in for divan's.

use std::process::{Command, Output};

use szc_tests::laboratory::{code, errors, text};
use szc_tests::tools::{Place, szc};

const MANIFEST: &str = "\
[package]
name = \"toy\"
version = \"1.0.0\"
edition = \"2024\"
build = \"build.rs\"

[workspace]

[[bench]]
name = \"speed\"
harness = false
";

/// It runs while cargo builds.
const BUILD_SCRIPT: &str = "fn main() { println!(\"cargo:rustc-check-cfg=cfg(kept)\"); }\n";

const MAIN: &str = "fn main() { println!(\"kept: {}\", cfg!(kept)); std::process::exit(3) }\n";

/// What divan prints of one benchmark, in the folder of the package. The least of some times.
const BENCH: &str = r#"
use std::{hint::black_box, time::Instant};
fn time() -> f64 {
    let start = Instant::now();
    (0..20_000 * TIMES).for_each(|i| _ = black_box(i));
    start.elapsed().as_secs_f64() * 1e6
}
fn main() {
    assert!(std::env::args().any(|arg| arg == "--bench"));
    assert!(std::fs::exists("Cargo.toml").unwrap());
    let us = (0..20).map(|_| time()).fold(f64::INFINITY, f64::min);
    if std::env::var_os("DIVAN_SILENT").is_none() {
        println!("speed      fastest  │ slowest  │ median  │ mean  │ samples  │ iters");
        println!("╰─ count   {us:.3} µs  │ {us:.3} µs  │ {us:.3} µs  │ {us:.3} µs  │ 1  │ 1");
    }
}
"#;

fn workspace() -> Place {
    let place = Place::with("Cargo.toml", MANIFEST);
    for folder in ["src", "benches"] {
        std::fs::create_dir(place.path.join(folder)).expect("writable");
    }
    place.write("build.rs", BUILD_SCRIPT);
    place.write("src/main.rs", MAIN);
    place.write("benches/speed.rs", "fn main() {}\n");
    place
}

fn cargo(place: &Place, args: &[&str]) -> Command {
    let folders = format!("{}:{}", szc().with_file_name("").display(), env("PATH"));
    let mut command = place.command("cargo");
    command.arg("szc").args(args).env("PATH", folders).env("SZC_LOG", place.path.join("log"));
    for name in ["RUSTFLAGS", "CARGO_ENCODED_RUSTFLAGS", "RUSTC", "CARGO_TARGET_DIR"] {
        command.env_remove(name);
    }
    command
}

fn env(name: &str) -> String {
    std::env::var(name).expect(name)
}

fn output(command: &mut Command) -> Output {
    command.output().expect("cargo starts")
}

#[test]
fn cargo_builds_by_szc_with_all_flags_kept_and_its_exit_code_is_cargos() {
    let place = workspace();
    std::fs::create_dir(place.path.join(".cargo")).expect("writable");
    place.write(".cargo/config.toml", "[build]\nrustflags = [\"--cfg\", \"kept\"]\n");
    let run = output(&mut cargo(&place, &["run", "--quiet"]));
    assert_eq!((code(&run), text(&run).as_str()), (3, "kept: true\n"), "{}", errors(&run));
    // That of the program alone: build scripts are none of szc's.
    let log = String::from_utf8(place.read("log")).expect("text");
    assert_eq!(log.matches(r#""code":true"#).count(), 1, "{log}");
    assert!(place.path.join("target/szc/debug/toy").exists());
    let wrong = output(&mut cargo(&place, &["build", "--no-such-option"]));
    assert_eq!(code(&wrong), 1, "{}", errors(&wrong));
}

#[test]
fn a_bench_of_two_revisions_is_compared_row_by_row() {
    let place = workspace();
    let git = |args: &[&str]| {
        let who = ["-c", "user.name=n", "-c", "user.email=n@example.org"];
        place.run("git", &[&who[..], args].concat());
    };
    git(&["init", "--quiet"]);
    place.write(".gitignore", "target\ncache\nlog\n");
    for times in ["1", "20"] {
        place.write("benches/speed.rs", &BENCH.replace("TIMES", times));
        git(&["add", "--all"]);
        git(&["commit", "--quiet", "--message", times]);
    }
    let args = ["compare", "--rev", "HEAD~1", "--fixed", "6", "--cache", "cache"];
    let compared = output(&mut cargo(&place, &args));
    assert_eq!(code(&compared), 0, "{}", errors(&compared));
    let text = text(&compared);
    assert!(text.contains("Of 1 rows: 1 slower"), "{text}{}", errors(&compared));
    let none = output(&mut cargo(&place, &["gate", "--rev", "HEAD~1", "--bench", "other"]));
    assert_eq!(code(&none), 2);
    assert!(errors(&none).contains("--bench speed -p toy"), "{}", errors(&none));
}
