//! Which unwinder leads the exceptions of an image, and how its questions come to the runtime.
//!
//! What the command line says is a guess: libraries and archives may bring one along. So the image
//! is asked, too.

use super::facts::{Facts, OTHER_UNWINDER};
use anyhow::{Context, Result, bail};
use object::{Object as _, ObjectSymbol as _};
use std::fs;
use std::path::Path;
use szc_table::read::without_version;

/// What every unwinder defines, whatever the programming language.
const RAISE: &[u8] = b"_Unwind_RaiseException";

/// What only those called libunwind define.
const STEPS: [&[u8]; 2] = [b"unw_step", b"__unw_step"];

/// Where the unwinder lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unwinder {
    /// In a shared library.
    Shared,
    /// In the program.
    Own,
}

impl Unwinder {
    /// Where the command line says it is. With a shared C++ library the one in use is shared,
    /// whatever `-static-libgcc` says.
    pub(super) fn expected(facts: &Facts) -> Self {
        if facts.fully_static || (facts.static_support && facts.static_cxx) {
            Self::Own
        } else {
            Self::Shared
        }
    }

    /// Arguments of the link that put the runtime's search for unwind information before the
    /// unwinder's.
    pub(super) fn args(self) -> &'static [&'static str] {
        match self {
            // A shared one finds the symbol in the program.
            Self::Shared => &[
                "-Wl,--defsym=_Unwind_Find_FDE=szc_rt_find_fde",
                "-Wl,--export-dynamic-symbol=_Unwind_Find_FDE",
            ],
            // The search of one inside the program has to stay reachable. Linkers but lld take it
            // out of its archive only if somebody asks for it by name, and the unwinder asks for
            // what it is wrapped in.
            Self::Own => &[
                "-Wl,-u,_Unwind_Find_FDE",
                "-Wl,--wrap=_Unwind_Find_FDE",
                "-Wl,--defsym=__wrap__Unwind_Find_FDE=szc_rt_find_fde",
            ],
        }
    }

    /// Where a linked program has it: inside, if it defines one.
    ///
    /// # Errors
    /// The program cannot be read, or has one inside that finds no copies.
    pub(super) fn of_image(image: &Path) -> Result<Self> {
        let data = fs::read(image).with_context(|| format!("cannot read {}", image.display()))?;
        let file = object::File::parse(&*data)
            .with_context(|| format!("cannot read {}", image.display()))?;
        let defines = |names: &[&[u8]]| {
            file.symbols().any(|symbol| {
                let is_it = |name| names.contains(&without_version(name));
                symbol.is_definition() && symbol.name_bytes().is_ok_and(is_it)
            })
        };
        if !defines(&[RAISE]) {
            return Ok(Self::Shared);
        }
        if defines(&STEPS) {
            bail!(
                "{}: has a libunwind inside, which cannot pass moved functions; link a shared one, \
                 or libgcc's (--unwindlib=libgcc), or build without -Rcode (-Rheap)",
                image.display()
            );
        }
        Ok(Self::Own)
    }
}

/// Why exceptions could not pass moved functions of a C++ image, and what to do about it, if so.
///
/// A static unwinder makes its symbols local to the image. In a program it hides the shared one,
/// which the shared C++ library brings along; in a library it would have to find the program's
/// runtime.
pub(super) fn obstacle(facts: &Facts) -> Option<&'static str> {
    if !facts.static_support || facts.fully_static {
        None
    } else if facts.shared {
        Some(
            "with -static-libgcc a library's exceptions could not pass moved functions; \
             leave it out",
        )
    } else if !facts.static_cxx {
        Some(
            "with -static-libgcc and a shared C++ library exceptions could not pass moved \
             functions; add -static-libstdc++",
        )
    } else {
        None
    }
}

/// Whether a libunwind is linked into the image, where nothing leads its questions to the runtime.
pub(super) fn links_libunwind(facts: &Facts) -> bool {
    let is_named = match facts.unwinder.as_deref() {
        Some(name) => name == OTHER_UNWINDER,
        None => facts.support_library.as_deref() == Some("compiler-rt"),
    };
    let links_archives = facts.static_libraries || facts.static_support;
    facts.linker.named.other_archive || is_named && links_archives
}
