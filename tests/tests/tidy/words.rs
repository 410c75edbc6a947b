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

/// Rooms in which a patchable entry was called a head.
const COPIES: &[&str] = &["runtime/code/", "runtime/layout/"];
const COMMAND_LINES: &[&str] = &["tests/tests/", "szc/src/lab/"];

const WORDS: &[Word] = &[
    word(&["entrance", "entrances"], "patchable entry", EVERYWHERE, &[]),
    word(&["head", "heads"], "patchable entry", COPIES, &[]),
    word(&["opening", "openings"], "hot-patch point", CODE, &[]),
    word(&["detour", "detours"], "undo trampoline", EVERYWHERE, &[]),
    word(&["sent on", "sends on"], "forwarded", CODE, &[]),
    word(&["lead on", "leads on", "led on"], "retargeted, forwarded", CODE, &[]),
    word(&["rw view", "rx view", "two views"], "RW alias, RX alias", CODE, &[]),
    word(&["pristine"], "original text", CODE, &[]),
    word(&["spare body", "spare bodies", "spares"], "unpadded clone", CODE, &[]),
    word(&["settle", "settled", "settles"], "freeze", RUNTIME, &[]),
    word(&["gate", "gates"], "safepoint", RUNTIME, &[]),
    word(&["candidate", "candidates"], "white", RECLAIMING, &[]),
    word(&["come to rest", "comes to rest", "no rest"], "quiescent", RUNTIME, &[]),
    word(&["foreign"], "third-party code", &["runtime/src/"], &[]),
    word(&["guess", "guesses"], "PC cache", RUNTIME, &[]),
    word(&["is told"], "exported", COPIES, &["runtime/code/src/table.rs"]),
    word(&["rules bytes", "common part"], "FDE, CIE", CODE, &[]),
    word(&["introduce", "introduces", "introduced"], "register", RUNTIME, &[]),
    word(&["withdraw", "withdrawn"], "unregister", RUNTIME, &[]),
    word(&["adopts", "adopted", "adoption"], "attached, attaching", EVERYWHERE, NOT_ATTACHED),
    word(&["closing"], "detaching", RUNTIME, &[]),
    word(&["presence", "owed"], "task suspension", RUNTIME, &[]),
    word(&["parked"], "decommitted", RUNTIME, &[]),
    word(&["linker words", "linker word"], "linker arguments", EVERYWHERE, &[]),
    word(&["let words", "for words"], "args", COMMAND_LINES, &[]),
    word(&["most_", "fewest_"], "max_, min_", EVERYWHERE, &[]),
];

const RECLAIMING: &[&str] = &["runtime/src/reclaim/", "runtime/layout/"];

/// The log of a run has the word as a key, which its readers know.
const NOT_ATTACHED: &[&str] =
    &["runtime/src/report.rs", "tests/src/records.rs", "szc/docs/src/reference.md"];

/// A line with a word, and what must be said of it.
macro_rules! breach {
    ($path:literal, $line:literal, $reported:literal) => {
        Breach { added: &[($path, concat!($line, "\n"))], reported: $reported }
    };
}

pub const STANDARD_WORDS: Rule = Rule {
    name: "things are called as the field calls them",
    find: find_old,
    not_yet: &[],
    breaches: &[
        breach!("README.md", "Each entrance jumps.", "entrance is called patchable entry"),
        breach!("runtime/code/src/lib.rs", "fn heads() {}", "heads is called patchable entry"),
        breach!("szc/table/src/lib.rs", "// Its opening.", "opening is called hot-patch point"),
        breach!(
            "szc/src/lib.rs",
            "const DETOUR_BYTES: u8 = 5;",
            "detour is called undo trampoline"
        ),
        breach!("pass/src/lib.rs", "// Calls are sent on.", "sent on is called forwarded"),
        breach!("runtime/src/start.rs", "fn are_led_on() {}", "led on is called retargeted"),
        breach!("runtime/code/src/alias.rs", "// By its RW view.", "rw view is called RW alias"),
        breach!(
            "runtime/code/src/arena.rs",
            "struct Pristine;",
            "pristine is called original text"
        ),
        breach!(
            "runtime/code/src/budget.rs",
            "fn spare_body() {}",
            "spare body is called unpadded"
        ),
        breach!("runtime/src/state.rs", "fn settle() {}", "settle is called freeze"),
        breach!("runtime/src/facts.rs", "// At the gate.", "gate is called safepoint"),
        breach!("runtime/layout/src/lib.rs", "fn is_candidate() {}", "candidate is called white"),
        breach!(
            "runtime/src/handlers.rs",
            "// Once they come to rest.",
            "rest is called quiescent"
        ),
        breach!("runtime/src/path.rs", "struct ForeignCode;", "foreign is called third-party"),
        breach!(
            "runtime/code/src/callers.rs",
            "fn part(guess: u32) {}",
            "guess is called PC cache"
        ),
        breach!("runtime/code/src/copy.rs", "let is_told = true;", "is told is called exported"),
        breach!("runtime/abi/src/lib.rs", "let rules_bytes = 8;", "rules bytes is called FDE"),
        breach!("runtime/src/report.rs", "fn introduce() {}", "introduce is called register"),
        breach!("runtime/src/resolver.rs", "fn withdraw() {}", "withdraw is called unregister"),
        breach!("szc/src/error.rs", "// It was adopted.", "adopted is called attached"),
        breach!("runtime/src/images.rs", "let closing = 1;", "closing is called detaching"),
        breach!(
            "runtime/src/settings.rs",
            "struct Presence;",
            "presence is called task suspension"
        ),
        breach!("runtime/src/lib.rs", "let parked = 1;", "parked is called decommitted"),
        breach!("szc/src/main.rs", "// The linker words.", "linker words is called linker"),
        breach!("tests/tests/heap.rs", "let words = [1];", "let words is called args"),
        breach!("tests/src/lib.rs", "const MOST_RUNS: u8 = 5;", "most_ is called max_, min_"),
    ],
};

#[test]
fn every_word_has_a_breach() {
    for word in WORDS {
        let is_of_it = |breach: &Breach| {
            let (old, instead) = breach.reported.split_once(" is called ").expect("what is said");
            word.old.iter().any(|o| o.ends_with(old)) && word.instead.starts_with(instead)
        };
        assert!(STANDARD_WORDS.breaches.iter().any(is_of_it), "{:?}", word.old);
    }
}

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
        if path.ends_with(".lock") || path.ends_with("tidy/words.rs") {
            continue;
        }
        let words = WORDS.iter().filter(read);
        let terms: Vec<_> = words
            .flat_map(|word| word.old.iter().map(move |old| (format!(" {old} "), word)))
            .collect();
        for (index, line) in text.lines().enumerate() {
            let plain = plain_words(line);
            for (term, word) in terms.iter().filter(|(term, _)| plain.contains(term)) {
                let what = format!("{} is called {}", term.trim(), word.instead);
                violations.push(Violation::new(path, index + 1, what));
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
