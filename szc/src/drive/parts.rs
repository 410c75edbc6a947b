//! Finds the programs and files that the driver works with.
//!
//! clang, lld and llvm-objcopy come from an LLVM 22 on this machine. szc's own parts lie
//! beside its executable (the build directory) or in `../lib/szc` (an installation);
//! `SZC_HOME` names another place for them and `SZC_CLANG` another clang.

use anyhow::{Context, bail};
use std::env;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::Read;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Names the directory that holds szc's own parts, or whose `lib/szc` does.
pub const HOME_VARIABLE: &str = "SZC_HOME";

/// Names the clang to run.
pub const CLANG_VARIABLE: &str = "SZC_CLANG";

/// The static library that is linked into every randomized program.
pub const RUNTIME_ARCHIVE: &str = "libszc_runtime.a";

/// The static library whose object is linked into every shared library that can be randomized.
pub const LIBRARY_ARCHIVE: &str = "libszc_library.a";

const LLVM_BIN: &str = "/usr/lib/llvm-22/bin";

/// The release of LLVM that the plugin is built for.
const LLVM_RELEASE: u32 = 22;

/// How to get LLVM.
const INSTALL_LLVM: &str = "apt-get install clang-22 lld-22 llvm-22 (Debian 12 and newer; other \
    systems: apt.llvm.org or the system's own packages)";

/// The language whose driver is imitated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Language {
    /// `szc`: clang.
    C,
    /// `szc++`: clang++.
    Cxx,
    /// `szc-fortran`: flang.
    Fortran,
}

impl Language {
    /// The program's name in `PATH`, and its name among LLVM's own programs.
    const fn names(self) -> (&'static str, &'static str) {
        match self {
            Language::C => ("clang-22", "clang"),
            Language::Cxx => ("clang++-22", "clang++"),
            Language::Fortran => ("flang-22", "flang"),
        }
    }
}

/// clang, and the arguments that must come before the user's.
#[derive(Debug, Clone)]
pub struct Clang {
    /// The program to run. Its own name is that in its messages.
    pub program: PathBuf,
    /// Makes a clang named by [`CLANG_VARIABLE`] behave as the language asks.
    pub first_args: Vec<OsString>,
    /// Whose driver it is.
    pub language: Language,
}

impl Clang {
    /// Finds the clang for a language.
    ///
    /// # Errors
    /// There is none, or [`CLANG_VARIABLE`] names something that cannot be run.
    pub fn find(language: Language) -> anyhow::Result<Self> {
        if let Some(named) = env::var_os(CLANG_VARIABLE).filter(|value| !value.is_empty()) {
            let Some(program) = program_named(&named) else {
                bail!(
                    "{CLANG_VARIABLE}={}: no such program; name the clang 22 to use, or unset it",
                    named.display()
                );
            };
            let first_args = match language {
                Language::C => Vec::new(),
                Language::Cxx => vec![OsString::from("--driver-mode=g++")],
                Language::Fortran => vec![OsString::from("--driver-mode=flang")],
            };
            return Ok(Clang { program, first_args, language });
        }
        let (in_path, in_llvm) = language.names();
        let program = program_named(OsStr::new(in_path))
            .or_else(|| executable(Path::new(LLVM_BIN).join(in_llvm)))
            .with_context(|| {
                format!(
                    "{in_path} is not in PATH, nor {in_llvm} in {LLVM_BIN}; install it: {}, or \
                     name one with {CLANG_VARIABLE}",
                    if language == Language::Fortran {
                        "apt-get install flang-22"
                    } else {
                        INSTALL_LLVM
                    }
                )
            })?;
        Ok(Clang { program, first_args: Vec::new(), language })
    }

    /// Makes sure that this clang can load the plugin. Where it lies mostly tells its release; only
    /// otherwise it is asked, which takes it 20 ms. A script in front of it is left alone.
    ///
    /// # Errors
    /// It is of another release.
    pub fn check_release(&self) -> anyhow::Result<()> {
        let real = fs::canonicalize(&self.program).unwrap_or_else(|_| self.program.clone());
        if names_release(&real) || !is_elf(&real) {
            return Ok(());
        }
        let output = Command::new(&self.program).arg("--version").output();
        let text = output.map(|output| output.stdout).unwrap_or_default();
        match release(&String::from_utf8_lossy(&text)) {
            Some(found) => check_release(&self.program, found),
            None => Ok(()),
        }
    }

    /// Finds the linker that belongs to this clang.
    ///
    /// # Errors
    /// There is none.
    pub fn find_lld(&self) -> anyhow::Result<PathBuf> {
        self.find_companion("ld.lld", "ld.lld-22", "install it: apt-get install lld-22")
    }

    /// Finds the object editor that belongs to this clang.
    ///
    /// # Errors
    /// There is none.
    pub fn find_objcopy(&self) -> anyhow::Result<PathBuf> {
        self.find_companion(
            "llvm-objcopy",
            "llvm-objcopy-22",
            "install it: apt-get install llvm-22",
        )
    }

    /// A program of the same LLVM: beside the real clang, else under its versioned name in
    /// `PATH`. An unversioned name in `PATH` may be of another LLVM, which cannot read
    /// this one's bitcode.
    fn find_companion(&self, name: &str, versioned: &str, remedy: &str) -> anyhow::Result<PathBuf> {
        let beside = fs::canonicalize(&self.program)
            .ok()
            .and_then(|real| executable(real.with_file_name(name)));
        beside
            .or_else(|| program_named(OsStr::new(versioned)))
            .or_else(|| executable(Path::new(LLVM_BIN).join(name)))
            .with_context(|| {
                format!(
                    "{name} is neither beside {} nor in {LLVM_BIN}, and {versioned} is not in \
                     PATH; {remedy}",
                    self.program.display()
                )
            })
    }
}

/// Whether a path says that what lies there is of the release of LLVM.
fn names_release(path: &Path) -> bool {
    let is_it = |part: &OsStr| {
        part.to_str().and_then(|name| name.rsplit_once('-')).is_some_and(|(_, end)| {
            end.split('.').next().and_then(|text| text.parse().ok()) == Some(LLVM_RELEASE)
        })
    };
    path.iter().any(is_it)
}

fn is_elf(path: &Path) -> bool {
    let mut magic = [0; 4];
    fs::File::open(path).is_ok_and(|mut file| file.read_exact(&mut magic).is_ok())
        && magic == *b"\x7fELF"
}

fn check_release(program: &Path, found: u32) -> anyhow::Result<()> {
    if found == LLVM_RELEASE {
        return Ok(());
    }
    bail!(
        "{} is of LLVM {found}, and szc's plugin is built for LLVM {LLVM_RELEASE}; unset \
         {CLANG_VARIABLE}, or let it name a clang {LLVM_RELEASE}: {INSTALL_LLVM}; or build \
         without randomization (-Rnone)",
        program.display()
    )
}

/// The 22 of "clang version 22.1.8".
fn release(version: &str) -> Option<u32> {
    let (_, number) = version.split_once(" version ")?;
    number.split('.').next()?.parse().ok()
}

/// Finds one of szc's own files.
///
/// # Errors
/// It is in none of the places.
pub fn find_own(name: &str) -> anyhow::Result<PathBuf> {
    let home = env::var_os(HOME_VARIABLE).filter(|value| !value.is_empty());
    let own = env::current_exe().context("cannot tell where the running szc lies")?;
    find_in(&own_places(home.as_deref(), &own), name)
}

fn own_places(home: Option<&OsStr>, own: &Path) -> Vec<PathBuf> {
    if let Some(home) = home {
        let home = PathBuf::from(home);
        return vec![home.join("lib/szc"), home];
    }
    let beside = own.parent().unwrap_or(Path::new("/"));
    let installed = beside.parent().map(|prefix| prefix.join("lib/szc"));
    std::iter::once(beside.to_owned()).chain(installed).collect()
}

fn find_in(places: &[PathBuf], name: &str) -> anyhow::Result<PathBuf> {
    let found = places.iter().map(|place| place.join(name)).find(|path| path.is_file());
    let Some(found) = found else {
        let places: Vec<_> = places.iter().map(|place| place.display().to_string()).collect();
        bail!(
            "{name}, a part of szc, is not in {}; build all of szc (cargo build --release) or \
             install it (spec-scripts/install.sh), or name its directory with {HOME_VARIABLE}, or \
             build without randomization (-Rnone)",
            places.join(" or ")
        );
    };
    std::path::absolute(&found).with_context(|| format!("cannot resolve {}", found.display()))
}

/// A program given by path, or by a name to look up in `PATH`.
fn program_named(name: &OsStr) -> Option<PathBuf> {
    if Path::new(name).components().count() > 1 {
        return executable(PathBuf::from(name));
    }
    env::split_paths(&env::var_os("PATH")?)
        .map(|directory| directory.join(name))
        .find_map(executable)
}

fn executable(path: PathBuf) -> Option<PathBuf> {
    let metadata = fs::metadata(&path).ok()?;
    (metadata.is_file() && metadata.permissions().mode() & 0o111 != 0).then_some(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clang_of_another_release_is_recognised_by_its_place_or_its_answer() {
        for (path, expected) in [
            ("/usr/lib/llvm-22/bin/clang", true),
            ("/opt/llvm/bin/clang-22", true),
            ("/opt/llvm-22.1.8/bin/clang", true),
            ("/usr/lib/llvm-19/bin/clang", false),
            ("/usr/bin/clang", false),
            ("/home/22/clang", false),
        ] {
            assert_eq!(names_release(Path::new(path)), expected, "{path}");
        }
        assert_eq!(release("Debian clang version 22.1.8 (1~deb12u1)\nTarget: x\n"), Some(22));
        assert_eq!(release("clang version 19.1.7\n"), Some(19));
        assert_eq!(release("gcc (Debian 12.2.0) 12.2.0\n"), None);
    }

    #[test]
    fn another_release_is_an_error_that_names_both_and_the_line_that_installs_the_right_one() {
        let check = |release| check_release(Path::new("/usr/bin/clang-19"), release);
        let message = check(19).expect_err("too old").to_string();
        for part in ["clang-19 is of LLVM 19", "LLVM 22", "SZC_CLANG", "apt-get install clang-22"] {
            assert!(message.contains(part), "{message}");
        }
        assert!(check(22).is_ok());
    }

    #[test]
    fn own_parts_lie_beside_the_executable_or_in_the_installation() {
        assert_eq!(
            own_places(None, Path::new("/opt/szc/bin/szc")),
            [Path::new("/opt/szc/bin"), Path::new("/opt/szc/lib/szc")]
        );
    }

    #[test]
    fn the_home_variable_replaces_both_places() {
        assert_eq!(
            own_places(Some(OsStr::new("/h")), Path::new("/opt/szc/bin/szc")),
            [Path::new("/h/lib/szc"), Path::new("/h")]
        );
    }

    #[test]
    fn a_missing_part_is_an_error_that_says_where_it_was_sought_and_what_to_do() {
        let places = [PathBuf::from("/no/such"), PathBuf::from("/nor/this")];
        let message = find_in(&places, RUNTIME_ARCHIVE).expect_err("not there").to_string();
        for part in ["libszc_runtime.a", "/no/such or /nor/this", "cargo build", "SZC_HOME"] {
            assert!(message.contains(part), "{message}");
        }
    }

    #[test]
    fn the_first_place_that_has_the_part_wins() {
        let dir = tempfile::tempdir().expect("a temporary directory");
        let second = dir.path().join("second");
        fs::create_dir(&second).expect("writable");
        fs::write(second.join("part"), "").expect("writable");
        let places = [dir.path().to_owned(), second.clone()];
        assert_eq!(find_in(&places, "part").expect("found"), second.join("part"));
    }
}
