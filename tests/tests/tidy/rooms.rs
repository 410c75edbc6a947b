//! Rooms of what a compiler cannot check: `unsafe`.

use crate::rust::{Placed, tokens};
use crate::tree::{Breach, Rule, Tree, Violation};

/// Files and folders that have to be unsafe, each with what it needs it for.
const UNSAFE: &[&str] = &[
    // LLVM's C interface.
    "pass/src/llvm",
    // System calls, memory that is not Rust's, other programs' symbols.
    "runtime/src",
    "runtime/library/src",
    "runtime/sys/src",
    "runtime/heap/src",
    "runtime/stack/src",
    "runtime/code/src",
    // Between fork and exec, and in handlers of signals.
    "szc/src/drive/interrupted.rs",
    "szc/src/measure/child",
    "szc/src/measure/child.rs",
    "tests/src/run.rs",
    "tests/src/tools.rs",
];

pub const UNSAFE_ROOMS: Rule = Rule {
    name: "unsafe code is in the rooms for it",
    find: find_unsafe,
    breaches: &[
        Breach {
            added: &[("szc/src/lib.rs", "fn f(p: *const u8) -> u8 { unsafe { *p } }\n")],
            reported: "unsafe outside",
        },
        Breach {
            added: &[("runtime/layout/src/added.rs", "unsafe impl Sync for Slot {}\n")],
            reported: "runtime/layout/src/added.rs:1: unsafe outside",
        },
    ],
};

fn find_unsafe(tree: &Tree) -> Vec<Violation> {
    // The name of the lint that forbids it is another word.
    outside(tree, UNSAFE, |tokens, at| {
        let attribute = at >= 2 && tokens[at - 1].marks('[') && tokens[at - 2].marks('#');
        tokens[at].is("unsafe") && !attribute
    })
}

/// Tokens outside of rooms; what tests do to look at the runtime counts as well.
fn outside(
    tree: &Tree,
    rooms: &[&str],
    found: impl Fn(&[Placed], usize) -> bool,
) -> Vec<Violation> {
    let mut violations = Vec::new();
    for (path, text) in tree.ending(&[".rs"]) {
        let is_room = |room: &&str| {
            path.strip_prefix(*room).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        if rooms.iter().any(is_room) {
            continue;
        }
        let tokens = tokens(text);
        for at in (0..tokens.len()).filter(|&at| found(&tokens, at)) {
            let name = tokens[at].name().unwrap_or_default();
            violations.push(Violation::new(
                path,
                tokens[at].line,
                format!("{name} outside its room"),
            ));
        }
    }
    violations
}
