//! Rooms of what a compiler cannot check: `unsafe`, and symbols that other images see.

use crate::rust::{Placed, tokens};
use crate::tree::{Breach, Rule, Tree, Violation};

/// Files and folders that have to be unsafe, each with what it needs it for.
const UNSAFE: &[&str] = &[
    // LLVM's C interface.
    "pass/src/llvm",
    // System calls, memory that is not Rust's, other programs' symbols.
    "runtime/src",
    "runtime/library/src",
    // Weak references.
    "runtime/control/src",
    "runtime/preload/src",
    "runtime/sys/src",
    "runtime/heap/src",
    "runtime/stack/src",
    "runtime/code/src",
    // Memory that is shared with programs.
    "szc/src/causal/engine/memory.rs",
    // Between fork and exec, and in handlers of signals.
    "szc/src/drive/interrupted.rs",
    "szc/sampler/src/descriptor.rs",
    "szc/sampler/src/spawn.rs",
    "szc/src/measure/child",
    "szc/src/measure/child.rs",
    "szc/src/measure/stop.rs",
    "tests/src/run.rs",
    "tests/src/tools.rs",
];

/// The processor's own code, which exports are made of.
const ASSEMBLY: &[&str] = &[
    "runtime/sys/src/arch",
    "runtime/src/exports",
    "runtime/library/src",
    "runtime/preload/src/thread.rs",
    "runtime/control/src",
];

/// Files and folders that define symbols which programs and libraries see.
const EXPORTS: &[&str] =
    &["runtime/src/exports", "runtime/library/src", "runtime/preload/src/exports", "pass/src/llvm"];

pub const UNSAFE_ROOMS: Rule = Rule {
    name: "unsafe code is in the rooms for it",
    find: find_unsafe,
    not_yet: &[],
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

pub const EXPORT_ROOMS: Rule = Rule {
    name: "symbols are exported in one room of the runtime",
    find: find_exports,
    not_yet: &[],
    breaches: &[
        Breach {
            added: &[("runtime/src/fork.rs", "\n#[unsafe(no_mangle)] extern \"C\" fn f() {}\n")],
            reported: "no_mangle outside",
        },
        Breach {
            added: &[("runtime/heap/src/lib.rs", "\ncore::arch::global_asm!(\"nop\");\n")],
            reported: "global_asm outside",
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

fn find_exports(tree: &Tree) -> Vec<Violation> {
    let names = |tokens: &[Placed], at: usize| {
        ["no_mangle", "export_name"].iter().any(|name| tokens[at].is(name))
    };
    let mut found = outside(tree, EXPORTS, names);
    found.extend(outside(tree, ASSEMBLY, |tokens, at| tokens[at].is("global_asm")));
    found
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
