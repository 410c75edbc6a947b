//! The form of files: their length, the width of their lines, and the words at their head.

use crate::imports::files;
use crate::tree::{Breach, Rule, Tree, Violation};

const MAX_LINES: usize = 400;
const MAX_COLUMNS: usize = 100;

/// What is read by people and written line by line.
const SOURCES: &[&str] =
    &[".rs", ".sh", ".sbatch", ".c", ".cpp", ".h", ".s", ".toml", ".md", ".yml", ".pl", ".ci/run"];

/// Documents and settings have a size of their own; what a suite is made of is one list.
const LENGTHY: &[&str] = &[".md", ".toml"];

pub const LENGTH: Rule = Rule {
    name: "a file of sources has 400 lines at most",
    find: find_lengthy,
    not_yet: &[],
    breaches: &[Breach {
        added: &[("tests/src/long.rs", TWENTY_TIMES_TWENTY_LINES)],
        reported: "tests/src/long.rs: 401 lines",
    }],
};

pub const WIDTH: Rule = Rule {
    name: "a line has 100 columns at most",
    find: find_wide,
    not_yet: &[],
    breaches: &[
        Breach { added: &[("tests/src/wide.rs", WIDE)], reported: "tests/src/wide.rs:3: 101" },
        Breach { added: &[("tests/wide.sh", WIDE)], reported: "tests/wide.sh:3: 101 columns" },
        Breach {
            added: &[("szc/docs/src/wide.md", WIDE)],
            reported: "szc/docs/src/wide.md:3: 101",
        },
    ],
};

pub const HEADER: Rule = Rule {
    name: "a file of sources begins with what it owns",
    find: find_headless,
    not_yet: &[],
    breaches: &[
        Breach {
            added: &[("tests/src/headless.rs", "use std::fs;\n//! Too late.\n")],
            reported: "tests/src/headless.rs:1: no //!",
        },
        Breach {
            added: &[("tests/headless.sh", "#!/bin/sh\nset -eu\n# Too late.\n")],
            reported: "tests/headless.sh:2: no comment",
        },
    ],
};

pub const BELONGING: Rule = Rule {
    name: "a file of Rust belongs to a crate",
    find: find_lost,
    not_yet: &[],
    breaches: &[
        Breach {
            added: &[("tests/tests/alone.rs", "//! Named by nobody.\n")],
            reported: "tests/tests/alone.rs: no crate",
        },
        Breach {
            added: &[("szc/stats/src/alone.rs", "//! Named by nobody.\n")],
            reported: "szc/stats/src/alone.rs: no crate",
        },
    ],
};

fn find_lost(tree: &Tree) -> Vec<Violation> {
    let known = files(tree);
    let lost = tree.ending(&[".rs"]).filter(|(path, _)| !known.contains(*path));
    lost.map(|(path, _)| Violation::new(path, 0, "no crate has it as a module")).collect()
}

fn find_lengthy(tree: &Tree) -> Vec<Violation> {
    let files = tree.ending(SOURCES).filter(|(path, _)| !LENGTHY.iter().any(|e| path.ends_with(e)));
    let lengths = files.map(|(path, text)| (path, text.lines().count()));
    let lengthy = lengths.filter(|(_, lines)| *lines > MAX_LINES);
    lengthy.map(|(path, lines)| Violation::new(path, 0, format!("{lines} lines"))).collect()
}

/// Long addresses and hashes in most of its lines; and tables with what is said of each.
const LISTS: &[&str] = &[
    "spec-scripts/open-suite/suite.toml",
    "spec-scripts/open-suite/others.toml",
    "spec-scripts/RESULTS.md",
    "spec-scripts/OTHERS.md",
];

fn find_wide(tree: &Tree) -> Vec<Violation> {
    let mut found = Vec::new();
    for (path, text) in tree.ending(SOURCES).filter(|(path, _)| !LISTS.contains(path)) {
        let document = path.ends_with(".md");
        let mut in_code = false;
        for (index, line) in text.lines().enumerate() {
            in_code ^= document && line.trim_start().starts_with("```");
            let table = line.trim_start().starts_with('|');
            let columns = line.chars().count();
            if columns > MAX_COLUMNS && !(document && (in_code || table)) && !has_address(line) {
                found.push(Violation::new(path, index + 1, format!("{columns} columns")));
            }
        }
    }
    found
}

/// Addresses and links cannot be broken.
fn has_address(line: &str) -> bool {
    line.contains("://") || line.trim_start().starts_with('[') && line.contains("]: ")
}

fn find_headless(tree: &Tree) -> Vec<Violation> {
    let rust = tree.ending(&[".rs"]).filter(|(_, text)| !text.starts_with("//! "));
    let rust = rust.map(|(path, _)| Violation::new(path, 1, "no //! header"));
    let is_headless = |text: &str| {
        let mut lines = text.lines().skip_while(|line| line.starts_with("#!"));
        !lines.next().is_some_and(|line| line.starts_with("# "))
    };
    let scripts = tree.ending(&[".sh", ".ci/run"]).filter(|(_, text)| is_headless(text));
    rust.chain(scripts.map(|(path, _)| Violation::new(path, 2, "no comment at its head"))).collect()
}

const WIDE: &str = concat!(
    "//! Header.\n\n",
    "# 3456789 123456789 123456789 123456789 123456789 123456789 123456789 123456789 123456789 ",
    "12345678901\n"
);

macro_rules! twenty {
    ($text:expr) => {
        concat!(
            $text, $text, $text, $text, $text, $text, $text, $text, $text, $text, $text, $text,
            $text, $text, $text, $text, $text, $text, $text, $text
        )
    };
}

const TWENTY_TIMES_TWENTY_LINES: &str = concat!("//! Header.\n", twenty!(twenty!("\n")));
