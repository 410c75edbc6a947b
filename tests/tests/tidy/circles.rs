//! No circle of imports between files: each can be read once those are known that it imports.

use crate::imports::{Import, imports};
use crate::tree::{Breach, Rule, Tree, Violation};
use std::collections::{BTreeMap, BTreeSet};

pub const RULE: Rule = Rule {
    name: "no circle of imports between files",
    find,
    not_yet: &[],
    breaches: &[
        Breach {
            added: &[
                ("tests/src/lib.rs", "mod hen;\nmod egg;\n"),
                ("tests/src/hen.rs", "use crate::egg::Egg;\npub struct Hen(Egg);\n"),
                ("tests/src/egg.rs", "pub struct Egg;\nfn laid_by(_: &super::hen::Hen) {}\n"),
            ],
            reported: "egg.rs:2: names super::hen::Hen",
        },
        // A module and its child, by what the parent passes on.
        Breach {
            added: &[
                ("tests/src/lib.rs", "mod hen;\nmod farm;\n"),
                ("tests/src/farm.rs", "pub use crate::hen::egg::Egg;\n"),
                (
                    "tests/src/hen.rs",
                    "pub mod egg;\nuse crate::farm::Egg as E;\npub struct Hen(E);\n",
                ),
                ("tests/src/hen/egg.rs", "pub struct Egg;\nfn laid_by(_: &super::Hen) {}\n"),
            ],
            reported: "egg.rs:2: names super::Hen",
        },
    ],
};

fn find(tree: &Tree) -> Vec<Violation> {
    let imports = imports(tree);
    let mut targets: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for import in &imports {
        targets.entry(&import.from).or_default().insert(&import.to);
    }
    let reach: BTreeMap<&str, BTreeSet<&str>> =
        targets.keys().map(|file| (*file, reachable(&targets, file))).collect();
    let closes = |import: &&Import| {
        reach.get(import.to.as_str()).is_some_and(|reached| reached.contains(import.from.as_str()))
    };
    let in_circles = imports.iter().filter(closes);
    let describe = |import: &Import| {
        let circle = members(&reach, &import.from);
        let what = format!("names {} of {}, in a circle of {circle} files", import.path, import.to);
        Violation::new(&import.from, import.line, what)
    };
    in_circles.map(describe).collect()
}

/// Every file that a file needs.
fn reachable<'a>(
    targets: &BTreeMap<&'a str, BTreeSet<&'a str>>,
    start: &'a str,
) -> BTreeSet<&'a str> {
    let mut reached = BTreeSet::new();
    let mut next = vec![start];
    while let Some(file) = next.pop() {
        for target in targets.get(file).into_iter().flatten() {
            if reached.insert(*target) {
                next.push(target);
            }
        }
    }
    reached
}

/// How many files a file needs that need it as well.
fn members(reach: &BTreeMap<&str, BTreeSet<&str>>, file: &str) -> usize {
    let mutual = |other: &&&str| reach.get(**other).is_some_and(|back| back.contains(file));
    reach.get(file).map_or(0, |reached| reached.iter().filter(mutual).count())
}
