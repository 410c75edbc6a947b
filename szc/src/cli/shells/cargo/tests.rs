//! What shells offer behind `cargo szc`: bash and zsh with stand-ins for what completes cargo, fish
//! by itself.

use std::fs;
use std::process;

use super::*;

fn measuring() -> [Command; 3] {
    let rev = clap::Arg::new("r").long("rev").help("What's compared: [A] or 'B'").num_args(1);
    let quiet = clap::Arg::new("q").long("quiet").action(clap::ArgAction::SetTrue);
    let build = clap::Arg::new("b").long("build").num_args(1);
    let all = |name| Command::new(name).args([&rev, &quiet, &build]);
    [all("compare"), all("gate"), Command::new("sweep")]
}

fn of(shell: Shell) -> String {
    script(shell, &measuring()).expect("a script")
}

/// What a program prints, which must find nothing wrong.
fn printed(program: &str, args: &[&str]) -> String {
    let output = process::Command::new(program).args(args).output().expect("it starts");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && errors.is_empty(), "{program}: {errors}");
    String::from_utf8_lossy(&output.stdout).trim().to_owned()
}

/// What bash offers, where cargo's own completion says of which words it was asked; it was there
/// before, or comes when it is asked for.
fn bash_offers(words: &[&str], was_there: bool) -> String {
    let own = "_own() { COMPREPLY=(\"own: $COMP_LINE $COMP_CWORD $2 $3\"); }";
    let there = "complete -F _own cargo";
    let load = "_completion_loader() { complete -F _own \"$1\"; return 124; }";
    let script = format!(
        "{own}\n{}\n{}\nCOMP_WORDS=({}); COMP_CWORD={} COMP_LINE=\"${{COMP_WORDS[*]}}\"\n\
         _szc_cargo; echo \"${{COMPREPLY[*]}}\"; complete -p cargo | grep -q _szc_cargo",
        if was_there { there } else { load },
        of(Shell::Bash),
        words.join(" "),
        words.len() - 1,
    );
    printed("bash", &["-c", &script])
}

#[test]
fn bash_completes_commands_and_options_behind_cargo_szc() {
    for was_there in [true, false] {
        let offered = |words: &[&str]| bash_offers(words, was_there);
        assert_eq!(offered(&["cargo", "szc", "b"]), "build bench");
        assert_eq!(offered(&["cargo", "szc", "--p"]), "--pads");
        assert_eq!(offered(&["cargo", "szc", "compare", "--re"]), "--rev");
        assert_eq!(offered(&["cargo", "+stable", "szc", "--pads", "gate", "--q"]), "--quiet");
        assert_eq!(offered(&["cargo", "szc", "compare", "--be"]), "--bench");
        assert_eq!(offered(&["cargo", "szc", "compare", "--bu"]), "");
    }
}

#[test]
fn bash_leaves_to_cargos_own_completion_what_is_cargos() {
    for was_there in [true, false] {
        let offered = |words: &[&str]| bash_offers(words, was_there);
        assert_eq!(offered(&["cargo", "bui"]), "own: cargo bui 1 bui cargo");
        let behind = offered(&["cargo", "szc", "--pads", "build", "--rel"]);
        assert_eq!(behind, "own: cargo build --rel 2 --rel build");
    }
}

#[test]
fn zsh_completes_behind_cargo_szc() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("_cargo-szc");
    fs::write(&file, of(Shell::Zsh)).expect("writable");
    // What completes cargo calls it with the words from `szc` on.
    let asked = |words: &str| {
        let script = format!(
            "_describe() {{ print -r -- ${{(P)@[-1]}}; }}\n_arguments() {{ print -rl -- $@; }}\n\
             _cargo() {{ print -r -- own: $words; }}\n\
             words=({words}) CURRENT=${{#words}}; source {}; print -r -- $CURRENT",
            file.display()
        );
        printed("zsh", &["-f", "-c", &script])
    };
    let first = asked("szc ''");
    assert!(first.contains("compare:a bench of two revisions\\: which is faster?"), "{first}");
    assert!(first.contains("--pads:") && first.ends_with('2'), "{first}");
    let options = asked("szc --pads gate --re");
    assert!(
        options.contains("*--rev=[What's compared\\: \\[A\\] or 'B']:VALUE:_default"),
        "{options}"
    );
    assert!(options.contains("\n--quiet[]\n") && options.ends_with("\n2"), "{options}");
    assert!(!options.contains("--build"), "{options}");
    assert_eq!(asked("szc --pads build --rel"), "own: cargo build --rel\n3");
}

#[test]
fn fish_completes_behind_cargo_szc() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("cargo-szc.fish");
    fs::write(&file, of(Shell::Fish)).expect("writable");
    let offered = |line: &str| {
        let script = format!("source {}; complete -C '{line}'", file.display());
        printed("fish", &["--no-config", "-c", &script])
    };
    assert!(offered("cargo szc comp").starts_with("compare\t"), "{}", offered("cargo szc comp"));
    assert!(offered("cargo szc compare --re").starts_with("--rev\tWhat's compared"));
    assert!(offered("cargo szc --pa").contains("--pads"));
}
