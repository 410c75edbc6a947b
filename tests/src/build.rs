//! Builds a program by szc, and by the compiler that szc stands for with the same arguments.

use crate::directives::{Compiler, Program, Variant};
use crate::tools::{szc, szcxx};
use std::ffi::{OsStr, OsString};
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

/// Builds a program both ways, see [`build_plain`] and [`build_moving`].
///
/// # Errors
/// The command that failed and what it said.
pub fn build(
    program: &Program,
    variant: &Variant,
    args: &[&str],
    directory: &Path,
) -> Result<Builds, String> {
    let plain = build_plain(program, variant, directory)?;
    Ok(Builds { plain, moving: build_moving(program, variant, args, directory)? })
}

/// Builds `program` in `directory` as `variant` says, and its libraries with it, by the plain
/// compiler.
///
/// # Errors
/// The command that failed and what it said.
pub fn build_plain(
    program: &Program,
    variant: &Variant,
    directory: &Path,
) -> Result<PathBuf, String> {
    let image = directory.join("plain");
    let tools = plain_tools(program, variant);
    build_with(&tools, &tools, program, variant, &image)?;
    Ok(image)
}

/// As [`build_plain`], but by szc, which gets `args` of its own in front.
///
/// # Errors
/// The command that failed and what it said.
pub fn build_moving(
    program: &Program,
    variant: &Variant,
    args: &[&str],
    directory: &Path,
) -> Result<PathBuf, String> {
    let image = directory.join("moving");
    let szc = if program.is_cxx() { szcxx() } else { szc() };
    let plain = plain_tools(program, variant);
    let compiler = match variant.compiler {
        Compiler::Szc => szc.as_os_str(),
        Compiler::Gcc => plain.compiler,
    };
    let tools = Tools { compiler, linker: szc.as_os_str(), first: args };
    build_with(&tools, &plain, program, variant, &image)?;
    Ok(image)
}

/// The compiler that szc stands for.
fn plain_tools(program: &Program, variant: &Variant) -> Tools<'static> {
    let compiler = OsStr::new(match (variant.compiler, program.is_cxx()) {
        (Compiler::Szc, false) => "clang-22",
        (Compiler::Szc, true) => "clang++-22",
        (Compiler::Gcc, false) => "gcc",
        (Compiler::Gcc, true) => "g++",
    });
    // For link-time optimization GNU ld needs a plugin that not every system has; a linker named by
    // the variant comes later and counts.
    let lto = variant.args.iter().any(|word| word.starts_with("-flto"));
    let first: &[&str] =
        if lto && variant.compiler == Compiler::Szc { &["-fuse-ld=lld"] } else { &[] };
    Tools { compiler, linker: compiler, first }
}

/// Who compiles and who links.
struct Tools<'a> {
    compiler: &'a OsStr,
    linker: &'a OsStr,
    /// Words of the linker's in front of all others.
    first: &'a [&'a str],
}

impl Tools<'_> {
    /// Makes an image of sources: in one step if the compiler links, too.
    fn make(&self, sources: &[&Path], args: &[OsString], image: &Path) -> Result<(), String> {
        let mut inputs: Vec<PathBuf> = sources.iter().map(|&source| source.to_owned()).collect();
        if self.compiler != self.linker {
            for (index, input) in inputs.iter_mut().enumerate() {
                let mut name = image.as_os_str().to_owned();
                name.push(format!(".{index}.o"));
                let object = PathBuf::from(name);
                let mut command = Command::new(self.compiler);
                run(command.arg("-c").arg(&*input).args(args).arg("-o").arg(&object))?;
                *input = object;
            }
        }
        let mut command = Command::new(self.linker);
        run(command.args(self.first).args(inputs).args(args).arg("-o").arg(image))
    }
}

/// `plain`: who builds libraries that szc is not to build.
fn build_with(
    tools: &Tools<'_>,
    plain: &Tools<'_>,
    program: &Program,
    variant: &Variant,
    image: &Path,
) -> Result<(), String> {
    let args: Vec<OsString> = variant.args.iter().map(OsString::from).collect();
    let mut linked = Vec::new();
    if !program.libraries.is_empty() {
        let folder = image.with_extension("libraries");
        std::fs::create_dir(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
        // Programs that open a library by its name find it here as well.
        let mut path = OsString::from("-Wl,-rpath,");
        path.push(&folder);
        linked.push(path);
        for library in &program.libraries {
            let file = folder.join(library.file_name());
            let mut own = args.clone();
            own.extend(["-shared".into(), "-fPIC".into()]);
            own.push(format!("-Wl,-soname,{}", library.file_name().display()).into());
            own.extend(library.args.iter().map(OsString::from));
            own.extend(linked.iter().cloned());
            let tools = if library.plain { plain } else { tools };
            tools.make(&[&library.source], &own, &file)?;
            if variant.strip {
                run(Command::new("strip").arg("-s").arg(&file))?;
            }
            if library.linked {
                linked.push(file.into_os_string());
            }
        }
    }
    let sources: Vec<&Path> =
        std::iter::once(&program.source).chain(&program.with).map(PathBuf::as_path).collect();
    let args: Vec<OsString> = linked.into_iter().chain(args).collect();
    tools.make(&sources, &args, image)?;
    if variant.strip {
        run(Command::new("strip").arg("-s").arg(image))?;
    }
    Ok(())
}

/// Builds one source by szc, for tests that bring their own.
///
/// # Panics
/// When szc fails; with what it said.
#[must_use]
pub fn moving(source: &Path, args: &[&str], directory: &Path) -> PathBuf {
    compiled_by(szc().as_os_str(), source, args, directory)
}

/// Builds one source by clang alone.
///
/// # Panics
/// When clang fails; with what it said.
#[must_use]
pub fn plain(source: &Path, args: &[&str], directory: &Path) -> PathBuf {
    compiled_by("clang-22".as_ref(), source, args, directory)
}

fn compiled_by(driver: &OsStr, source: &Path, args: &[&str], directory: &Path) -> PathBuf {
    let name = Path::new(driver).file_name().expect("a driver has a name").to_string_lossy();
    let image = directory.join(format!("built by {name}"));
    let mut command = Command::new(driver);
    run(command.arg(source).args(args).arg("-o").arg(&image)).unwrap_or_else(|e| panic!("{e}"));
    image
}

/// Runs a build command without what the environment says about szc.
fn run(command: &mut Command) -> Result<(), String> {
    command.env_remove("SZC_BUILD").env_remove("SZC_CLANG");
    let output = command.output().map_err(|error| {
        format!(
            "{command:?} does not start ({error}); \
             spec-scripts/setup.sh --tests installs what the tests need"
        )
    })?;
    if output.status.success() {
        return Ok(());
    }
    Err(format!("{command:?}: {}\n{}", output.status, String::from_utf8_lossy(&output.stderr)))
}
