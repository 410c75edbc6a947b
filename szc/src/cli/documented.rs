//! What the book says of commands against the commands: options and exit codes.

use std::collections::BTreeSet;

use clap::CommandFactory as _;

use super::*;

const REFERENCE: &str = include_str!("../../docs/src/reference.md");
const OPTIONS: &str = include_str!("../../docs/src/options.md");
const PATHS: &str = include_str!("../../docs/src/paths.md");
const CARGO: &str = include_str!("../../docs/src/cargo.md");

/// Those of a signal are one: 128 and its number, of which help names Ctrl-C's.
const BY_SIGNAL: u8 = 128;

fn numbers(text: &str) -> impl Iterator<Item = u8> {
    text.split(|c: char| !c.is_ascii_digit()).filter_map(|digits| digits.parse().ok())
}

/// The exit codes that the help of a command names; none if it names none.
fn in_help(command: &mut Command) -> BTreeSet<u8> {
    let help = command.render_long_help().to_string();
    let codes = help.split_once("Exit status: ").map_or("", |(_, codes)| codes);
    // In front of each meaning stands its code.
    let parts = codes.split([';', '.']).filter_map(|part| part.split_whitespace().next());
    parts.flat_map(numbers).map(|code| if code > BY_SIGNAL { BY_SIGNAL } else { code }).collect()
}

/// The exit codes that the table of the reference has for a command.
fn in_reference(name: &str) -> BTreeSet<u8> {
    let (_, section) = REFERENCE.split_once("## Exit codes").expect("a section");
    let rows = section.lines().skip(1).take_while(|line| !line.starts_with("## "));
    let (mut about, mut before) = (Vec::new(), Vec::new());
    let mut codes = BTreeSet::new();
    for row in rows.filter(|row| row.starts_with("| ")) {
        let cells: Vec<&str> = row.split(" | ").collect();
        let commands = cells[0].trim_start_matches("| ");
        let named =
            commands.split('`').skip(1).step_by(2).map(|text| text.trim_start_matches("szc "));
        if !commands.trim_matches([' ', '|']).is_empty() {
            about = named.collect();
            if commands.starts_with("these") {
                about.append(&mut before);
            }
            before.extend(about.iter().copied());
        }
        if about.contains(&name) {
            codes.extend(numbers(cells[1]));
        }
    }
    codes
}

#[test]
fn the_reference_has_the_exit_codes_that_the_help_of_each_command_names() {
    let mut seen = 0;
    for entry in SUBCOMMANDS {
        let help = in_help(&mut (entry.describe)());
        let missing: Vec<_> = help.difference(&in_reference(entry.name)).copied().collect();
        assert!(missing.is_empty(), "szc {}: {missing:?} of {help:?}", entry.name);
        seen += usize::from(help.len() > 1);
    }
    assert!(seen > 14, "{seen} commands name exit codes");
}

/// Names of options in the rows of a page's tables, with two dashes.
fn options_in_rows(page: &str) -> BTreeSet<String> {
    let rows = page.lines().filter_map(|line| line.strip_prefix("| `"));
    let first = rows.map(|row| row.split(" | ").next().unwrap_or(row));
    let words = first.flat_map(|cell| cell.split(['`', ' ', ',']));
    let names = words.filter_map(|word| word.strip_prefix("--"));
    names.filter(|name| !name.is_empty()).map(str::to_owned).collect()
}

fn options_of(command: &Command) -> BTreeSet<String> {
    let names = command.get_arguments().filter_map(clap::Arg::get_long_and_visible_aliases);
    names.flatten().map(str::to_owned).collect()
}

#[test]
fn the_page_of_subpaths_has_the_options_of_its_command() {
    assert_eq!(options_in_rows(PATHS), options_of(&paths::Options::command()));
}

#[test]
fn the_reference_has_the_options_of_causal_profiles() {
    let (_, section) = REFERENCE.split_once("## Causal profiles").expect("a section");
    let section = section.split("\n## ").next().unwrap_or(section);
    let command = causal::Options::command();
    let of_actions = command.get_subcommands().flat_map(options_of);
    assert_eq!(options_in_rows(section), of_actions.chain(options_of(&command)).collect());
}

/// Sections of the page of options: the heading, and what is below it.
fn sections() -> Vec<(&'static str, &'static str)> {
    let parts = OPTIONS.split("\n## ").skip(1);
    parts.filter_map(|part| part.split_once('\n')).collect()
}

/// The commands that a section says it is of: in its heading, or in its first line.
fn commands_of(heading: &'static str, text: &'static str) -> Vec<&'static str> {
    if let Some(name) = heading.strip_prefix("szc ") {
        return vec![name];
    }
    let line = text.lines().find(|line| line.starts_with("Of `")).expect(heading);
    line.split('`').skip(1).step_by(2).collect()
}

/// Commands whose options are elsewhere, or that have none.
const ELSEWHERE: [&str; 9] = [
    "causal",
    "profile",
    "paths",
    "inspect",
    "link-order",
    "completions",
    "manual",
    "version",
    "help",
];

#[test]
fn the_page_of_options_has_those_of_every_command_and_no_others() {
    let documented = |name: &str| -> BTreeSet<String> {
        let of_it =
            sections().into_iter().filter(|(at, text)| commands_of(at, text).contains(&name));
        of_it.flat_map(|(_, text)| options_in_rows(text)).collect()
    };
    let mut compared = 0;
    for entry in SUBCOMMANDS.iter().filter(|entry| !ELSEWHERE.contains(&entry.name)) {
        let command = (entry.describe)();
        let mut options = options_of(&command);
        let mut rows = documented(entry.name);
        if entry.name == "baseline" {
            options.extend(command.get_subcommands().flat_map(options_of));
            rows.extend(documented("baseline save").into_iter().chain(documented("run")));
        }
        assert_eq!(rows, options, "szc {}", entry.name);
        compared += 1;
    }
    assert!(compared > 12, "{compared}");
}

/// What a table says of a default is what clap fills in.
#[test]
fn the_page_of_options_has_the_defaults_that_are_filled_in() {
    let mut seen = 0;
    for (at, text) in sections() {
        for name in commands_of(at, text) {
            let Some(entry) = SUBCOMMANDS.iter().find(|entry| entry.name == name) else { continue };
            for arg in (entry.describe)().get_arguments() {
                let [default] = arg.get_default_values() else { continue };
                let long = arg.get_long().unwrap_or_default();
                let starts = |row: &&str| row.starts_with(&format!("| `--{long}"));
                let Some(row) = text.lines().find(starts) else { continue };
                let default = default.to_string_lossy();
                assert!(arg.get_action().takes_values() || default == "false", "{row}");
                // A number stands apart from its unit.
                let is_said = row.replace(' ', "").contains(&*default) && row.contains("default");
                assert!(default == "false" || is_said, "szc {name}: {default}: {row}");
                seen += 1;
            }
        }
    }
    assert!(seen > 20, "{seen}");
}

/// Every option of a table is one of some command, so that none stays that is gone.
#[test]
fn options_in_the_reference_are_options_of_commands() {
    let mut known = BTreeSet::new();
    for entry in SUBCOMMANDS {
        let command = (entry.describe)();
        known.extend(options_of(&command));
        known.extend(command.get_subcommands().flat_map(options_of));
    }
    let gone: Vec<_> = options_in_rows(REFERENCE).difference(&known).cloned().collect();
    assert!(gone.is_empty(), "{gone:?}");
}

#[test]
fn the_page_of_cargo_szc_names_its_commands_and_options() {
    for (usage, _) in cargo::COMMANDS.iter().chain(&cargo::OPTIONS) {
        assert!(CARGO.contains(&format!("cargo szc {usage}")), "{usage}");
    }
    for option in ["--rev", "--bench", "--features", "--profile"] {
        assert!(CARGO.contains(option) && cargo_page_has(option), "{option}");
    }
}

fn cargo_page_has(option: &str) -> bool {
    cargo::SECTIONS.iter().flat_map(|(_, list)| *list).any(|(usage, _)| usage.contains(option))
}
