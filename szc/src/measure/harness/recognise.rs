//! Which harness a program is, by what is in its file or by what it writes.
#![forbid(unsafe_code)]

use std::fs;
use std::path::{Path, PathBuf};

use super::format::Format;

/// What is in the file of a program that was linked with a harness: names of its functions and of
/// its variables, which a program must have.
const MARKS: [(&[u8], Format); 5] = [
    (b"RunSpecifiedBenchmarks", Format::GoogleBenchmark),
    (b"CRITERION_HOME", Format::Criterion),
    (b"DIVAN_", Format::Divan),
    (b"NANOBENCH_", Format::Nanobench),
    (b"--benchmark-samples", Format::Catch2),
];

/// The harness of a command, if its program is one that is known.
#[must_use]
pub fn of_program(argv: &[String]) -> Option<Format> {
    let name = Path::new(argv.first()?).file_name()?.to_str()?;
    let runs_pytest = argv.iter().take(3).any(|arg| {
        Path::new(arg).file_name().is_some_and(|name| name == "pytest" || name == "py.test")
    });
    if runs_pytest {
        return Some(Format::Pytest);
    }
    if name == "hyperfine" {
        return Some(Format::Hyperfine);
    }
    let bytes = fs::read(path_of(&argv[0])?).ok()?;
    MARKS.iter().find(|(mark, _)| contains(&bytes, mark)).map(|(_, format)| *format)
}

/// Only what is given by a path: no harness is installed in a folder of programs.
fn path_of(program: &str) -> Option<PathBuf> {
    program.contains('/').then(|| PathBuf::from(program))
}

fn contains(bytes: &[u8], mark: &[u8]) -> bool {
    regex::bytes::Regex::new(&regex::escape(&String::from_utf8_lossy(mark)))
        .is_ok_and(|pattern| pattern.is_match(bytes))
}

/// The harness whose output this is.
pub(super) fn of_output(text: &str) -> Option<Format> {
    let start = text.trim_start();
    if start.starts_with('{') {
        let keys = [
            ("\"run_type\"", Format::GoogleBenchmark),
            ("\"machine_info\"", Format::Pytest),
            ("\"exit_codes\"", Format::Hyperfine),
            ("\"time_unit\"", Format::GoogleBenchmark),
        ];
        return keys.iter().find(|(key, _)| text.contains(key)).map(|(_, format)| *format);
    }
    if text.contains("<BenchmarkResults ") {
        return Some(Format::Catch2);
    }
    if text.lines().any(|line| line.starts_with('|') && line.contains(" err% ")) {
        return Some(Format::Nanobench);
    }
    (text.contains("├─ ") || text.contains("╰─ ")).then_some(Format::Divan)
}
