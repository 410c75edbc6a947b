//! Compilers by language, from the name of the one for C, and what tells one from another.
#![forbid(unsafe_code)]

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use crate::hash::{self, Key};
use crate::suite::Language;

/// The first words of C compilers, with those of the same family for C++ and Fortran.
const FAMILIES: [(&str, &str, &str); 4] = [
    ("szc", "szc++", "szc-fortran"),
    ("clang", "clang++", "flang"),
    ("gcc", "g++", "gfortran"),
    ("cc", "c++", "gfortran"),
];

/// A compiler command: an absolute path and perhaps arguments behind it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Compiler {
    /// As the user wrote it, or as derived.
    pub name: String,
    path: PathBuf,
    args: String,
}

impl Compiler {
    /// Looks up the first word of a command.
    ///
    /// # Errors
    /// When it is nowhere.
    pub fn find(command: &str) -> Result<Self> {
        let (first, args) = command.trim().split_once(' ').unwrap_or((command.trim(), ""));
        let path = find_in_path(first).with_context(|| {
            format!("compiler {first:?} not found: give a path, or extend PATH")
        })?;
        Ok(Self { name: command.trim().to_owned(), path, args: args.trim().to_owned() })
    }

    /// The command with an absolute path, for builds that run elsewhere.
    pub fn command(&self) -> String {
        format!("{} {}", self.path.display(), self.args).trim().to_owned()
    }

    /// Whether it is szc.
    pub fn is_szc(&self) -> bool {
        file_name(&self.path).starts_with("szc")
    }

    /// Adds what decides about its output: the file, and the parts that szc links in.
    ///
    /// # Errors
    /// When one of them cannot be read.
    fn add_to(&self, key: Key) -> Result<Key> {
        self.add_content(key.with(&self.args).with(self.path.as_os_str().as_encoded_bytes()))
    }

    fn add_content(&self, key: Key) -> Result<Key> {
        let file = self.path.canonicalize().context("the compiler is gone")?;
        let mut key = key.with(hash::of_file(&file)?);
        let folder = file.parent().unwrap_or_else(|| Path::new("/"));
        let is_part = |path: &PathBuf| {
            let name = file_name(path);
            name.starts_with("libszc_") && (name.ends_with(".a") || name.ends_with(".so"))
        };
        if self.is_szc() {
            let mut parts: Vec<PathBuf> =
                folder.read_dir()?.filter_map(|entry| Some(entry.ok()?.path())).collect();
            parts.retain(is_part);
            parts.sort();
            for part in parts {
                key = key.with(hash::of_file(&part)?);
            }
        }
        Ok(key)
    }
}

/// The compilers of a build, and the drivers that link if those are others.
#[derive(Clone, Debug)]
pub struct Toolchain {
    c: Compiler,
    given: Vec<(Language, String)>,
    link: Option<Compiler>,
}

impl Toolchain {
    /// From the command for C; `given` names those for other languages that do not follow from it.
    ///
    /// # Errors
    /// When one is nowhere.
    pub fn new(c: &str, given: Vec<(Language, String)>, link: Option<&str>) -> Result<Self> {
        let link = link.map(Compiler::find).transpose()?;
        Ok(Self { c: Compiler::find(c)?, given, link })
    }

    /// The compiler for a language.
    ///
    /// # Errors
    /// When there is none: what was looked for.
    pub fn compiler(&self, language: Language) -> Result<Compiler> {
        if let Some((_, command)) = self.given.iter().find(|(known, _)| *known == language) {
            return Compiler::find(command);
        }
        relative(&self.c, language)
    }

    /// What links a program of this language, if another driver than the compiler.
    ///
    /// # Errors
    /// When there is none.
    pub fn linker(&self, language: Language) -> Result<Option<Compiler>> {
        self.link.as_ref().map(|link| relative(link, language)).transpose()
    }

    /// Twelve digits that tell the files of the compiler for C from those of another build,
    /// wherever they lie.
    ///
    /// # Errors
    /// When one of them cannot be read.
    pub fn digest(&self) -> Result<String> {
        let mut digits = self.c.add_content(Key::default())?.digits();
        digits.truncate(12);
        Ok(digits)
    }

    /// Whether programs are randomized.
    pub fn is_szc(&self) -> bool {
        self.link.as_ref().unwrap_or(&self.c).is_szc()
    }

    /// The arguments that chose it.
    pub fn name(&self) -> String {
        match &self.link {
            Some(link) => format!("{} linked by {}", self.c.name, link.name),
            None => self.c.name.clone(),
        }
    }

    /// Adds what decides about the output of the compilers for these languages.
    ///
    /// # Errors
    /// When one is missing or cannot be read.
    pub fn add_to(&self, mut key: Key, languages: &[Language]) -> Result<Key> {
        for language in languages {
            key = self.compiler(*language)?.add_to(key)?;
            if let Some(linker) = self.linker(*language)? {
                key = linker.add_to(key)?;
            }
        }
        Ok(key)
    }
}

/// The compiler of the same family for another language.
fn relative(c: &Compiler, language: Language) -> Result<Compiler> {
    if language == Language::C {
        return Ok(c.clone());
    }
    let file = file_name(&c.path);
    let Some(name) = relative_name(&file, language) else {
        bail!(
            "no {} compiler follows from {:?}: name it with --cxx or --fc",
            language.name(),
            c.name
        );
    };
    let beside = c.path.with_file_name(&name);
    let path = if beside.is_file() { beside } else { find_in_path(&name).unwrap_or_default() };
    if path.as_os_str().is_empty() {
        bail!("{name} not found, the {} compiler that belongs to {:?}", language.name(), c.name);
    }
    Ok(Compiler { name, path, args: c.args.clone() })
}

/// "clang-22" and C++ make "clang++-22".
fn relative_name(file: &str, language: Language) -> Option<String> {
    FAMILIES.iter().find_map(|(c, cxx, fortran)| {
        let rest = file.strip_prefix(c)?;
        let is_version = rest.is_empty() || rest.starts_with('-') && !rest.starts_with("-f");
        let other = match language {
            Language::C => c,
            Language::Cxx => cxx,
            Language::Fortran => fortran,
        };
        is_version.then(|| format!("{other}{rest}"))
    })
}

fn file_name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// The absolute path of a command, or of a file named with a folder.
pub fn find_in_path(name: &str) -> Option<PathBuf> {
    let is_executable = |path: &PathBuf| {
        fs::metadata(path)
            .is_ok_and(|data| data.is_file() && data.permissions().mode() & 0o111 != 0)
    };
    if name.contains('/') {
        return std::path::absolute(name).ok().filter(is_executable);
    }
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|folder| folder.join(name)).find(is_executable)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_languages_follow_from_the_c_compiler() {
        for (c, cxx, fortran) in [
            ("szc", "szc++", "szc-fortran"),
            ("clang-22", "clang++-22", "flang-22"),
            ("gcc-12", "g++-12", "gfortran-12"),
            ("cc", "c++", "gfortran"),
        ] {
            assert_eq!(relative_name(c, Language::Cxx).as_deref(), Some(cxx));
            assert_eq!(relative_name(c, Language::Fortran).as_deref(), Some(fortran));
        }
        assert_eq!(relative_name("tcc", Language::Cxx), None);
    }

    #[test]
    fn arguments_behind_a_compiler_stay() {
        let compiler = Compiler::find("sh -c").unwrap();
        assert!(compiler.command().starts_with('/') && compiler.command().ends_with("/sh -c"));
        assert!(Compiler::find("no-such-compiler").unwrap_err().to_string().contains("not found"));
    }
}
