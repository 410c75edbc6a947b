//! szc's own page: commands by purpose, options of the compiler, variables; and where clang's are.
//!
//! What it lists is data, so that manual pages and completions say the same.
#![forbid(unsafe_code)]

use std::fmt::Write as _;

/// What a command is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Purpose {
    Measure,
    Keep,
    Show,
    SetUp,
}

impl Purpose {
    /// In the order of the page.
    pub(super) const ALL: [Self; 4] = [Self::Measure, Self::Keep, Self::Show, Self::SetUp];

    pub(super) const fn title(self) -> &'static str {
        match self {
            Self::Measure => "Measure",
            Self::Keep => "Keep samples, and join them",
            Self::Show => "Show",
            Self::SetUp => "Set up",
        }
    }
}

/// A line of the page: what to write, and what it does.
pub(super) type Entry = (&'static str, &'static str);

/// The compilers.
pub(super) const COMPILERS: [Entry; 4] = [
    ("szc [OPTIONS] FILES…", "compile and link C, as clang does"),
    ("szc++ [OPTIONS] FILES…", "the same for C++, as clang++ does"),
    ("szc-fortran [OPTIONS] FILES…", "the same for Fortran, as flang does"),
    ("cargo szc COMMAND ARGS…", "the same for Rust, as cargo does"),
];

/// Options of the compilers beside those of clang.
pub(super) const OPTIONS: [Entry; 9] = [
    ("-Rcode", "functions move while the program runs"),
    ("-Rstack", "frames get random pads"),
    ("-Rstack=per-call", "another pad at each call, also where code moves"),
    ("-Rstack=per-function", "the same by the scheme of the STABILIZER paper"),
    ("-Rheap", "blocks of the heap lie in random places"),
    ("-Rpaths", "tells of its blocks, for szc paths"),
    ("-Rall", "code, stack and heap (the default)"),
    ("-Rnone", "an ordinary build; cancels options before it"),
    ("-Rlink", "objects are linked in a random order"),
];

/// Variables that the compilers read.
pub(super) const BUILD_VARIABLES: [Entry; 5] = [
    ("SZC_BUILD", "these options without -R, between commas; wins"),
    ("SZC_LINK_ORDER", "order of objects: a seed, alphabetical, given"),
    ("SZC_CLANG", "the clang to run instead of clang-22"),
    ("SZC_HOME", "folder of szc's parts, or whose lib/szc has them"),
    ("SZC_PASS_PLAN", "- or a file: functions with pads, why others not"),
];

/// Variables that programs read which szc built.
pub(super) const RUN_VARIABLES: [Entry; 20] = [
    ("SZC_SEED", "seed of all layouts, which follow from it"),
    ("SZC_CODE_SEED", "seed of code, instead of SZC_SEED"),
    ("SZC_STACK_SEED", "seed of pads, likewise"),
    ("SZC_HEAP_SEED", "seed of the heap, likewise"),
    ("SZC_INTERVAL_MS", "time between layouts, default 500; 0: one layout"),
    ("SZC_CLOCK", "what that time is: wall (default) or cpu"),
    ("SZC_CODE", "0: no moving functions, although built for it"),
    ("SZC_PLACE", "FUNCTION:OFFSET, where it lies in cache lines"),
    ("SZC_INJECT", "FUNCTION:fibonacci:N, computed at each call"),
    ("SZC_STACK", "0: no pads"),
    ("SZC_PAD", "FUNCTION:BYTES, the pad of one frame"),
    ("SZC_BLOCKS", "SEED/DRAWS, few draws for blocks of each size"),
    ("SZC_HEAP", "0: no shuffled heap"),
    ("SZC_LOG", "file for a line of JSON: what was randomized"),
    ("SZC_MAP", "file for the places of all copies"),
    ("SZC_SYMBOLS", "names for a tool: gdb, perf, elf, none"),
    ("SZC_STACK_ROOM_KIB", "pad reserve of each stack, in KiB"),
    ("SZC_HEAP_SHUFFLE", "blocks in each shuffle array, default 256"),
    ("SZC_HEAP_BASE", "allocator below: segregated, tlsf, diehard"),
    ("SZC_CODE_BUDGET_MIB", "most memory for copies of functions"),
];

/// Where the page ends, and everything else is.
const MORE: &str = "\
More:
  szc help COMMAND             a command with all its options and examples
  szc --help=clang             the options of clang
  szc --version                clang's version, and szc's
To compile a file that is named like a command, write ./compare.
";

/// Width of the first column.
const WIDTH: usize = 29;

/// The page.
pub(super) fn page(commands: &[(Purpose, String, &'static str)]) -> String {
    let mut page = format!(
        "szc {}: clang 22 for programs that change their layout while they run, and a\n\
         laboratory that says whether one is faster as code, not by a lucky layout\n\n\
         Compile, with clang's options\n",
        crate::version::NUMBER
    );
    add(&mut page, &COMPILERS);
    for purpose in Purpose::ALL {
        let _ = writeln!(page, "\n{}", purpose.title());
        for (_, usage, what) in commands.iter().filter(|(of, ..)| *of == purpose) {
            line(&mut page, usage, what);
        }
    }
    for (title, entries) in [
        ("Options of the compilers, beside clang's", &OPTIONS[..]),
        ("Variables of the compilers", &BUILD_VARIABLES),
        ("Variables of a program that szc built", &RUN_VARIABLES),
    ] {
        let _ = writeln!(page, "\n{title}");
        add(&mut page, entries);
    }
    page + "\n" + MORE
}

fn add(page: &mut String, entries: &[Entry]) {
    for (usage, what) in entries {
        line(page, usage, what);
    }
}

/// What does not fit into the first column has the next line for what it does.
fn line(page: &mut String, usage: &str, what: &str) {
    let end = if usage.chars().count() < WIDTH { "" } else { "\n" };
    let column = if end.is_empty() { 0 } else { WIDTH + 2 };
    let _ = writeln!(page, "  {usage:WIDTH$}{end}{:column$}{what}", "");
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Names that begin so and stand between backquotes in a page of the book.
    fn documented(page: &str, start: &str) -> Vec<String> {
        let mut names: Vec<String> = page
            .lines()
            .filter(|line| line.starts_with("| `"))
            .flat_map(|line| line.split(" | ").next().unwrap_or(line).split('`'))
            .filter(|name| name.starts_with(start))
            .map(str::to_owned)
            .collect();
        names.sort();
        names
    }

    fn names(entries: &[Entry]) -> Vec<String> {
        let mut names: Vec<String> = entries.iter().map(|(name, _)| (*name).to_owned()).collect();
        names.sort();
        names
    }

    #[test]
    fn options_and_variables_of_the_page_are_those_of_the_book() {
        let compiling = include_str!("../../docs/src/compiling.md");
        let reference = include_str!("../../docs/src/reference.md");
        assert_eq!(names(&OPTIONS), documented(compiling, "-R"));
        assert_eq!(names(&BUILD_VARIABLES), documented(compiling, "SZC_"));
        let mut run = names(&RUN_VARIABLES);
        // For tests of the runtime, and for szc paths alone, so in the reference only.
        let others = ["CODE_RECLAIM", "PATHS", "PATHS_MAX_LENGTH", "PATHS_MEMORY_KIB"];
        run.extend(others.iter().chain(&["PATHS_SPACING"]).map(|name| format!("SZC_{name}")));
        run.sort();
        assert_eq!(run, documented(reference, "SZC_"));
    }

    #[test]
    fn the_second_column_begins_at_one_place_however_long_the_first_is() {
        let mut page = String::new();
        for length in [1, WIDTH - 1, WIDTH] {
            line(&mut page, &"x".repeat(length), "what");
        }
        let columns: Vec<_> = page.lines().map(|line| line.find("what")).collect();
        assert_eq!(columns, [Some(WIDTH + 2), Some(WIDTH + 2), None, Some(WIDTH + 2)]);
    }

    #[test]
    fn every_option_of_the_page_is_the_drivers_own() {
        for (option, _) in OPTIONS {
            assert!(crate::drive::is_own(option), "{option}");
        }
    }
}
