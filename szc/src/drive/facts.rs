//! What a command line says about the work to do, and what the libraries that it names say.

use super::image::begins_with;
use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

/// Name of LLVM's unwinder, and of an older one, nongnu.org's. The runtime finds out whether a
/// shared one asks it.
pub(super) const OTHER_UNWINDER: &str = "libunwind";

/// The archive of that unwinder.
pub(super) const OTHER_UNWINDER_ARCHIVE: &[u8] = b"libunwind.a";

/// What to strip, as the linker options say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Strip {
    /// `-s`: all symbols that are not needed to load the image.
    All,
    /// `-S`: debug information.
    Debug,
}

/// What a command line says about the work to do.
#[derive(Debug, Default)]
pub struct Facts {
    /// Input files, `-` among them.
    pub files: Vec<PathBuf>,
    /// How many `-l` options there are.
    pub libraries: usize,
    /// Inputs that are headers, which clang precompiles instead of linking.
    pub headers: usize,
    /// There are arguments for the linker alone, which clang counts as inputs of a link.
    pub has_linker_args: bool,
    /// Names of files are relative to another directory than this process's.
    pub is_elsewhere: bool,
    /// Ends before the link.
    pub stops_early: bool,
    /// Asks something and does nothing else, or lacks the value of its last option.
    pub only_asks: bool,
    /// `-###`.
    pub dry_run: bool,
    /// `-v`.
    pub verbose: bool,
    /// The image is a shared library.
    pub shared: bool,
    /// Libraries are linked statically, some at least.
    pub static_libraries: bool,
    /// All libraries are linked statically.
    pub fully_static: bool,
    /// The compiler's support library, with the unwinder, is linked statically.
    pub static_support: bool,
    /// The C++ library is linked statically.
    pub static_cxx: bool,
    /// The unwinder, if named: by an option or as a library.
    pub unwinder: Option<String>,
    /// The compiler's support library, if named; the unwinder comes with it.
    pub support_library: Option<String>,
    /// The link makes an object file.
    pub relocatable: bool,
    /// No start files.
    pub no_start_files: bool,
    /// No default libraries.
    pub no_default_libs: bool,
    /// `-lc` is given by name.
    pub names_libc: bool,
    /// The linker that the user chose: a name or a path.
    pub chosen_linker: Option<OsString>,
    /// The linker generates code.
    pub lto: bool,
    /// Where the image goes, if not to `a.out`.
    pub output: Option<PathBuf>,
    /// The target triple, if named.
    pub target: Option<String>,
    /// Code for a mode with narrower pointers than the 64-bit one.
    pub narrow: bool,
    /// The code model, if named.
    pub code_model: Option<String>,
    /// Code for accelerators is linked too.
    pub offload: bool,
    /// `--driver-mode`, if given.
    pub driver_mode: Option<String>,
    /// Sanitizers in effect at the end of the line.
    pub sanitizers: BTreeSet<String>,
    /// What the arguments for the linker alone say.
    pub linker: LinkerFacts,
}

/// What the arguments for the linker alone say, and those that clang passes on to it.
#[derive(Debug, Default)]
pub struct LinkerFacts {
    /// Where the image goes, whatever clang's own `-o` says.
    pub output: Option<OsString>,
    /// Taken out of the link, to be carried out on the image.
    pub strip: Option<Strip>,
    /// The link makes an object file.
    pub relocatable: bool,
    /// The image is a shared library.
    pub shared: bool,
    /// Libraries are linked statically, some at least.
    pub static_libraries: bool,
    /// A file says what the image exports.
    pub hides_symbols: bool,
    /// Those of them that are version scripts.
    pub version_scripts: Vec<OsString>,
    /// The image shall have no section headers.
    pub no_section_headers: bool,
    /// The linker's own `-O`, if given.
    pub effort: Option<u32>,
    /// What its libraries say.
    pub named: NamedLibraries,
}

impl Facts {
    /// Whether the linker will run.
    #[must_use]
    pub fn links(&self) -> bool {
        let inputs = self.files.len() + self.libraries;
        // `-Wl,--version` alone asks the linker that would be used for its name.
        let only_for_linker = inputs == 0 && self.has_linker_args;
        !self.stops_early && !self.only_asks && (inputs > self.headers || only_for_linker)
    }

    /// Whether the linker will make a program or a shared library.
    #[must_use]
    pub fn makes_image(&self) -> bool {
        self.links() && !self.relocatable
    }

    /// Whether the linker has to generate code of what it gets.
    #[must_use]
    pub fn links_bitcode(&self) -> bool {
        self.lto || self.files.iter().any(|file| is_bitcode_object(file))
    }

    /// The file that the linker makes.
    #[must_use]
    pub fn image(&self) -> &Path {
        self.output.as_deref().unwrap_or(Path::new("a.out"))
    }

    /// Whether an input can be read but once.
    #[must_use]
    pub fn reads_stdin(&self) -> bool {
        self.files.iter().any(|file| file.as_os_str() == "-")
    }

    /// Whether clang will not find one of its inputs, and so do nothing.
    #[must_use]
    pub fn lacks_a_file(&self) -> bool {
        !self.is_elsewhere
            && self.files.iter().any(|file| file.as_os_str() != "-" && !file.exists())
    }

    /// Turns sanitizers on or off.
    pub(super) fn sanitize(&mut self, on: bool, names: &str) {
        for name in names.split(',') {
            match (on, name) {
                (true, name) => {
                    self.sanitizers.insert(name.to_owned());
                }
                (false, "all") => self.sanitizers.clear(),
                (false, name) => {
                    self.sanitizers.remove(name);
                }
            }
        }
    }
}

/// What the libraries that are named say about the unwinder and the C++ library.
#[derive(Debug, Default)]
pub struct NamedLibraries {
    /// libgcc's unwinder is linked statically.
    pub unwinder_inside: bool,
    /// An archive of libunwind is.
    pub other_archive: bool,
    /// `-lunwind`.
    pub other: bool,
    /// The C++ library is linked statically.
    pub cxx_inside: bool,
    /// The C++ library is named, and may be a shared one.
    pub cxx_shared: bool,
}

impl NamedLibraries {
    /// The value of `-l`, where only archives count or shared libraries, too.
    pub(super) fn library(&mut self, name: &[u8], only_archives: bool) {
        match name {
            [b':', file @ ..] => self.file(file),
            b"gcc_eh" => self.unwinder_inside = true,
            b"unwind" => self.other = true,
            b"stdc++" if only_archives => self.cxx_inside = true,
            b"stdc++" => self.cxx_shared = true,
            _ => {}
        }
    }

    /// An input file.
    pub(super) fn file(&mut self, path: &[u8]) {
        match path.rsplit(|&byte| byte == b'/').next().unwrap_or(path) {
            b"libgcc_eh.a" => self.unwinder_inside = true,
            b"libstdc++.a" => self.cxx_inside = true,
            OTHER_UNWINDER_ARCHIVE => self.other_archive = true,
            name if name.starts_with(b"libstdc++.so") => self.cxx_shared = true,
            _ => {}
        }
    }
}

/// An object file in name that holds LLVM's intermediate code.
fn is_bitcode_object(path: &Path) -> bool {
    path.extension() == Some(OsStr::new("o")) && begins_with(path, *b"BC\xC0\xDE")
}
