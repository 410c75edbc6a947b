//! The store of baselines: one samples file for each name, machine and compiler.
//!
//! `STORE/baselines/MACHINE/COMPILER/NAME.json`, where machine and compiler are the first sixteen
//! digits of the SHA-256 of what identifies them; the files themselves say it in full. The default
//! place is that of the XDG Base Directory Specification 0.8.
#![forbid(unsafe_code)]

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use sha2::{Digest, Sha256};

use crate::samples::machine::Machine;
use crate::samples::{Executable, SamplesFile, io, printable};

/// A folder of baselines.
#[derive(Clone, Debug)]
pub struct Store {
    folder: PathBuf,
}

impl Store {
    /// The store in `folder`, or the user's.
    ///
    /// # Errors
    /// When there is neither a folder given nor a home.
    pub fn new(folder: Option<&Path>) -> Result<Self> {
        let base = match folder {
            Some(folder) => folder.to_owned(),
            None => user_data().context(
                "neither XDG_DATA_HOME nor HOME is set: say with --store where baselines are",
            )?,
        };
        Ok(Self { folder: base.join("baselines") })
    }

    /// Where the baselines are.
    #[must_use]
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Stores a file with one program, in place of one with the same name, machine and compiler.
    ///
    /// # Errors
    /// When the file holds another number of programs, or cannot be written.
    pub fn save(&self, name: &str, file: &SamplesFile) -> Result<PathBuf> {
        check_name(name)?;
        let [program] = &file.programs[..] else {
            bail!(
                "the samples are of {} programs: a baseline is one, as szc run measures it",
                file.programs.len()
            );
        };
        if file.design.complete_blocks < 2 {
            bail!(
                "the samples are of {} layouts: nothing can be held against fewer than two",
                file.design.complete_blocks
            );
        }
        let folder =
            self.machine_folder(&file.machine).join(compiler_key(program.executable.as_ref()));
        fs::create_dir_all(&folder)
            .with_context(|| format!("cannot make the folder {}", folder.display()))?;
        let path = folder.join(format!("{name}.json"));
        io::write(&path, file)?;
        Ok(path)
    }

    /// The baseline of that name for a machine and the compiler of a program.
    ///
    /// # Errors
    /// When there is none, or only of another machine and `across_machines` is not set, or only
    /// of other compilers.
    pub fn find(
        &self,
        name: &str,
        machine: &Machine,
        program: Option<&Executable>,
        across_machines: bool,
    ) -> Result<PathBuf> {
        check_name(name)?;
        let here = self.machine_folder(machine);
        let exact = here.join(compiler_key(program)).join(format!("{name}.json"));
        if exact.is_file() {
            return Ok(exact);
        }
        let all = self.named(name)?;
        let (of_machine, of_others): (Vec<PathBuf>, Vec<PathBuf>) =
            all.into_iter().partition(|path| path.starts_with(&here));
        let key = compiler_key(program);
        let same_compiler = of_others
            .iter()
            .find(|path| path.parent().is_some_and(|folder| folder.ends_with(&key)));
        match (same_compiler, &of_machine[..], &of_others[..]) {
            (Some(path), _, _) if across_machines => Ok(path.clone()),
            (None, [], [path, ..]) if across_machines => Ok(path.clone()),
            (_, [path, ..], _) => bail!(
                "the baseline {name} on this machine is of a program made by another compiler \
                 ({}): measure it again with szc baseline save {name}, or give the file itself: \
                 szc gate {} …",
                compilers(path),
                path.display()
            ),
            (_, [], [_, ..]) => bail!(
                "the baseline {name} is of another machine: measure it here with szc baseline save \
                 {name}, or add --across-machines if you know that they are alike"
            ),
            (_, [], []) => bail!(
                "there is no baseline {name} in {}: szc baseline save {name} -- 'COMMAND' makes \
                 one, szc baseline list shows what there is",
                self.folder.display()
            ),
        }
    }

    /// Removes the baselines of a name and a machine, whatever their compilers are.
    ///
    /// # Errors
    /// When there is none, or a file cannot be removed.
    pub fn remove(&self, name: &str, machine: &Machine) -> Result<()> {
        check_name(name)?;
        let here = self.machine_folder(machine);
        let found: Vec<PathBuf> =
            self.named(name)?.into_iter().filter(|path| path.starts_with(&here)).collect();
        if found.is_empty() {
            bail!(
                "there is no baseline {name} of this machine in {}: szc baseline list shows what \
                 there is",
                self.folder.display()
            );
        }
        for path in found {
            fs::remove_file(&path).with_context(|| format!("cannot remove {}", path.display()))?;
        }
        Ok(())
    }

    /// All baselines by path, with what is in them.
    ///
    /// # Errors
    /// When a folder cannot be read.
    pub fn all(&self) -> Result<Vec<(PathBuf, Result<SamplesFile>)>> {
        let mut found = Vec::new();
        for machine in entries(&self.folder)? {
            for compiler in entries(&machine)? {
                for path in entries(&compiler)? {
                    if path.extension().is_some_and(|extension| extension == "json") {
                        let file = io::read(&path);
                        found.push((path, file));
                    }
                }
            }
        }
        found.sort_by(|one, other| one.0.file_name().cmp(&other.0.file_name()));
        Ok(found)
    }

    fn named(&self, name: &str) -> Result<Vec<PathBuf>> {
        let mut found = Vec::new();
        for machine in entries(&self.folder)? {
            for compiler in entries(&machine)? {
                let path = compiler.join(format!("{name}.json"));
                if path.is_file() {
                    found.push(path);
                }
            }
        }
        Ok(found)
    }

    fn machine_folder(&self, machine: &Machine) -> PathBuf {
        self.folder.join(key(&machine.identity()))
    }
}

/// Refuses names that are no file names, or would leave the store.
///
/// # Errors
/// What a name may be.
pub fn check_name(name: &str) -> Result<()> {
    let plain = |letter: char| letter.is_ascii_alphanumeric() || "-_.".contains(letter);
    if name.is_empty() || name.len() > 100 || name.starts_with('.') || !name.chars().all(plain) {
        bail!(
            "{name:?} is no name for a baseline: up to 100 letters, digits, '-', '_' and '.' are \
             needed, not '.' first"
        );
    }
    Ok(())
}

/// The entries of a folder in order; none if it is not there.
fn entries(folder: &Path) -> Result<Vec<PathBuf>> {
    let read = match fs::read_dir(folder) {
        Err(error)
            if matches!(
                error.kind(),
                std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory
            ) =>
        {
            return Ok(Vec::new());
        }
        other => other.with_context(|| format!("cannot read the folder {}", folder.display()))?,
    };
    let mut paths = Vec::new();
    for entry in read {
        paths.push(entry.with_context(|| format!("cannot read {}", folder.display()))?.path());
    }
    paths.sort();
    Ok(paths)
}

fn user_data() -> Option<PathBuf> {
    let absolute =
        |name| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    absolute("XDG_DATA_HOME")
        .or_else(|| absolute("HOME").map(|home| home.join(".local/share")))
        .map(|data| data.join("szc"))
}

fn key(text: &str) -> String {
    let mut digits = format!("{:x}", Sha256::digest(text));
    digits.truncate(16);
    digits
}

fn compiler_key(program: Option<&Executable>) -> String {
    key(&program.map_or(String::new(), |program| program.compiler.join("\n")))
}

fn compilers(path: &Path) -> String {
    let file = io::read(path).ok();
    let executable = file.and_then(|file| file.programs.into_iter().next()?.executable);
    executable.map_or_else(|| "unknown".to_owned(), |found| printable(&found.compiler.join(", ")))
}
