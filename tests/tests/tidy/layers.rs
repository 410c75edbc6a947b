//! The direction of layers: what each crate, and within szc each module, may use.

use crate::imports::imports;
use crate::tree::{Breach, Rule, Tree, Violation};

/// Each crate of the project, and those of the project's crates that it may use.
const CRATES: &[(&str, &[&str])] = &[
    ("szc-abi", &[]),
    ("szc-sys", &["szc-abi"]),
    ("szc-layout", &["szc-abi"]),
    ("szc-paths", &[]),
    ("szc-heap", &["szc-abi", "szc-sys", "szc-layout"]),
    ("szc-stack", &["szc-abi", "szc-sys", "szc-layout"]),
    ("szc-code", &["szc-sys", "szc-layout", "szc-abi"]),
    (
        "szc-runtime",
        &["szc-abi", "szc-sys", "szc-layout", "szc-paths", "szc-heap", "szc-stack", "szc-code"],
    ),
    ("szc-library", &["szc-abi"]),
    ("szc-rt", &[]),
    ("szc-preload", &["szc-abi"]),
    ("szc-pass", &["szc-abi"]),
    ("szc-sampler", &["szc-abi", "szc-layout"]),
    ("szc-stats", &[]),
    ("szc-table", &["szc-abi"]),
    ("szc", &["szc-abi", "szc-paths", "szc-sampler", "szc-stats", "szc-table"]),
    ("szc-suite", &["szc", "szc-stats"]),
    ("szc-tests", &["szc-abi", "szc", "szc-stats", "szc-table"]),
    // An example of the book, in a workspace of its own.
    ("parser", &[]),
];

/// Each module of szc, and those of the others that it may use.
const MODULES: &[(&str, &[&str])] = &[
    ("error", &[]),
    ("examples", &[]),
    ("inspect", &["error"]),
    ("drive", &["error"]),
    ("samples", &[]),
    ("measure", &["samples"]),
    ("results", &["samples", "measure"]),
    ("report", &["results", "samples", "measure"]),
    ("lab", &["report", "results", "samples", "measure"]),
    ("profile", &["lab", "measure"]),
    ("paths", &["profile", "lab", "measure", "report", "samples"]),
    ("cargo", &["lab", "error", "version"]),
    ("causal", &["lab", "report", "drive", "measure", "profile"]),
    ("perturb", &["lab", "report", "measure", "samples"]),
    ("version", &[]),
    ("doctor", &["lab", "drive", "samples", "measure", "version"]),
    (
        "cli",
        &[
            "cargo", "causal", "doctor", "lab", "paths", "perturb", "profile", "drive", "inspect",
            "report", "results", "samples", "measure", "error", "version",
        ],
    ),
];

pub const CRATE_LAYERS: Rule = Rule {
    name: "crates use only those below them",
    find: find_in_manifests,
    not_yet: &[],
    breaches: &[
        Breach {
            added: &[("runtime/abi/Cargo.toml", "\n[dependencies]\nszc.workspace = true\n")],
            reported: "szc-abi may not use szc",
        },
        Breach {
            added: &[("runtime/lower/Cargo.toml", "[package]\nname = \"szc-lower\"\n")],
            reported: "szc-lower has no place",
        },
    ],
};

pub const MODULE_LAYERS: Rule = Rule {
    name: "modules of szc use only those below them",
    find: find_in_modules,
    not_yet: &[],
    breaches: &[Breach {
        added: &[(
            "szc/src/measure/mod.rs",
            "\nuse crate::lab::session;\nfn f() { session::g() }\n",
        )],
        reported: "measure may not use lab",
    }],
};

fn find_in_manifests(tree: &Tree) -> Vec<Violation> {
    let mut violations = Vec::new();
    for (path, text) in tree.ending(&["/Cargo.toml"]) {
        let Some(name) = text.lines().find_map(|line| line.strip_prefix("name = ")) else {
            continue;
        };
        let name = name.trim_matches('"');
        let Some((_, allowed)) = CRATES.iter().find(|(known, _)| *known == name) else {
            violations.push(Violation::new(
                path,
                0,
                format!("{name} has no place among the layers"),
            ));
            continue;
        };
        for (line, used) in dependencies(text) {
            if CRATES.iter().any(|(known, _)| *known == used) && !allowed.contains(&used) {
                violations.push(Violation::new(path, line, format!("{name} may not use {used}")));
            }
        }
    }
    violations
}

/// What a manifest lists as needed by the crate itself or by its build script, and where.
fn dependencies(text: &str) -> Vec<(usize, &str)> {
    let mut section = "";
    let mut found = Vec::new();
    for (index, line) in text.lines().enumerate() {
        if let Some(name) = line.trim().strip_prefix('[') {
            section = name.trim_end_matches(']');
        } else if section.ends_with("dependencies") && section != "dev-dependencies" {
            let end = line.find(|c: char| !(c.is_alphanumeric() || c == '-' || c == '_'));
            found.push((index + 1, &line[..end.unwrap_or(line.len())]));
        }
    }
    found
}

fn find_in_modules(tree: &Tree) -> Vec<Violation> {
    let module = |path: &str| -> Option<String> {
        let inside = path.strip_prefix("szc/src/")?;
        Some(inside.split(['/', '.']).next()?.to_owned())
    };
    let mut violations = Vec::new();
    for import in imports(tree) {
        let (Some(from), Some(to)) = (module(&import.from), module(&import.to)) else { continue };
        if ["lib", "main"].contains(&from.as_str()) {
            continue;
        }
        let Some((_, allowed)) = MODULES.iter().find(|(name, _)| *name == from) else {
            violations.push(Violation::new(&import.from, 0, format!("{from} has no place")));
            continue;
        };
        if to != from && !allowed.contains(&to.as_str()) {
            let what = format!("{from} may not use {to} ({})", import.path);
            violations.push(Violation::new(&import.from, import.line, what));
        }
    }
    violations
}
