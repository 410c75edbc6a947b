//! Builds a program twice with the same words: by szc, and by the compiler that szc stands for.

use crate::directives::{Compiler, Program, Variant};
use crate::tools::{szc, szcxx};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Both builds of a program.
#[derive(Debug)]
pub struct Builds {
    /// The program as the plain compiler makes it.
    pub plain: PathBuf,
    /// The program whose code moves.
    pub moving: PathBuf,
}

/// Builds `program` in `directory` as `variant` says.
///
/// # Errors
/// The command that failed and what it said.
pub fn build(program: &Program, variant: &Variant, directory: &Path) -> Result<Builds, String> {
    let builds = Builds { plain: directory.join("plain"), moving: directory.join("moving") };
    let sources = || std::iter::once(&program.source).chain(&program.with);
    let cxx = program.is_cxx();
    let driver = if cxx { szcxx() } else { szc() };
    match variant.compiler {
        Compiler::Szc => {
            let clang = if cxx { "clang++-22" } else { "clang-22" };
            // szc's own default; a linker named by the variant comes later and counts.
            let mut plain = Command::new(clang);
            run(plain
                .arg("-fuse-ld=lld")
                .args(sources())
                .args(&variant.words)
                .arg("-o")
                .arg(&builds.plain))?;
            run(Command::new(driver)
                .args(sources())
                .args(&variant.words)
                .arg("-o")
                .arg(&builds.moving))?;
        }
        Compiler::Gcc => {
            let gcc = if cxx { "g++" } else { "gcc" };
            let mut objects = Vec::new();
            for (index, source) in sources().enumerate() {
                let object = directory.join(format!("{index}.o"));
                run(Command::new(gcc)
                    .arg("-c")
                    .arg(source)
                    .args(&variant.words)
                    .arg("-o")
                    .arg(&object))?;
                objects.push(object);
            }
            run(Command::new(gcc)
                .args(&objects)
                .args(&variant.words)
                .arg("-o")
                .arg(&builds.plain))?;
            run(Command::new(driver)
                .args(&objects)
                .args(&variant.words)
                .arg("-o")
                .arg(&builds.moving))?;
        }
    }
    if variant.strip {
        for image in [&builds.plain, &builds.moving] {
            run(Command::new("strip").arg("-s").arg(image))?;
        }
    }
    Ok(builds)
}

/// Builds one source by szc, for tests that bring their own.
///
/// # Panics
/// When szc fails; with what it said.
#[must_use]
pub fn moving(source: &Path, words: &[&str], directory: &Path) -> PathBuf {
    compiled_by(szc().as_os_str(), source, words, directory)
}

/// Builds one source by clang alone.
///
/// # Panics
/// When clang fails; with what it said.
#[must_use]
pub fn plain(source: &Path, words: &[&str], directory: &Path) -> PathBuf {
    compiled_by("clang-22".as_ref(), source, words, directory)
}

fn compiled_by(driver: &OsStr, source: &Path, words: &[&str], directory: &Path) -> PathBuf {
    let name = Path::new(driver).file_name().expect("a driver has a name").to_string_lossy();
    let image = directory.join(format!("built by {name}"));
    let mut command = Command::new(driver);
    run(command.arg(source).args(words).arg("-o").arg(&image)).unwrap_or_else(|e| panic!("{e}"));
    image
}

/// Runs a build command without what the environment says about szc.
fn run(command: &mut Command) -> Result<(), String> {
    command.env_remove("SZC_BUILD").env_remove("SZC_CLANG");
    let output = command.output().map_err(|error| {
        format!("{command:?} does not start ({error}); spec-scripts/setup.sh --tests installs what the tests need")
    })?;
    if output.status.success() {
        return Ok(());
    }
    Err(format!("{command:?}: {}\n{}", output.status, String::from_utf8_lossy(&output.stderr)))
}
