//! What `cargo szc` offers, as data: for its page, its manual page and completions.
#![forbid(unsafe_code)]

/// The name by which cargo finds the subcommand.
pub(super) const PROGRAM: &str = "cargo-szc";

/// What can stand behind `cargo szc`, and what it does.
pub const COMMANDS: [(&str, &str); 6] = [
    ("build", "cargo build, but programs and libraries move"),
    ("run", "cargo run, likewise"),
    ("test", "cargo test, likewise"),
    ("bench", "cargo bench, likewise"),
    ("compare", "a bench of two revisions: which is faster?"),
    ("gate", "the same, as the exit code that a CI wants"),
];

/// Options in front of the command.
pub const OPTIONS: [(&str, &str); 1] =
    [("--pads", "the linker generates code, so that frames get pads")];

/// Options of compare and gate, beside those that szc's own have.
pub const BENCH_OPTIONS: [(&str, &str); 5] = [
    ("--rev REV", "what is compared; once: against HEAD"),
    ("--bench NAME", "the bench, where the package has several"),
    ("-p, --package NAME", "the package, where several have one"),
    ("--harness FORMAT", "as szc compare's; default auto"),
    ("--features, --profile, …", "what decides about a build, as cargo bench's"),
];

/// Commands that measure benches, which are szc's own.
pub const MEASURING: [&str; 2] = ["compare", "gate"];

/// Options of those that stand for something else here, or that are found out.
pub const NOT_FOR_BENCHES: [&str; 5] = ["build", "tree", "flags", "param", "resume"];

/// Options that only benches have, in full: name, value, meaning.
pub const BENCH_CHOICES: [(&str, Option<&str>, &str); 11] = [
    ("bench", Some("NAME"), "the bench, where the package has several"),
    ("package", Some("NAME"), "the package, where several have one"),
    ("features", Some("FEATURES"), "features to build with"),
    ("all-features", None, "build with all features"),
    ("no-default-features", None, "build without the default ones"),
    ("profile", Some("NAME"), "profile to build by"),
    ("target", Some("TRIPLE"), "what to build for"),
    ("config", Some("KEY=VALUE"), "a setting of cargo"),
    ("locked", None, "keep Cargo.lock as it is"),
    ("offline", None, "build without a network"),
    ("frozen", None, "both of these"),
];

/// The lists of the page, with their titles.
pub const SECTIONS: [(&str, &[(&str, &str)]); 3] = [
    ("Commands", &COMMANDS),
    ("Options, in front of the command", &OPTIONS),
    ("Options of compare and gate", &BENCH_OPTIONS),
];

/// How it goes about it.
pub const ABOUT: &str = "\
Other commands of cargo's work, too (cargo szc nextest run). Arguments are
cargo's, and so is the exit code; what is built lies in szc, or szc-pads, of the
target folder. No file of the workspace is touched, and its flags are kept.";

const TITLE: &str = "\
cargo szc [--pads] COMMAND ARGS…: builds a workspace of Rust by szc, and measures its benches
";

const EXAMPLES: &str = "
Examples:
  cargo szc build --release
  cargo szc compare --rev main --bench parser
  cargo szc compare --rev v1.0 --rev v1.1 --budget 10m --bench parser -- --measurement-time 0.5
  cargo szc gate --rev origin/main --max-slowdown 2% --bench parser --json gate.json
All options of compare and gate: szc help compare, szc help gate.
";

/// Width of the first column.
const WIDTH: usize = 26;

/// The page of `cargo szc --help`.
pub(super) fn page() -> String {
    let mut page = format!("{TITLE}\n{ABOUT}\n");
    for (title, entries) in SECTIONS {
        page.push_str(&format!("\n{title}\n"));
        for (usage, what) in entries {
            page.push_str(&format!("  {usage:WIDTH$}{what}\n"));
        }
    }
    page + EXAMPLES
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_has_every_command_and_option() {
        for (usage, what) in COMMANDS.iter().chain(&OPTIONS).chain(&BENCH_OPTIONS) {
            assert!(page().contains(&format!("\n  {usage:WIDTH$}{what}\n")), "{usage}");
        }
    }
}
