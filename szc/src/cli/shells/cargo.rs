//! Completions behind `cargo szc`, as scripts of their own: of `cargo` each shell has some already,
//! and these take nothing away.
//!
//! Options of `compare` and `gate` come from their commands; behind the other commands of cargo
//! stands what cargo's own completion offers there.
#![forbid(unsafe_code)]

use std::fmt::Write as _;

use clap::Command;
use clap_complete::Shell;

use crate::cargo::{BENCH_CHOICES, COMMANDS, MEASURING, NOT_FOR_BENCHES, OPTIONS};

/// What a shell needs to know of an option.
struct Choice {
    /// Without dashes.
    long: String,
    /// Stands for a value; none if it takes none.
    value: Option<String>,
    what: String,
}

/// The script for a shell, if there is one; `subcommands` has the commands that measure benches.
pub(crate) fn script(shell: Shell, subcommands: &[Command]) -> Option<String> {
    let measuring: Vec<(&str, Vec<Choice>)> = MEASURING
        .into_iter()
        .filter_map(|name| Some((name, subcommands.iter().find(|sub| sub.get_name() == name)?)))
        .map(|(name, command)| (name, choices(command)))
        .collect();
    match shell {
        Shell::Bash => Some(bash(&measuring)),
        Shell::Zsh => Some(zsh(&measuring)),
        Shell::Fish => Some(fish(&measuring)),
        _ => None,
    }
}

/// The options of a command that are for benches, too, and those that only benches have.
fn choices(command: &Command) -> Vec<Choice> {
    let own = command.get_arguments().filter_map(|arg| {
        let long = arg.get_long().filter(|long| !NOT_FOR_BENCHES.contains(long))?;
        let takes_value = arg.get_action().takes_values();
        let value = arg.get_value_names().and_then(<[_]>::first).map(ToString::to_string);
        let help = arg.get_help().map(ToString::to_string).unwrap_or_default();
        Some(Choice {
            long: long.to_owned(),
            value: takes_value.then(|| value.unwrap_or_else(|| "VALUE".to_owned())),
            what: help.lines().next().unwrap_or_default().to_owned(),
        })
    });
    let benches = BENCH_CHOICES.into_iter().map(|(long, value, what)| Choice {
        long: long.to_owned(),
        value: value.map(str::to_owned),
        what: what.to_owned(),
    });
    benches.chain(own).collect()
}

fn longs(choices: &[Choice]) -> String {
    choices.iter().map(|choice| format!("--{}", choice.long)).collect::<Vec<_>>().join(" ")
}

fn words(list: &[(&'static str, &str)]) -> String {
    list.iter().map(|(word, _)| *word).collect::<Vec<_>>().join(" ")
}

/// Stands in front of what completes `cargo`, whether that is there already or is loaded when it is
/// first asked for, and hands on to it.
fn bash(measuring: &[(&str, Vec<Choice>)]) -> String {
    let mut cases = String::new();
    for (name, choices) in measuring {
        let options = longs(choices);
        let _ = writeln!(cases, "        {name}) _szc_cargo_options \"{options}\" ;;");
    }
    format!(
        r#"# cargo's own completion, as it is now.
_szc_cargo_remember() {{
    local own
    own=$(complete -p cargo 2>/dev/null)
    if [[ $own =~ -F\ ([^ ]+) && ${{BASH_REMATCH[1]}} != _szc_cargo ]]; then
        _szc_cargo_own=${{BASH_REMATCH[1]}}
    fi
    complete -F _szc_cargo -o bashdefault -o default cargo
}}

_szc_cargo_hand_on() {{
    if [[ -z ${{_szc_cargo_own-}} ]]; then
        if declare -F _comp_load >/dev/null; then
            _comp_load -- cargo
        elif declare -F _completion_loader >/dev/null; then
            _completion_loader cargo
        fi
        _szc_cargo_remember
    fi
    if [[ -n ${{_szc_cargo_own-}} ]]; then
        "$_szc_cargo_own" cargo "${{COMP_WORDS[COMP_CWORD]}}" "${{COMP_WORDS[COMP_CWORD - 1]}}"
    fi
}}

_szc_cargo_options() {{
    local cur=${{COMP_WORDS[COMP_CWORD]}}
    [[ $cur != -* ]] || COMPREPLY=($(compgen -W "$1" -- "$cur"))
}}

_szc_cargo() {{
    local at=1
    COMPREPLY=()
    while [[ ${{COMP_WORDS[at]-}} == [+-]* ]]; do ((at++)); done
    if ((COMP_CWORD <= at)) || [[ ${{COMP_WORDS[at]}} != szc ]]; then
        _szc_cargo_hand_on
        return
    fi
    ((at++))
    if [[ ${{COMP_WORDS[at]}} == --pads ]] && ((COMP_CWORD > at)); then ((at++)); fi
    if ((COMP_CWORD == at)); then
        COMPREPLY=($(compgen -W "{options} {commands}" -- "${{COMP_WORDS[at]}}"))
        return
    fi
    case ${{COMP_WORDS[at]}} in
{cases}        *)
        COMP_WORDS=(cargo "${{COMP_WORDS[@]:at:COMP_CWORD - at + 1}}")
        COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1))
        COMP_LINE=${{COMP_WORDS[*]}} COMP_POINT=${{#COMP_LINE}}
        _szc_cargo_hand_on
        ;;
    esac
}}

_szc_cargo_remember
"#,
        options = words(&OPTIONS),
        commands = words(&COMMANDS),
    )
}

/// In single quotes, and without the signs that part the specification of an option.
fn quoted(text: &str) -> String {
    text.replace('\\', "\\\\")
        .replace('\'', "'\\''")
        .replace('[', "\\[")
        .replace(']', "\\]")
        .replace(':', "\\:")
}

/// cargo's completion calls a function of this name.
fn zsh(measuring: &[(&str, Vec<Choice>)]) -> String {
    let described = |list: &[(&str, &str)]| {
        let entry = |(word, what): &(&str, &str)| format!(" '{}:{}'", quoted(word), quoted(what));
        list.iter().map(entry).collect::<String>()
    };
    let mut cases = String::new();
    for (name, choices) in measuring {
        let _ = writeln!(cases, "    {name})\n        shift words\n        (( CURRENT-- ))");
        let _ = write!(cases, "        _arguments -S");
        for Choice { long, value, what } in choices {
            let what = quoted(what);
            let _ = match value {
                Some(value) => {
                    let value = quoted(value);
                    write!(cases, " \\\n            '*--{long}=[{what}]:{value}:_default'")
                }
                None => write!(cases, " \\\n            '--{long}[{what}]'"),
            };
        }
        cases.push_str(" \\\n            '*:argument of the bench:_default'\n        ;;\n");
    }
    format!(
        r#"#autoload

_cargo-szc() {{
    local -a choices
    if [[ ${{words[2]}} == --pads ]] && (( CURRENT > 2 )); then
        words[2]=()
        (( CURRENT-- ))
    fi
    if (( CURRENT == 2 )); then
        choices=({commands} )
        _describe -t commands 'command of cargo szc' choices
        choices=({options} )
        _describe -o 'option of cargo szc' choices
        return
    fi
    case ${{words[2]}} in
{cases}    *)
        words[1]=cargo
        _cargo
        ;;
    esac
}}

_cargo-szc "$@"
"#,
        commands = described(&COMMANDS),
        options = described(&OPTIONS),
    )
}

fn fish(measuring: &[(&str, Vec<Choice>)]) -> String {
    let quoted = |text: &str| text.replace('\\', "\\\\").replace('\'', "\\'");
    let behind = "__fish_seen_subcommand_from szc";
    let none = "not __fish_seen_subcommand_from";
    let mut script =
        "complete -c cargo -n __fish_use_subcommand -f -a szc -d 'cargo, building by szc'\n"
            .to_owned();
    let first = format!("{behind}; and {none} {}", words(&COMMANDS));
    for (name, what) in COMMANDS {
        let _ = writeln!(script, "complete -c cargo -n '{first}' -f -a {name} -d '{what}'");
    }
    for (name, what) in OPTIONS {
        let long = name.trim_start_matches('-');
        let _ = writeln!(script, "complete -c cargo -n '{first}' -l {long} -d '{what}'");
    }
    for (name, choices) in measuring {
        let here = format!("{behind}; and __fish_seen_subcommand_from {name}");
        for Choice { long, value, what } in choices {
            let value = if value.is_some() { " -r" } else { "" };
            let what = quoted(what);
            let _ = writeln!(script, "complete -c cargo -n '{here}' -l {long}{value} -d '{what}'");
        }
    }
    script
}

#[cfg(test)]
mod tests;
