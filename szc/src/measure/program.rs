//! A program to measure: from the command string to an argument vector, and what file it is.
//!
//! A simple command is split into words and executed directly, because a shell
//! in between would be part of the measurement (start-up time, memory, another
//! environment). Anything only a shell understands goes to `/bin/sh -c`. The
//! quoting rules are those of POSIX.1-2024, Shell Command Language, section 2.2.
#![forbid(unsafe_code)]

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use anyhow::{Result, bail};
use nix::sys::resource::{Resource, getrlimit};
use object::{Object, ObjectSection};
use sha2::{Digest, Sha256};

use super::child::limit_at_exec;
use crate::samples::Executable;
use crate::samples::design::PlannedRun;
use crate::samples::setups::FILLING_VARIABLE;

/// Unquoted, these mean something to a shell (`=` and keywords are looked for apart).
const SHELL_CHARACTERS: &str = "|&;<>()$`*?[]{}#~!\n";

/// First words that only a shell can execute.
const SHELL_WORDS: &[&str] = &[
    ".", ":", "case", "cd", "command", "eval", "exec", "export", "for", "if", "set", "time",
    "trap", "ulimit", "umask", "unset", "until", "while",
];

/// Variable of random length that pads the environment of a run.
pub const PADDING_VARIABLE: &str = "SZC_PADDING";

/// One of the programs of an experiment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Program {
    /// How tables call it: A, B, C … by its place in the list, or the level of a sweep.
    pub label: String,
    /// Name given by the user.
    pub name: Option<String>,
    /// Command as the user wrote it.
    pub command: String,
    /// Words to execute.
    pub argv: Vec<String>,
    /// Whether a shell executes the command, and so is part of what is measured.
    pub via_shell: bool,
    /// Where it runs, unless in the folder that szc was called in.
    pub folder: Option<PathBuf>,
}

impl Program {
    /// Reads a command string.
    ///
    /// # Errors
    /// When the command is empty or ends inside a quotation.
    pub fn new(index: usize, name: Option<String>, command: &str) -> Result<Self> {
        let label = label(index);
        let (argv, via_shell) = match split_words(command)? {
            Some(args) => (args, false),
            None => (["/bin/sh", "-c", command].map(str::to_owned).to_vec(), true),
        };
        if argv.is_empty() {
            bail!("command {label} is empty: a command such as './program input' is needed");
        }
        Ok(Self { label, name, command: command.to_owned(), argv, via_shell, folder: None })
    }

    /// "B (new)", or "B" without a name.
    #[must_use]
    pub fn title(&self) -> String {
        match &self.name {
            Some(name) => format!("{} ({name})", self.label),
            None => self.label.clone(),
        }
    }

    /// Bytes by which its words, the pointers to them and its file's name move the stack.
    #[must_use]
    pub fn start_bytes(&self) -> usize {
        let words = self.argv.iter().map(|word| word.len() + 1 + size_of::<usize>());
        let name = match self.argv.first() {
            Some(program) if program.contains('/') => program.len(),
            _ => self.executable_path().map_or(0, |path| path.as_os_str().len()),
        };
        words.sum::<usize>() + name + 1
    }

    /// A shell command that repeats a run.
    #[must_use]
    pub fn reproduction(&self, run: &PlannedRun) -> String {
        let padding = match run.padding_bytes {
            Some(0) => format!(" {PADDING_VARIABLE}="),
            Some(bytes) => format!(" {PADDING_VARIABLE}=$(printf '%0{bytes}d' 0)"),
            None => String::new(),
        };
        let filling = run.setup.map_or_else(String::new, |setup| match setup.variables_bytes() {
            [_, 0] => format!(" {FILLING_VARIABLE}="),
            [_, bytes] => format!(" {FILLING_VARIABLE}=$(printf '%0{bytes}d' 0)"),
        });
        let quoted = |text: &str| format!("'{}'", text.replace('\'', r"'\''"));
        let place = self.folder.as_ref().map_or_else(String::new, |folder| {
            format!("cd {} && ", quoted(&folder.display().to_string()))
        });
        let command = if self.via_shell {
            format!("/bin/sh -c {}", quoted(&self.command))
        } else {
            self.command.trim().to_owned()
        };
        let (mut limit, mut without_aslr) = (String::new(), "");
        if let Some(addresses) = run.addresses {
            without_aslr = " setarch -R";
            if let Some(bytes) = addresses.mapping_pages.and_then(stack_limit) {
                limit = format!("ulimit -S -s {} && ", bytes / 1024);
            }
        }
        let part =
            run.part_seed().map_or_else(String::new, |(name, seed)| format!(" {name}={seed}"));
        let own = format!("SZC_SEED={}{part}{padding}{filling}", run.seed);
        format!("{limit}{place}{own}{without_aslr} {command} </dev/null")
    }

    /// The file that is executed, looked up in PATH; `None` when it is not found
    /// or when a shell decides.
    #[must_use]
    pub fn executable_path(&self) -> Option<PathBuf> {
        if self.via_shell {
            return None;
        }
        let program = Path::new(self.argv.first()?);
        let found = if program.components().count() > 1 || program.has_root() {
            let place = self.folder.as_deref().unwrap_or_else(|| Path::new(""));
            Some(place.join(program)).filter(|path| is_executable(path))
        } else {
            let path = std::env::var_os("PATH")?;
            std::env::split_paths(&path)
                .map(|folder| folder.join(program))
                .find(|candidate| is_executable(candidate))
        };
        std::path::absolute(found?).ok()
    }

    /// Identity of the file that is executed, as far as it can be read.
    #[must_use]
    pub fn executable(&self) -> Option<Executable> {
        let path = self.executable_path()?;
        let bytes = fs::read(&path).ok()?;
        Some(Executable {
            path,
            sha256: format!("{:x}", Sha256::digest(&bytes)),
            size_bytes: bytes.len() as u64,
            compiler: compilers_of(&bytes),
        })
    }
}

/// The limit of the stack under which mappings begin so many pages lower.
fn stack_limit(pages: u32) -> Option<u64> {
    let (own, _) = getrlimit(Resource::RLIMIT_STACK).ok()?;
    limit_at_exec(own, pages)
}

/// Label of the program at a place in the list: A to Z, then P27 and so on.
#[must_use]
pub fn label(index: usize) -> String {
    match ('A'..='Z').nth(index) {
        Some(letter) => letter.to_string(),
        None => format!("P{}", index + 1),
    }
}

/// Value of [`PADDING_VARIABLE`] of this length.
#[must_use]
pub fn padding(bytes: u32) -> String {
    "0".repeat(bytes as usize)
}

fn is_executable(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
}

/// The NUL-separated strings of `.comment`, each once; empty for anything but an object file.
fn compilers_of(image: &[u8]) -> Vec<String> {
    let Some(comment) = object::File::parse(image)
        .ok()
        .and_then(|file| file.section_by_name(".comment")?.data().ok())
    else {
        return Vec::new();
    };
    let mut compilers = Vec::new();
    for text in comment.split(|byte| *byte == 0) {
        let text = String::from_utf8_lossy(text).trim().to_owned();
        if !text.is_empty() && !compilers.contains(&text) {
            compilers.push(text);
        }
    }
    compilers
}

/// Splits a command into words, or returns `None` when it takes a shell to do so.
///
/// # Errors
/// When a quotation is not closed.
fn split_words(command: &str) -> Result<Option<Vec<String>>> {
    let mut args = Vec::new();
    let mut word: Option<String> = None;
    let mut characters = command.trim().chars();
    while let Some(character) = characters.next() {
        match character {
            ' ' | '\t' => args.extend(word.take()),
            '\'' => {
                let quoted = word.get_or_insert_default();
                loop {
                    match characters.next() {
                        Some('\'') => break,
                        Some(inside) => quoted.push(inside),
                        None => bail!(unclosed(command, '\'')),
                    }
                }
            }
            '"' => {
                let quoted = word.get_or_insert_default();
                loop {
                    match characters.next() {
                        Some('"') => break,
                        Some('$' | '`') => return Ok(None),
                        Some('\\') => match characters.next() {
                            Some('\n') => {}
                            Some(escaped @ ('"' | '\\' | '$' | '`')) => quoted.push(escaped),
                            Some(other) => quoted.extend(['\\', other]),
                            None => bail!(unclosed(command, '"')),
                        },
                        Some(inside) => quoted.push(inside),
                        None => bail!(unclosed(command, '"')),
                    }
                }
            }
            '\\' => match characters.next() {
                Some('\n') => {}
                Some(escaped) => word.get_or_insert_default().push(escaped),
                None => word.get_or_insert_default().push('\\'),
            },
            '=' if args.is_empty() => return Ok(None),
            special if SHELL_CHARACTERS.contains(special) => return Ok(None),
            plain => word.get_or_insert_default().push(plain),
        }
    }
    args.extend(word);
    let needs_shell = args.first().is_some_and(|first| SHELL_WORDS.contains(&first.as_str()));
    Ok((!needs_shell).then_some(args))
}

fn unclosed(command: &str, quote: char) -> String {
    format!(
        "the quotation opened by {quote} in the command {command:?} is not closed: add the closing \
         {quote}"
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples::design::{Addresses, Design, EnvironmentSize};
    use proptest::prelude::*;

    fn args(command: &str) -> Vec<String> {
        split_words(command).unwrap().expect("no shell needed")
    }

    #[test]
    fn simple_commands_are_split_without_a_shell() {
        assert_eq!(args("  ./lua  bench.lua\t10 "), ["./lua", "bench.lua", "10"]);
        assert_eq!(args("cc -O2 --std=c99"), ["cc", "-O2", "--std=c99"]);
    }

    #[test]
    fn quotations_and_escapes_are_those_of_a_shell() {
        assert_eq!(args(r"a 'b c' d"), ["a", "b c", "d"]);
        assert_eq!(args(r#"a "b 'c'" d"#), ["a", "b 'c'", "d"]);
        assert_eq!(args(r"a b\ c ''"), ["a", "b c", ""]);
        assert_eq!(args(r#"a "\"\\\n""#), ["a", r#""\\n"#]);
        assert_eq!(args(r"x'y'z '$HOME;*'"), ["xyz", "$HOME;*"]);
    }

    #[test]
    fn what_only_a_shell_understands_goes_to_a_shell() {
        for command in [
            "a | b",
            "a > f",
            "a; b",
            "a && b",
            "a $X",
            "a \"$X\"",
            "a *.c",
            "X=1 a",
            "cd d",
            "a `b`",
            "(a)",
            "a\nb",
            "! a",
            "ulimit -s 100",
        ] {
            let program = Program::new(0, None, command).unwrap();
            assert!(program.via_shell, "{command}");
            assert_eq!(program.argv, ["/bin/sh", "-c", command]);
        }
    }

    #[test]
    fn an_unclosed_quotation_and_an_empty_command_are_errors() {
        assert!(split_words("a 'b").is_err());
        assert!(split_words("a \"b").is_err());
        let error = Program::new(1, None, "  ").unwrap_err();
        assert!(error.to_string().contains("command B is empty"));
    }

    fn run(seed: u64, padding_bytes: Option<u32>) -> PlannedRun {
        let design = Design { environment: EnvironmentSize::Fixed, ..Design::layouts(1, 1, 1) };
        PlannedRun { seed, padding_bytes, ..design.block_runs(0)[0] }
    }

    #[test]
    fn the_reproduction_is_one_shell_command() {
        let direct = Program::new(0, None, "./a 'x y'").unwrap();
        assert_eq!(direct.reproduction(&run(7, None)), "SZC_SEED=7 ./a 'x y' </dev/null");
        let shell = Program::new(0, None, "./a 'x' | ./b").unwrap();
        assert_eq!(
            shell.reproduction(&run(7, None)),
            r"SZC_SEED=7 /bin/sh -c './a '\''x'\'' | ./b' </dev/null"
        );
        assert_eq!(
            direct.reproduction(&run(7, Some(12))),
            "SZC_SEED=7 SZC_PADDING=$(printf '%012d' 0) ./a 'x y' </dev/null"
        );
    }

    #[test]
    fn the_reproduction_has_the_addresses_of_the_run() {
        let program = Program::new(0, None, "true").unwrap();
        let addresses = Some(Addresses { mapping_pages: Some(16), lowered_bytes: 0 });
        let text = program.reproduction(&PlannedRun { addresses, ..run(7, None) });
        let behind_limit = "SZC_SEED=7 setarch -R true </dev/null";
        match stack_limit(16) {
            Some(bytes) => {
                assert_eq!(text, format!("ulimit -S -s {} && {behind_limit}", bytes / 1024));
            }
            None => assert_eq!(text, behind_limit),
        }
    }

    #[test]
    fn the_padding_of_a_reproduction_is_that_of_the_run() {
        let program = Program::new(0, None, "true").unwrap();
        for bytes in [0, 1, 9, 4095] {
            let script = program
                .reproduction(&run(7, Some(bytes)))
                .replace("true <", "sh -c 'printf %s \"$SZC_PADDING\"' <");
            let output =
                std::process::Command::new("/bin/sh").args(["-c", &script]).output().unwrap();
            assert_eq!(String::from_utf8(output.stdout).unwrap(), padding(bytes), "{script}");
        }
    }

    #[test]
    fn a_program_in_a_folder_is_looked_for_and_repeated_there() {
        let mut program = Program::new(0, None, "./true 1").unwrap();
        program.folder = Some("/bin".into());
        assert_eq!(program.executable_path().unwrap(), Path::new("/bin/true"));
        assert_eq!(
            program.reproduction(&run(7, None)),
            "cd '/bin' && SZC_SEED=7 ./true 1 </dev/null"
        );
    }

    #[test]
    fn the_executable_is_identified_by_its_contents() {
        let program = Program::new(0, None, "true").unwrap();
        let executable = program.executable().unwrap();
        assert!(executable.path.is_absolute());
        assert_eq!(executable.sha256.len(), 64);
        assert!(executable.size_bytes > 0);
        let missing = Program::new(0, None, "no-such-program-anywhere").unwrap();
        assert_eq!(missing.executable(), None);
    }

    #[test]
    fn compilers_come_from_the_comment_section() {
        let own_image = fs::read(std::env::current_exe().unwrap()).unwrap();
        let compilers = compilers_of(&own_image);
        assert!(compilers.iter().any(|text| text.contains("rustc")), "{compilers:?}");
        assert!(compilers_of(b"#!/bin/sh\n").is_empty());
    }

    proptest! {
        #[test]
        fn single_quotes_carry_any_text(text in "[^'\0]{0,40}") {
            prop_assert_eq!(args(&format!("run '{text}'")), ["run".to_owned(), text]);
        }
    }
}
