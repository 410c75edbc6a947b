//! Test programs say in their own comments how to build them and what must come out.
//!
//! ```text
//! //#Variants: -O2 | gcc -O2 | -O2 then-strip    builds; default: -O2
//! //#Flags: -pthread                             added to every build
//! //#With: helper.s                              more sources, from the same directory
//! //#Library: a.c -Wl,-z,now                     a.so, linked to the program, with these args;
//!                                                $HERE is the source's directory
//! //#PlainLibrary: a.c                           the same, but szc does not build it
//! //#Plugin: b.c                                 b.so, which the program opens by that name
//! //#Exit: 3          //#Signal: 11              how it ends; default: exit code 0
//! //#Movable: 5       //#Epochs: 10              least numbers in the log at 1 ms; default: 1, 1
//! //#Attached: 2                                 least number of libraries in the log; default: 0
//! //#LogLost                                     the program ends without writing a log
//! //#    -O3 | gcc -O3                           goes on where the line before ends
//! ```
//!
//! In the long form of the tests programs are compiled with `-DLONG`, and some do more then.

use std::fs;
use std::path::{Path, PathBuf};

/// How a program ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// By an exit code.
    Code(i32),
    /// By a signal.
    Signal(i32),
    /// Not within the time that a test allows.
    TimedOut,
}

/// Who makes the object files of a build.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Compiler {
    /// szc itself.
    Szc,
    /// gcc; szc only links.
    Gcc,
}

/// One way to build a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Variant {
    /// As it stands in the directive.
    pub text: String,
    /// Who compiles.
    pub compiler: Compiler,
    /// Arguments for compiling and linking.
    pub args: Vec<String>,
    /// Strip all symbols from the finished image.
    pub strip: bool,
}

impl Variant {
    /// Whether the compiler optimizes.
    #[must_use]
    pub fn is_optimized(&self) -> bool {
        self.args.iter().any(|arg| arg.starts_with("-O") && arg != "-O0")
    }
}

/// A shared library that is built beside a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Library {
    /// Its only source.
    pub source: PathBuf,
    /// Arguments for this library alone.
    pub args: Vec<String>,
    /// The program is linked to it.
    pub linked: bool,
    /// The plain compiler builds it for both programs.
    pub plain: bool,
}

impl Library {
    /// `a.so` for `a.c`.
    #[must_use]
    pub fn file_name(&self) -> PathBuf {
        let name = self.source.file_name().expect("a source has a name");
        Path::new(name).with_extension("so")
    }

    fn read(value: &str, source: &Path, linked: bool) -> Result<Self, String> {
        let here = source.parent().unwrap_or(Path::new(".")).display().to_string();
        let mut args = value.split_whitespace().map(|word| word.replace("$HERE", &here));
        let name = args.next().ok_or("a library needs a source")?;
        let source = source.with_file_name(name);
        Ok(Self { source, args: args.collect(), linked, plain: false })
    }
}

/// A test program.
#[derive(Clone, Debug)]
pub struct Program {
    /// Main source.
    pub source: PathBuf,
    /// More sources.
    pub with: Vec<PathBuf>,
    /// Shared libraries, in the order of their building: a later one can be linked to those before.
    pub libraries: Vec<Library>,
    /// Ways to build it.
    pub variants: Vec<Variant>,
    /// How it ends.
    pub ending: Ending,
    /// Least number of movable functions.
    pub movable: u64,
    /// Least number of epochs at 1 ms.
    pub epochs: u64,
    /// Least number of libraries that are attached, if code or stack is randomized.
    pub attached: u64,
    /// The runtime has no chance to write its log.
    pub log_lost: bool,
}

impl Program {
    /// Reads the directives of a source; nothing if it has none.
    ///
    /// # Errors
    /// A sentence about the directive that has no meaning.
    pub fn read(source: &Path) -> Result<Option<Self>, String> {
        let text = fs::read(source).map_err(|error| format!("{}: {error}", source.display()))?;
        parse(source, &String::from_utf8_lossy(&text))
            .map_err(|error| format!("{}: {error}", source.display()))
    }

    /// All programs below a directory, by path.
    ///
    /// # Errors
    /// As [`Program::read`], or a directory cannot be read.
    pub fn all_below(directory: &Path) -> Result<Vec<Self>, String> {
        let mut found = Vec::new();
        let entries =
            fs::read_dir(directory).map_err(|error| format!("{}: {error}", directory.display()))?;
        let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
        paths.sort();
        for path in paths {
            if path.is_dir() {
                found.extend(Self::all_below(&path)?);
            } else {
                found.extend(Self::read(&path)?);
            }
        }
        Ok(found)
    }

    /// The path from the directory of behaviours on.
    #[must_use]
    pub fn name(&self) -> String {
        let parts: Vec<_> = self.source.components().rev().take(2).collect();
        parts
            .iter()
            .rev()
            .map(|part| part.as_os_str().to_string_lossy())
            .collect::<Vec<_>>()
            .join("/")
    }

    /// Whether a C++ compiler has to build it.
    #[must_use]
    pub fn is_cxx(&self) -> bool {
        self.source.extension().is_some_and(|extension| extension == "cpp")
    }
}

/// The directives of a source, each with the lines that go on with it.
fn directives(text: &str) -> Vec<String> {
    let mut directives: Vec<String> = Vec::new();
    for line in text.lines().filter_map(|line| line.trim_start().strip_prefix("//#")) {
        if line.starts_with(|c: char| c.is_ascii_uppercase()) {
            directives.push(line.to_owned());
        } else if let Some(last) = directives.last_mut().filter(|_| line.starts_with("  ")) {
            last.push(' ');
            last.push_str(line.trim());
        }
    }
    directives
}

fn parse(source: &Path, text: &str) -> Result<Option<Program>, String> {
    let directives = directives(text);
    if directives.is_empty() {
        return Ok(None);
    }
    let mut program = Program {
        source: source.to_path_buf(),
        with: Vec::new(),
        libraries: Vec::new(),
        variants: vec![variant("-O2")],
        ending: Ending::Code(0),
        movable: 1,
        epochs: 1,
        attached: 0,
        log_lost: false,
    };
    let mut flags = Vec::new();
    for directive in &directives {
        let (name, value) = directive.split_once(':').unwrap_or((directive, ""));
        let value = value.trim();
        let number = || value.parse::<i32>().map_err(|_| format!("{name} needs a number"));
        let count = || value.parse::<u64>().map_err(|_| format!("{name} needs a number"));
        match name.trim() {
            "Variants" => program.variants = value.split('|').map(variant).collect(),
            "Flags" => flags.extend(value.split_whitespace().map(str::to_owned)),
            "With" => {
                program.with.extend(value.split_whitespace().map(|n| source.with_file_name(n)));
            }
            "Library" => program.libraries.push(Library::read(value, source, true)?),
            "PlainLibrary" => {
                let library = Library::read(value, source, true)?;
                program.libraries.push(Library { plain: true, ..library });
            }
            "Plugin" => program.libraries.push(Library::read(value, source, false)?),
            "Attached" => program.attached = count()?,
            "Exit" => program.ending = Ending::Code(number()?),
            "Signal" => program.ending = Ending::Signal(number()?),
            "Movable" => program.movable = count()?,
            "Epochs" => program.epochs = count()?,
            "LogLost" => program.log_lost = true,
            other => return Err(format!("no directive is called {other}")),
        }
    }
    for variant in &mut program.variants {
        variant.args.extend(flags.iter().cloned());
    }
    Ok(Some(program))
}

fn variant(text: &str) -> Variant {
    let text = text.trim();
    let mut args: Vec<String> = text.split_whitespace().map(str::to_owned).collect();
    let compiler =
        if args.first().is_some_and(|word| word == "gcc") { Compiler::Gcc } else { Compiler::Szc };
    let strip = args.iter().any(|word| word == "then-strip");
    args.retain(|word| word != "gcc" && word != "then-strip");
    Variant { text: text.to_owned(), compiler, args, strip }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directives_are_read_and_flags_reach_every_variant() {
        let text = "//#Variants: -O0 |\n//#    gcc -O2 then-strip\n  //#Flags: -lm\n//#Signal: 6\n\
             int x; //#Exit\n//#Library: y.c -Wl,-z,now\n//#Plugin: z.c\n";
        let program = parse(Path::new("/a/b/x.c"), text).expect("sound").expect("a program");
        assert_eq!(program.name(), "b/x.c");
        assert_eq!(program.ending, Ending::Signal(6));
        assert_eq!(program.variants[0].args, ["-O0", "-lm"]);
        let [y, z] = &program.libraries[..] else { panic!("two libraries") };
        assert_eq!((y.file_name().to_str(), y.linked), (Some("y.so"), true));
        assert_eq!((y.args.as_slice(), z.linked), (&["-Wl,-z,now".to_owned()][..], false));
        let gcc = &program.variants[1];
        assert_eq!((gcc.compiler, gcc.strip), (Compiler::Gcc, true));
        assert_eq!(gcc.args, ["-O2", "-lm"]);
    }

    #[test]
    fn a_directive_that_does_not_exist_is_an_error() {
        assert!(parse(Path::new("x.c"), "//#Varaints: -O2").is_err());
        assert!(parse(Path::new("x.c"), "//#Exit: one").is_err());
        assert!(parse(Path::new("x.c"), "int main;").expect("sound").is_none());
    }
}
