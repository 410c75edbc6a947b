//! Programs, sources and workloads, as `suite.toml` has them.
#![forbid(unsafe_code)]

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::Deserialize;
use toml::Spanned;

/// What stands in braces in a workload's arguments: the folder of the build, the program's own
/// files in the repository, the folder of the input, and the number of the size.
pub const PLACEHOLDERS: [&str; 4] = ["out", "files", "inputs", "size"];

/// A suite.
#[derive(Debug)]
pub struct Suite {
    /// In the order of the file.
    pub programs: Vec<Program>,
    /// The folder of the file (absolute); programs' own files are in `programs/NAME` of it.
    pub folder: PathBuf,
}

/// How long a workload is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum Size {
    /// 1 to 6 s of CPU time in the main workload on a machine of today, compiled by clang -O2: to
    /// measure.
    Full,
    /// Some tenths of a second: to see that it works.
    Test,
}

impl Size {
    /// Its name in the file and on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Full => "full",
            Self::Test => "test",
        }
    }
}

/// A language that a program needs a compiler for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
pub enum Language {
    /// C
    C,
    /// C++
    #[serde(rename = "C++")]
    Cxx,
    /// Fortran
    Fortran,
}

impl Language {
    /// Its name in the file and in tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::C => "C",
            Self::Cxx => "C++",
            Self::Fortran => "Fortran",
        }
    }
}

/// What in a program is hard for whoever moves its code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Trait {
    /// The workload runs several threads.
    Threads,
    /// The workload throws C++ exceptions all the time.
    Exceptions,
    /// The program leaves functions by `longjmp`.
    Longjmp,
    /// The program has handlers of signals.
    Signals,
}

impl Trait {
    /// Its name in tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::Threads => "threads",
            Self::Exceptions => "exceptions",
            Self::Longjmp => "longjmp",
            Self::Signals => "signals",
        }
    }
}

/// One `[[program]]`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Program {
    /// Name of the program and of its main workload.
    pub name: Spanned<String>,
    /// What it is, in a sentence.
    pub about: String,
    /// The benchmarks of SPEC CPU that it stands for.
    pub spec: String,
    /// The languages it is written in.
    pub languages: Spanned<Vec<Language>>,
    /// What is hard about it.
    #[serde(default)]
    pub traits: Vec<Trait>,
    /// Version of the main source.
    #[serde(default)]
    pub version: String,
    /// Archives, the first one being the tree that is built.
    #[serde(default)]
    pub sources: Vec<Archive>,
    /// Built from its own files in this repository, without archives.
    #[serde(default)]
    pub bundled: bool,
    /// Commands or files (absolute paths) that must be there to build it, each with the package
    /// that has it.
    #[serde(default)]
    pub needs: BTreeMap<String, String>,
    /// Shell script that builds it, run in a copy of the tree.
    pub build: String,
    /// Files and folders of the tree that are kept, the executable first.
    pub products: Spanned<Vec<String>>,
    /// The number that sets the length of the workload, by size.
    #[serde(default)]
    pub size: BTreeMap<Size, u64>,
    /// Shell script that makes the input, run in the folder where it belongs.
    #[serde(default)]
    pub inputs: String,
    /// Whether it belongs to the selection for continuous integration.
    #[serde(default)]
    pub ci: bool,
    /// Whether it is taken only if named.
    #[serde(default)]
    pub only_by_name: bool,
    /// What is run, the main one first.
    #[serde(rename = "workload")]
    pub workloads: Spanned<Vec<Workload>>,
}

/// An archive of sources.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Archive {
    /// Its place in Debian's package archive.
    pub pool: Option<String>,
    /// SHA-256 of the file there.
    pub sha256: Option<Spanned<String>>,
    /// Address of the program's own site, for where the package archive lacks it.
    pub url: Option<String>,
    /// SHA-256 of the file there, if it is another one.
    pub url_sha256: Option<Spanned<String>>,
    /// Folder of the tree that it is unpacked to.
    pub into: Option<String>,
}

/// One `[[program.workload]]`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Workload {
    /// What tells it from the program's main workload; that one has none.
    #[serde(default)]
    pub name: String,
    /// The arguments of the command.
    pub run: Spanned<Vec<String>>,
    /// File for standard input.
    pub stdin: Option<Spanned<String>>,
    /// SHA-256 of what it writes to standard output, by size.
    pub stdout: Spanned<BTreeMap<Size, String>>,
}

impl Suite {
    /// Files that inputs of several programs are made with.
    pub fn shared(&self) -> PathBuf {
        self.folder.join("programs").join("shared")
    }
}

impl Program {
    /// Its name.
    pub fn name(&self) -> &str {
        self.name.get_ref()
    }

    /// Its own files in the repository.
    pub fn files(&self, suite: &Suite) -> PathBuf {
        suite.folder.join("programs").join(self.name())
    }

    /// The workload called NAME or NAME-PART, if it is one of this program.
    pub fn workload(&self, name: &str) -> Option<&Workload> {
        let part = name.strip_prefix(self.name())?;
        self.workloads.get_ref().iter().find(|workload| {
            workload.name.is_empty() && part.is_empty()
                || !workload.name.is_empty() && part.strip_prefix('-') == Some(&workload.name)
        })
    }

    /// The name of one of its workloads in tables.
    pub fn workload_name(&self, workload: &Workload) -> String {
        match workload.name.as_str() {
            "" => self.name().to_owned(),
            part => format!("{}-{part}", self.name()),
        }
    }
}
