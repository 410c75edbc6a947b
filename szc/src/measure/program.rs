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

/// The variable, and its value, under which a program has one layout for the whole run.
pub const ONE_LAYOUT: (&str, &str) = ("SZC_INTERVAL_MS", "0");

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
    /// The same program with its objects linked in several orders, each called by its order, if a
    /// setup chooses one.
    pub orders: Vec<Self>,
    /// Variables of its environment that other programs of the experiment do not have, or have
    /// with another value.
    pub variables: Vec<(String, String)>,
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
        Ok(Self {
            label,
            name,
            command: command.to_owned(),
            argv,
            via_shell,
            folder: None,
            orders: Vec::new(),
            variables: Vec::new(),
        })
    }

    /// "B (new)", or "B" without a name.
    #[must_use]
    pub fn title(&self) -> String {
        match &self.name {
            Some(name) => format!("{} ({name})", self.label),
            None => self.label.clone(),
        }
    }

    /// What is executed for a run: this program, or the one whose objects were linked in the order
    /// of the run's setup.
    #[must_use]
    pub fn of_run(&self, run: &PlannedRun) -> &Self {
        let order = run.setup.and_then(|setup| usize::try_from(setup.order).ok());
        order.and_then(|order| self.orders.get(order)).unwrap_or(self)
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
        let program = self.of_run(run);
        let quoted = |text: &str| format!("'{}'", text.replace('\'', r"'\''"));
        let place = program.folder.as_ref().map_or_else(String::new, |folder| {
            format!("cd {} && ", quoted(&folder.display().to_string()))
        });
        let command = if program.via_shell {
            format!("/bin/sh -c {}", quoted(&program.command))
        } else {
            program.command.trim().to_owned()
        };
        let (mut limit, mut without_aslr) = (String::new(), "");
        if let Some(addresses) = run.addresses {
            without_aslr = " setarch -R";
            if let Some(bytes) = addresses.mapping_pages.and_then(stack_limit) {
                limit = format!("ulimit -S -s {} && ", bytes / 1024);
            }
        }
        let of_part = |(name, seed)| format!(" {name}={seed}");
        let mut part: String = run.part_seeds().into_iter().map(of_part).collect();
        if run.keeps_layout() {
            part.push_str(&format!(" {}={}", ONE_LAYOUT.0, ONE_LAYOUT.1));
        }
        let variable = |(name, value): &(String, String)| format!(" {name}={}", quoted(value));
        let variables: String = program.variables.iter().map(variable).collect();
        let own = format!("SZC_SEED={}{part}{padding}{filling}{variables}", run.seed);
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
mod tests;
