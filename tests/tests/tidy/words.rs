//! Words that have another in this field, and what belongs in no file: each is refused where it
//! had its meaning.

use crate::tree::{Breach, Rule, Tree, Violation};

/// A word, what is said instead, and the folders in which it had that meaning.
struct Word {
    old: &'static [&'static str],
    instead: &'static str,
    rooms: &'static [&'static str],
    /// Files and folders in which the word means something else, or is still there.
    except: &'static [&'static str],
}

const fn word(
    old: &'static [&'static str],
    instead: &'static str,
    rooms: &'static [&'static str],
    except: &'static [&'static str],
) -> Word {
    Word { old, instead, rooms, except }
}

const EVERYWHERE: &[&str] = &[""];
const RUNTIME: &[&str] = &["runtime/"];
const CODE: &[&str] = &["runtime/", "pass/", "szc/table/", "szc/src/drive/"];

const WORDS: &[Word] = &[
    word(&["entrance", "entrances"], "patchable entry", EVERYWHERE, &[]),
    word(&["detour", "detours"], "undo trampoline", EVERYWHERE, &["runtime/", "szc/table/"]),
    word(&["sent on"], "forwarded", CODE, &[]),
    word(&["pristine"], "original text", CODE, &[]),
    word(&["spare body", "spare bodies", "spares"], "unpadded clone", CODE, &[]),
    word(&["settle", "settled", "settles"], "freeze", RUNTIME, &[]),
    word(&["gate", "gates"], "safepoint", RUNTIME, &[]),
    word(&["candidate", "candidates"], "white", &["runtime/src/reclaim"], &[]),
    word(&["come to rest", "comes to rest"], "quiescent", RUNTIME, &[]),
    word(&["guess", "guesses"], "PC cache", RUNTIME, &["runtime/code/"]),
    word(&["withdraw", "withdrawn"], "unregister", RUNTIME, &["runtime/stack/"]),
    word(&["adopted", "adoption"], "attached, attaching", EVERYWHERE, LOG_KEY),
    word(&["presence"], "task suspension", RUNTIME, &[]),
    word(&["parked"], "decommitted", RUNTIME, &["runtime/heap/"]),
    word(&["linker words", "linker word"], "linker arguments", EVERYWHERE, &[]),
    word(&["most_", "fewest_"], "max_, min_", EVERYWHERE, NOT_YET_MAX),
];

/// The log of a run has the word as a key, which its readers know.
const LOG_KEY: &[&str] =
    &["runtime/src/report.rs", "tests/src/records.rs", "szc/docs/src/reference.md"];

const NOT_YET_MAX: &[&str] = &["runtime/", "szc/", "spec-scripts/open-suite/"];

pub const STANDARD_WORDS: Rule = Rule {
    name: "things are called as the field calls them",
    find: find_old,
    not_yet: &[],
    breaches: &[
        Breach {
            added: &[("szc/src/lib.rs", "const DETOUR_BYTES: usize = 5;\n")],
            reported: "detour is called undo trampoline",
        },
        Breach {
            added: &[("runtime/src/start.rs", "// Once they come to rest.\n")],
            reported: "come to rest is called quiescent",
        },
        Breach {
            added: &[("tests/src/lib.rs", "const MOST_RUNS: usize = 5;\n")],
            reported: "most_ is called max_, min_",
        },
    ],
};

/// What tells of how the project was made, or of one machine.
const FORBIDDEN: &[&str] = &[
    concat!("HOUSE", ".md"),
    concat!("STYLE", ".md"),
    concat!("/work", "/"),
    concat!("szc-", "old"),
    concat!("TO", "DO"),
    concat!("FIX", "ME"),
    concat!("Co-Authored", "-By"),
    concat!("#[ig", "nore"),
    concat!("unimplemen", "ted!"),
    concat!("to", "do!("),
];

pub const FORBIDDEN_WORDS: Rule = Rule {
    name: "files speak of the project alone, and leave nothing undone",
    find: find_forbidden,
    not_yet: &[],
    breaches: &[
        Breach {
            added: &[("tests/src/lib.rs", concat!("// as HOUSE", ".md says\n"))],
            reported: concat!("HOUSE", ".md"),
        },
        Breach {
            added: &[("tests/run.sh", concat!("cd /work", "/main\n"))],
            reported: concat!("/work", "/"),
        },
        Breach {
            added: &[("tests/tests/heap.rs", concat!("#[ig", "nore]\n"))],
            reported: concat!("#[ig", "nore"),
        },
    ],
};

fn find_old(tree: &Tree) -> Vec<Violation> {
    let mut violations = Vec::new();
    for (path, text) in tree.all() {
        let read = |word: &&Word| {
            word.rooms.iter().any(|room| path.starts_with(room))
                && !word.except.iter().any(|except| path.starts_with(except))
        };
        let words: Vec<&Word> = WORDS.iter().filter(read).collect();
        if path.ends_with(".lock") || path.ends_with("tidy/words.rs") || words.is_empty() {
            continue;
        }
        for (index, line) in text.lines().enumerate() {
            let plain = plain_words(line);
            for word in &words {
                for old in word.old.iter().filter(|old| plain.contains(&format!(" {old} "))) {
                    let what = format!("{old} is called {}", word.instead);
                    violations.push(Violation::new(path, index + 1, what));
                }
            }
        }
    }
    violations
}

/// The words of a line, also those in names, in small letters with blanks around them. In a
/// constant's name the first word keeps its underline, for words that are common elsewhere.
fn plain_words(line: &str) -> String {
    let mut plain = String::from(" ");
    let mut before = ' ';
    for c in line.chars() {
        if c.is_uppercase() && before.is_lowercase() || !c.is_alphanumeric() {
            plain.push(' ');
        }
        if c.is_alphanumeric() {
            plain.extend(c.to_lowercase());
        }
        before = c;
    }
    plain.push(' ');
    for start in ["MOST_", "FEWEST_"] {
        if line.split(|c: char| !(c.is_alphanumeric() || c == '_')).any(|n| n.starts_with(start)) {
            plain.push_str(&format!("{} ", start.to_lowercase()));
        }
    }
    plain
}

/// Whether a line has a term; a path has it at its beginning.
fn has(line: &str, term: &str) -> bool {
    let belongs = |before: &str| !before.ends_with(|c: char| c.is_alphanumeric() || c == '}');
    line.match_indices(term).any(|(at, _)| !term.starts_with('/') || belongs(&line[..at]))
}

fn find_forbidden(tree: &Tree) -> Vec<Violation> {
    let mut violations = Vec::new();
    for (path, text) in tree.all() {
        for (index, line) in text.lines().enumerate() {
            for term in FORBIDDEN.iter().filter(|term| has(line, term)) {
                violations.push(Violation::new(path, index + 1, format!("{term} in a file")));
            }
        }
    }
    violations
}
