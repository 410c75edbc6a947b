//! The project's files in memory: what rules read, and what is broken on purpose to see that a rule
//! notices.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Text files by their path from the project's folder on.
#[derive(Clone, Default)]
pub struct Tree {
    files: BTreeMap<String, String>,
}

impl Tree {
    /// What git tracks here or would track, as far as it is text.
    pub fn of_the_project() -> Self {
        let project = project();
        let output = Command::new("git")
            .args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"])
            .current_dir(&project)
            .output()
            .expect("git lists the project's files");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let names = String::from_utf8(output.stdout).expect("paths are UTF-8");
        let files: BTreeMap<String, String> = names
            .split_terminator('\0')
            // Deleted files are listed until the deletion is committed; pictures are no text.
            .filter_map(|name| Some((name, std::fs::read_to_string(project.join(name)).ok()?)))
            .map(|(name, text)| (name.to_owned(), text))
            .collect();
        assert!(files.contains_key("Cargo.toml"), "{} is not the project", project.display());
        Tree { files }
    }

    /// The files whose names end so.
    pub fn ending<'a>(&'a self, endings: &'a [&str]) -> impl Iterator<Item = (&'a str, &'a str)> {
        self.all().filter(move |(path, _)| endings.iter().any(|ending| path.ends_with(ending)))
    }

    /// All files by path.
    pub fn all(&self) -> impl Iterator<Item = (&str, &str)> {
        self.files.iter().map(|(path, text)| (path.as_str(), text.as_str()))
    }

    /// A file's text.
    pub fn text(&self, path: &str) -> Option<&str> {
        self.files.get(path).map(String::as_str)
    }

    /// Whether there is such a file, of text or not, or such a folder.
    pub fn has(&self, path: &str) -> bool {
        let folder = format!("{path}/");
        self.files.contains_key(path)
            || self
                .files
                .range(folder.clone()..)
                .next()
                .is_some_and(|(p, _)| p.starts_with(&folder))
            || project().join(path).exists()
    }

    /// Adds text at the end of a file, which need not exist.
    pub fn append(&mut self, path: &str, text: &str) {
        self.files.entry(path.to_owned()).or_default().push_str(text);
    }
}

/// The folder that has the workspace's Cargo.toml.
pub fn project() -> PathBuf {
    // cargo's variable at run time: the same test can read another checkout.
    let tests = std::env::var_os("CARGO_MANIFEST_DIR");
    let tests = tests.map_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")), PathBuf::from);
    tests.parent().map(Path::to_owned).expect("tests lies in the project")
}

/// A place where a rule does not hold.
pub struct Violation {
    path: String,
    line: usize,
    what: String,
}

impl Violation {
    /// A violation in a line, counted from 1; 0 stands for the whole file.
    pub fn new(path: &str, line: usize, what: impl Into<String>) -> Self {
        Violation { path: path.to_owned(), line, what: what.into() }
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            0 => write!(f, "{}: {}", self.path, self.what),
            line => write!(f, "{}:{line}: {}", self.path, self.what),
        }
    }
}

/// One rule of the house.
pub struct Rule {
    /// What it asks for, as a sentence.
    pub name: &'static str,
    /// Finds what breaks it.
    pub find: fn(&Tree) -> Vec<Violation>,
    /// Files and folders in which it has not come true yet.
    pub not_yet: &'static [&'static str],
    /// Breaches that it must find, each alone.
    pub breaches: &'static [Breach],
}

impl Rule {
    /// What breaks it where it has come true, as texts.
    pub fn violations(&self, tree: &Tree) -> Vec<String> {
        let counts = |violation: &Violation| {
            !self.not_yet.iter().any(|room| violation.path.starts_with(room))
        };
        (self.find)(tree).iter().filter(|v| counts(v)).map(ToString::to_string).collect()
    }
}

/// Text that breaks a rule once it is added to files.
pub struct Breach {
    /// Files, and what is added to the end of each.
    pub added: &'static [(&'static str, &'static str)],
    /// Part of the violation that must be reported.
    pub reported: &'static str,
}
