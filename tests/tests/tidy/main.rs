//! The rules of the house: what a reader may rely on in every file of the project, and what a
//! compiler does not check. Each rule is a function over the project's files; for each there is a
//! breach on purpose that it must find.

mod circles;
mod documents;
mod files;
mod imports;
mod layers;
mod modules;
mod rooms;
mod rust;
mod tree;
mod words;

use std::collections::BTreeSet;
use std::fmt::Write as _;
use tree::{Breach, Rule, Tree};

const RULES: &[Rule] = &[
    circles::RULE,
    layers::CRATE_LAYERS,
    layers::MODULE_LAYERS,
    rooms::UNSAFE_ROOMS,
    rooms::EXPORT_ROOMS,
    files::LENGTH,
    files::WIDTH,
    files::HEADER,
    files::BELONGING,
    documents::SIZE,
    documents::LINKS,
    documents::BLOCKS,
    documents::NOT_RUN,
    documents::CONTENTS,
    words::STANDARD_WORDS,
    words::FORBIDDEN_WORDS,
];

#[test]
fn the_project_keeps_every_rule() {
    let tree = Tree::of_the_project();
    let mut report = String::new();
    for rule in RULES {
        let violations = rule.violations(&tree);
        if !violations.is_empty() {
            let _ = writeln!(report, "\n{} ({} times not):", rule.name, violations.len());
        }
        for violation in violations {
            let _ = writeln!(report, "    {violation}");
        }
    }
    assert!(report.is_empty(), "{report}");
}

#[test]
fn every_rule_finds_what_breaks_it() {
    let tree = Tree::of_the_project();
    for rule in RULES {
        assert!(!rule.breaches.is_empty(), "nothing shows that this rule can fail: {}", rule.name);
        let already = rule.violations(&tree);
        let mut waiting: Vec<&Breach> = rule.breaches.iter().collect();
        while !waiting.is_empty() {
            // One reading of the tree for as many as are in different files.
            let mut touched: BTreeSet<&str> = BTreeSet::new();
            let (together, later): (Vec<&Breach>, _) = waiting.into_iter().partition(|breach| {
                let is_apart = breach.added.iter().all(|(path, _)| !touched.contains(path));
                touched.extend(breach.added.iter().filter(|_| is_apart).map(|(path, _)| *path));
                is_apart
            });
            waiting = later;
            let mut broken = tree.clone();
            for (path, text) in together.iter().flat_map(|breach| breach.added) {
                broken.append(path, text);
            }
            let found = rule.violations(&broken);
            for breach in together {
                assert!(
                    found.iter().any(|v| v.contains(breach.reported) && !already.contains(v)),
                    "{}: {:?} is not reported, only {found:#?}",
                    rule.name,
                    breach.reported
                );
            }
        }
    }
}
