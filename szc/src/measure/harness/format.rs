//! What harnesses write, and what makes them write it.
#![forbid(unsafe_code)]

use std::path::Path;

use super::row::Row;
use super::{json, tables, xml};

/// What a harness writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// <https://github.com/google/benchmark>, JSON.
    GoogleBenchmark,
    /// <https://docs.rs/criterion>, its folder of JSON files.
    Criterion,
    /// <https://docs.rs/divan>, the tree that it prints.
    Divan,
    /// <https://nanobench.ankerl.com>, the tables that it prints.
    Nanobench,
    /// <https://github.com/catchorg/Catch2>, XML.
    Catch2,
    /// <https://pytest-benchmark.readthedocs.io>, JSON.
    Pytest,
    /// <https://github.com/sharkdp/hyperfine>, JSON.
    Hyperfine,
}

/// Formats by name.
pub const FORMATS: [(&str, Format); 7] = [
    ("google-benchmark", Format::GoogleBenchmark),
    ("criterion", Format::Criterion),
    ("divan", Format::Divan),
    ("nanobench", Format::Nanobench),
    ("catch2", Format::Catch2),
    ("pytest", Format::Pytest),
    ("hyperfine", Format::Hyperfine),
];

impl Format {
    /// The name in options.
    #[must_use]
    pub fn name(self) -> &'static str {
        FORMATS.iter().find(|(_, format)| *format == self).map_or("", |(name, _)| name)
    }

    /// What makes the harness write into `scratch`, or measure at all.
    #[must_use]
    pub fn arguments(self, scratch: &Path) -> Vec<String> {
        let file = scratch.join(FILE).display().to_string();
        match self {
            Self::GoogleBenchmark => {
                vec![format!("--benchmark_out={file}"), "--benchmark_out_format=json".to_owned()]
            }
            // Without it they only test that their benchmarks run.
            Self::Criterion | Self::Divan => vec!["--bench".to_owned()],
            Self::Nanobench => Vec::new(),
            Self::Catch2 => ["-r", "xml", "-o", &file].map(str::to_owned).to_vec(),
            Self::Pytest => vec![format!("--benchmark-json={file}")],
            Self::Hyperfine => ["--export-json", &file].map(str::to_owned).to_vec(),
        }
    }

    /// The rows of what a harness wrote.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn rows(self, text: &str) -> Result<Vec<Row>, String> {
        match self {
            Self::GoogleBenchmark => json::google_benchmark(text),
            Self::Criterion => Err("criterion writes a folder and no file".to_owned()),
            Self::Divan => Ok(tables::divan(text)),
            Self::Nanobench => Ok(tables::nanobench(text)),
            Self::Catch2 => Ok(xml::catch2(text)),
            Self::Pytest => json::pytest(text),
            Self::Hyperfine => json::hyperfine(text),
        }
    }
}

/// Where harnesses are told to write, in the folder of a run.
pub(super) const FILE: &str = "harness";
