//! What completion scripts know beyond the commands: options of the compilers, szc's own and
//! clang's, for all names of the compiler.
#![forbid(unsafe_code)]

pub(super) mod cargo;

use std::fmt::Write as _;

use clap_complete::Shell;

use super::page::OPTIONS;

/// Makes the script that knows the commands know the compilers, where the shell is one for which
/// this is written; others keep what they have.
pub(super) fn with_compilers(shell: Shell, script: String, commands: &[&str]) -> String {
    match shell {
        Shell::Bash => script + &bash(commands),
        Shell::Zsh => zsh(&script, commands),
        Shell::Fish => script + &fish(),
        _ => script,
    }
}

fn names() -> String {
    OPTIONS.map(|(name, _)| name).join(" ")
}

/// The later `complete` of a name replaces the earlier. clang completes its options itself.
fn bash(commands: &[&str]) -> String {
    format!(
        r#"
_szc_compilers() {{
    local cur=${{COMP_WORDS[COMP_CWORD]}} first=${{COMP_WORDS[1]}}
    if [[ ${{1##*/}} == szc ]] && ((COMP_CWORD > 1)) && [[ " {commands} " == *" $first "* ]]; then
        _szc "$@"
    elif [[ $cur == -* ]]; then
        local clang
        clang=$("$1" --autocomplete="$cur" 2>/dev/null | cut -f1)
        COMPREPLY=($(compgen -W "{options} $clang" -- "$cur"))
    elif [[ ${{1##*/}} == szc ]] && ((COMP_CWORD == 1)); then
        COMPREPLY=($(compgen -W "{commands}" -- "$cur") $(compgen -f -- "$cur"))
    else
        COMPREPLY=()
    fi
}}
complete -F _szc_compilers -o bashdefault -o default szc szc++ szc-fortran
"#,
        commands = commands.join(" "),
        options = names(),
    )
}

fn zsh(script: &str, commands: &[&str]) -> String {
    let mut options = String::new();
    for (name, what) in OPTIONS {
        let _ = write!(options, " '{name}:{what}'");
    }
    let own = format!(
        r#"_szc_compilers() {{
    if (( CURRENT > 2 )) && [[ " {commands} " == *" ${{words[2]}} "* ]]; then
        _szc "$@"
    elif [[ $PREFIX == -* ]]; then
        local -a options
        options=({options} )
        _describe -o 'option of szc' options
    elif (( CURRENT == 2 )); then
        _alternative 'commands:command:_szc_commands' 'files:file:_files'
    else
        _files
    fi
}}

"#,
        commands = commands.join(" "),
    );
    let (before, end) = script.rsplit_once("if [ \"$funcstack[1]\"").unwrap_or((script, ""));
    let end = end
        .replace("    _szc \"$@\"", "    _szc_compilers \"$@\"")
        .replace("compdef _szc szc", "compdef _szc_compilers szc szc++ szc-fortran");
    let before = before.replacen("#compdef szc", "#compdef szc szc++ szc-fortran", 1);
    format!("{before}{own}if [ \"$funcstack[1]\"{end}")
}

fn fish() -> String {
    let mut script = String::new();
    for program in ["szc", "szc++", "szc-fortran"] {
        for (name, what) in OPTIONS {
            let option = name.trim_start_matches('-');
            let _ = writeln!(script, "complete -c {program} -o '{option}' -d '{what}'");
        }
    }
    script
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    /// What bash offers for a line of these words, of which the last is completed.
    fn offered(words: &[&str]) -> String {
        let script = format!(
            "_szc() {{ COMPREPLY=(of-the-command); }}\n{}\nCOMP_WORDS=({}); COMP_CWORD={}\n\
             _szc_compilers {}; echo ${{COMPREPLY[*]}}",
            bash(&["compare", "run"]),
            words.join(" "),
            words.len() - 1,
            words[0],
        );
        let output = Command::new("bash").args(["-c", &script]).output().expect("bash starts");
        assert!(output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8_lossy(&output.stdout).trim().to_owned()
    }

    #[test]
    fn bash_completes_own_options_behind_every_name_of_the_compiler() {
        assert_eq!(offered(&["szc++", "-Rh"]), "-Rheap");
        assert_eq!(offered(&["szc", "-O2", "-Rco"]), "-Rcode");
        assert_eq!(offered(&["szc-fortran", "-Rn"]), "-Rnone");
    }

    #[test]
    fn bash_completes_commands_first_and_their_options_behind_them() {
        assert_eq!(offered(&["szc", "comp"]), "compare");
        assert_eq!(offered(&["szc", "compare", "--j"]), "of-the-command");
        assert_eq!(offered(&["szc++", "comp"]), "");
    }

    #[test]
    fn zsh_gets_a_function_in_front_of_the_one_of_the_commands() {
        let generated = "#compdef szc\n_szc() {}\nif [ \"$funcstack[1]\" = \"_szc\" ]; then\n    \
                         _szc \"$@\"\nelse\n    compdef _szc szc\nfi\n";
        let script = zsh(generated, &["compare"]);
        assert!(script.starts_with("#compdef szc szc++ szc-fortran\n"), "{script}");
        let end = "then\n    _szc_compilers \"$@\"\nelse\n    compdef _szc_compilers szc szc++ \
                   szc-fortran\nfi\n";
        assert!(script.ends_with(end), "{script}");
    }
}
