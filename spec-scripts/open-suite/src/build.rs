//! Builds a program with its own build system, once for each compiler and flags.
#![forbid(unsafe_code)]

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use anyhow::{Context, Result, bail};
use jobserver::Client;

use crate::files::{self, Cache};
use crate::hash::Key;
use crate::suite::{Language, Program, Suite};
use crate::toolchain::{Compiler, Toolchain, find_in_path};
use crate::workload::{last_lines, make_folder, quoted};
use crate::{fetch, group};

/// There when a build is complete; says what was built.
const DONE: &str = "built";

/// The folder of a build that has the program in several orders of its objects, if that was asked
/// for: 0 is the order of its own build, 1 and above are random.
pub const ORDERS: &str = "orders";

/// A wish for a program in several orders of its objects.
#[derive(Clone, Debug)]
pub struct LinkOrders {
    /// Random orders.
    pub number: u32,
    /// Name of the program's file.
    pub of: String,
    /// `link-orders.sh`.
    pub script: PathBuf,
}

/// How programs are built.
#[derive(Clone, Debug)]
pub struct Recipe {
    /// By what.
    pub toolchain: Toolchain,
    /// Flags for compilers of all languages.
    pub flags: String,
    /// Further flags for linking.
    pub link_flags: String,
    /// Value of `SZC_BUILD`; empty for none.
    pub randomize: String,
    /// Links the program in several orders as well, in [`ORDERS`].
    pub link_orders: Option<LinkOrders>,
    /// Whether to build what was built before.
    pub again: bool,
}

/// A finished build.
#[derive(Clone, Debug)]
pub struct Built {
    /// Where its products are.
    pub out: PathBuf,
    /// How long it took; `None` if it was there already.
    pub seconds: Option<f64>,
}

/// Why there is none.
#[derive(Debug)]
pub enum Missing {
    /// The source could not be had.
    Source(anyhow::Error),
    /// The build cannot be tried: what it needs is not there.
    Needs(anyhow::Error),
    /// The build failed.
    Failed(anyhow::Error),
}

impl Missing {
    /// In a word, for tables.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Source(_) => "NO SOURCE",
            Self::Needs(_) => "NOT BUILT",
            Self::Failed(_) => "FAILED",
        }
    }

    /// What to tell the user.
    pub fn error(&self) -> &anyhow::Error {
        let (Self::Source(error) | Self::Needs(error) | Self::Failed(error)) = self;
        error
    }

    /// The same, to be passed on.
    pub fn into_error(self) -> anyhow::Error {
        let (Self::Source(error) | Self::Needs(error) | Self::Failed(error)) = self;
        error
    }
}

/// Fetches and builds a program, unless that was done before.
///
/// # Errors
/// [`Missing`], which is no reason to stop with other programs.
pub fn build(
    suite: &Suite,
    program: &Program,
    recipe: &Recipe,
    cache: &Cache,
    jobserver: &Client,
) -> Result<Built, Missing> {
    check_needs(program).map_err(Missing::Needs)?;
    let source = fetch::source(suite, program, cache).map_err(Missing::Source)?;
    let out = place(suite, program, recipe, &source, cache).map_err(Missing::Needs)?;
    let made = || {
        // One of the compilers that may run is the one of this build.
        let _place = jobserver.acquire().context("the pipe of the jobserver is broken")?;
        make(suite, program, recipe, &source, &out, jobserver)
    };
    made().map_err(Missing::Failed)
}

fn check_needs(program: &Program) -> Result<()> {
    for (name, package) in &program.needs {
        let there = if name.starts_with('/') {
            Path::new(name).exists()
        } else {
            find_in_path(name).is_some()
        };
        if !there {
            bail!("its build needs {name}: install the package {package} (Debian's name)");
        }
    }
    Ok(())
}

/// The folder of the build, named by all that decides about it.
fn place(
    suite: &Suite,
    program: &Program,
    recipe: &Recipe,
    source: &Path,
    cache: &Cache,
) -> Result<PathBuf> {
    let mut key = Key::default()
        .with(source.as_os_str().as_encoded_bytes())
        .with(&program.build)
        .with(program.products.get_ref().join("\n"))
        .with(&recipe.flags)
        .with(&recipe.link_flags)
        .with(&recipe.randomize);
    if let Some(orders) = &recipe.link_orders {
        key = key.with(orders.number.to_string()).with_files(&orders.script)?;
    }
    // Most programs' own files are for their inputs.
    if program.bundled || program.build.contains("$FILES") {
        key = key.with_files(&program.files(suite))?;
    }
    key = recipe.toolchain.add_to(key, program.languages.get_ref())?;
    cache.place("builds", &format!("{}/{}", program.name(), key.digits()))
}

fn make(
    suite: &Suite,
    program: &Program,
    recipe: &Recipe,
    source: &Path,
    out: &Path,
    jobserver: &Client,
) -> Result<Built> {
    make_folder(out)?;
    let _lock = files::lock(&out.with_extension("lock"))?;
    if out.join(DONE).is_file() && !recipe.again {
        return Ok(Built { out: out.to_owned(), seconds: None });
    }
    let started = Instant::now();
    fs::remove_dir_all(out).with_context(|| format!("cannot clear {}", out.display()))?;
    make_folder(out)?;
    let tree = out.join("tree");
    files::copy(source, &tree)?;
    run_script(suite, program, recipe, out, jobserver)?;
    for product in program.products.get_ref() {
        let name = Path::new(product).file_name().unwrap_or_default();
        files::copy(&tree.join(product), &out.join(name)).with_context(|| {
            format!(
                "the build did not make {product}; all of it: {}",
                out.join("build.log").display()
            )
        })?;
    }
    fs::remove_dir_all(&tree).with_context(|| format!("cannot remove {}", tree.display()))?;
    let note = format!("{} {} by {}\n", program.name(), recipe.flags, recipe.toolchain.name());
    fs::write(out.join(DONE), note).context("cannot finish a build")?;
    Ok(Built { out: out.to_owned(), seconds: Some(started.elapsed().as_secs_f64()) })
}

fn run_script(
    suite: &Suite,
    program: &Program,
    recipe: &Recipe,
    out: &Path,
    jobserver: &Client,
) -> Result<()> {
    let log = out.join("build.log");
    let file = File::create(&log).with_context(|| format!("cannot make {}", log.display()))?;
    // The archiver must read the symbols of bitcode to index it.
    let bitcode = recipe.flags.split(' ').any(|flag| flag.starts_with("-flto"));
    let (ar, ranlib) = if bitcode { ("llvm-ar-22", "llvm-ranlib-22") } else { ("ar", "ranlib") };
    let mut command = Command::new("sh");
    command
        .args(["-euxc", &program.build])
        .current_dir(out.join("tree"))
        .env("OUT", out)
        .env("FILES", program.files(suite))
        .env("LDFLAGS", &recipe.link_flags)
        .env("AR", ar)
        .env("RANLIB", ranlib)
        // Configure scripts and tools of the build run programs on their way: not the test.
        .env("SZC_INTERVAL_MS", "0")
        .env_remove("SZC_BUILD")
        .stdin(Stdio::null())
        .stdout(file.try_clone().context("cannot share a file")?)
        .stderr(file);
    jobserver.configure_make(&mut command);
    if !recipe.randomize.is_empty() {
        command.env("SZC_BUILD", &recipe.randomize);
    }
    for (language, variable, flags) in [
        (Language::C, "CC", "CFLAGS"),
        (Language::Cxx, "CXX", "CXXFLAGS"),
        (Language::Fortran, "FC", "FFLAGS"),
    ] {
        // Build systems look for a C compiler, too, and for others that they do not use.
        let used = program.languages.get_ref().contains(&language);
        match compiler_command(recipe, language, out) {
            Ok(compiler) => command.env(variable, compiler).env(flags, &recipe.flags),
            Err(error) if used => return Err(error),
            Err(_) => command.env_remove(variable),
        };
    }
    let status = group::status(&mut command).context("cannot run sh")?;
    if !status.success() {
        let said = fs::read(&log).unwrap_or_default();
        let end = last_lines(&String::from_utf8_lossy(&said), 8);
        bail!("the build failed ({status}):\n{end}\nall of it: {}", log.display());
    }
    Ok(())
}

/// The compiler, or a script that compiles with one driver and links with the other.
fn compiler_command(recipe: &Recipe, language: Language, out: &Path) -> Result<String> {
    let compiler = recipe.toolchain.compiler(language)?;
    let Some(linker) = recipe.toolchain.linker(language)? else {
        return match &recipe.link_orders {
            Some(orders) => link_orders_driver(&compiler, orders, language, out),
            None => Ok(compiler.command()),
        };
    };
    if language == Language::Fortran {
        bail!(
            "the libraries of one Fortran compiler are not those of another: no --link-cc with \
             Fortran"
        );
    }
    split_driver(&compiler, &linker, language, out)
}

/// A script that links the program again in other orders.
fn link_orders_driver(
    compiler: &Compiler,
    orders: &LinkOrders,
    language: Language,
    out: &Path,
) -> Result<String> {
    let folder = out.join(ORDERS);
    let text = format!(
        "#!/bin/sh\nexec {} {} {} {} {} \"$@\"\n",
        quoted(&orders.script.display().to_string()),
        orders.number,
        quoted(&folder.display().to_string()),
        quoted(&orders.of),
        compiler.command()
    );
    driver_script(&out.join(format!("order-{}", language.name().to_lowercase())), &text)
}

fn driver_script(path: &Path, text: &str) -> Result<String> {
    fs::write(path, text).with_context(|| format!("cannot write {}", path.display()))?;
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    fs::set_permissions(path, mode).context("cannot make a script executable")?;
    Ok(path.display().to_string())
}

fn split_driver(
    compiler: &Compiler,
    linker: &Compiler,
    language: Language,
    out: &Path,
) -> Result<String> {
    let script = out.join(format!("split-{}", language.name().to_lowercase()));
    let split = std::env::var("SZC_SPLIT_CC")
        .context("--link-cc needs split-cc.sh: run this by spec-scripts/suite.sh")?;
    let text = format!(
        "#!/bin/sh\nCOMPILE_CC=\"{}\" LINK_CC=\"{}\" exec \"{split}\" \"$@\"\n",
        compiler.command(),
        linker.command()
    );
    driver_script(&script, &text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn make_takes_part_in_the_jobserver_and_gives_back_what_it_took() {
        let jobserver = Client::new(3).unwrap();
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("Makefile"), "all: a b c d\na b c d:\n\t@echo $@\n").unwrap();
        for _ in 0..5 {
            let _place = jobserver.acquire().unwrap();
            let mut make = Command::new("make");
            jobserver.configure_make(&mut make);
            let output = make.current_dir(folder.path()).output().unwrap();
            assert!(output.status.success());
            let said = String::from_utf8_lossy(&output.stderr).into_owned();
            assert!(!said.contains("jobserver"), "{said}");
            let mut made: Vec<u8> = output.stdout;
            made.retain(u8::is_ascii_lowercase);
            made.sort_unstable();
            assert_eq!(made, b"abcd");
        }
    }
}
