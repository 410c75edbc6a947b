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

use std::fmt::Write as _;
use tree::{Rule, Tree};

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
        for breach in rule.breaches {
            let mut broken = tree.clone();
            for (path, text) in breach.added {
                broken.append(path, text);
            }
            let found = rule.violations(&broken);
            assert!(
                found.iter().any(|v| v.contains(breach.reported) && !already.contains(v)),
                "{}: {:?} is not reported, only {found:#?}",
                rule.name,
                breach.reported
            );
        }
    }
}
