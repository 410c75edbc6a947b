//! Which of the programs and files that the driver works with are there.

use std::path::PathBuf;

use szc_abi::stack::{PLUGIN, PLUGIN_PATHS, PLUGIN_PER_COPY, PLUGIN_PER_FUNCTION, PLUGIN_RECORDS};

use super::parts::{Clang, LIBRARY_ARCHIVE, Language, RUNTIME_ARCHIVE, find_own};

/// A program or a file that builds need.
#[derive(Debug)]
pub struct Part {
    /// What it is.
    pub name: &'static str,
    /// Whether nothing is randomized without it.
    pub needed: bool,
    /// Where it is; or that it is missing, where it was sought, and what to do.
    pub found: anyhow::Result<PathBuf>,
}

/// Looks for all of them.
#[must_use]
pub fn survey() -> Vec<Part> {
    let clang = || Clang::find(Language::C);
    let needed = |name, found| Part { name, needed: true, found };
    let checked = clang().and_then(|clang| clang.check_release().map(|()| clang.program));
    vec![
        needed("clang", checked),
        needed("llvm-objcopy", clang().and_then(|clang| clang.find_objcopy())),
        Part { name: "lld", needed: false, found: clang().and_then(|clang| clang.find_lld()) },
        Part {
            name: "flang",
            needed: false,
            found: Clang::find(Language::Fortran).map(|flang| flang.program),
        },
        needed("plugin", plugin()),
        needed("runtime", find_own(RUNTIME_ARCHIVE)),
        needed("runtime of libraries", find_own(LIBRARY_ARCHIVE)),
    ]
}

/// The plugin, if it is there by all the names that select its modes.
fn plugin() -> anyhow::Result<PathBuf> {
    for name in [PLUGIN_PER_COPY, PLUGIN_PER_FUNCTION, PLUGIN_RECORDS, PLUGIN_PATHS] {
        find_own(name)?;
    }
    find_own(PLUGIN)
}
