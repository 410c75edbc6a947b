//! Which linker a link takes: the one that clang takes, unless the link has to generate code; and
//! how linkers differ.
//!
//! A program must link as it does with clang, and linkers differ in what they refuse, drop and
//! search. So szc chooses one only for link-time optimization, where its pass runs inside lld.

use super::args::Invocation;
use super::compile::command;
use super::facts::Facts;
use super::parts::Clang;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::process::{Command, Stdio};

/// Who chose the linker.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Linker {
    /// The user or clang.
    Clangs,
    /// szc: lld, which loads the pass.
    Lld,
}

impl Linker {
    /// Who chooses it for this link.
    pub(super) fn of(facts: &Facts) -> Self {
        if facts.chosen_linker.is_none() && facts.links_bitcode() {
            Self::Lld
        } else {
            Self::Clangs
        }
    }

    /// Arguments in front of the user's, which may say otherwise.
    ///
    /// # Errors
    /// There is no lld.
    pub(super) fn args(self, clang: &Clang) -> anyhow::Result<Vec<OsString>> {
        if self == Self::Clangs {
            return Ok(Vec::new());
        }
        let mut path = OsString::from("--ld-path=");
        path.push(clang.find_lld()?);
        // An invocation may turn out to link nothing (a missing input, say); then clang would
        // warn of every argument here, and -Werror would make that an error.
        let mut args = vec!["--start-no-unused-arguments".into(), "-fuse-ld=lld".into(), path];
        args.extend(AS_GNU_LD.iter().map(OsString::from));
        args.push("--end-no-unused-arguments".into());
        Ok(args)
    }

    /// Whether it is LLVM's, as far as its name says.
    pub(super) fn is_lld(self, facts: &Facts) -> bool {
        self == Self::Lld || Flavor::named(facts) == Some(Flavor::Lld)
    }
}

/// What lld must not refuse or drop where GNU ld does not.
const AS_GNU_LD: [&str; 4] = [
    // Sections that `__start_…` and `__stop_…` enclose are kept.
    "-Wl,-z,nostart-stop-gc",
    // A version script may name what is not there.
    "-Wl,--undefined-version",
    // What a library lacks may be in one that another library needs.
    "-Wl,--allow-shlib-undefined",
    // Relocations of code are worth a warning at most.
    "-Wl,-z,notext",
];

/// Which of the linkers one is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Flavor {
    Gnu,
    Gold,
    Lld,
    Mold,
}

impl Flavor {
    /// As far as the name of the user's choice says.
    fn named(facts: &Facts) -> Option<Self> {
        let name = Path::new(facts.chosen_linker.as_ref()?).file_name()?.as_bytes();
        let has = |part: &[u8]| name.windows(part.len()).any(|window| window == part);
        if has(b"lld") {
            Some(Self::Lld)
        } else if has(b"mold") {
            Some(Self::Mold)
        } else if has(b"gold") {
            Some(Self::Gold)
        } else {
            has(b"bfd").then_some(Self::Gnu)
        }
    }

    /// The linker that a link takes, which is asked for its version if its name does not tell.
    pub(super) fn of(clang: &Clang, invocation: &Invocation, linker: Linker) -> Option<Self> {
        if linker == Linker::Lld {
            return Some(Self::Lld);
        }
        if let Some(flavor) = Self::named(&invocation.facts) {
            return Some(flavor);
        }
        let mut args = invocation.for_clang(&[]);
        args.insert(0, "-###".into());
        let shown = command(clang, &args).stdin(Stdio::null()).output().ok()?;
        let path = program_of_last_command(&shown.stderr)?;
        let answer = Command::new(OsStr::from_bytes(path)).arg("--version").output().ok()?;
        Self::from_version(&answer.stdout)
    }

    /// From what a linker says of its version.
    fn from_version(text: &[u8]) -> Option<Self> {
        let line = String::from_utf8_lossy(text.split(|&byte| byte == b'\n').next()?);
        // lld and mold call themselves compatible with GNU ld.
        if line.contains("LLD") {
            Some(Self::Lld)
        } else if line.starts_with("mold") {
            Some(Self::Mold)
        } else if line.starts_with("GNU gold") {
            Some(Self::Gold)
        } else {
            line.starts_with("GNU ld").then_some(Self::Gnu)
        }
    }
}

/// The program in the last line that `-###` shows: ` "/usr/bin/ld" "--eh-frame-hdr" …`.
fn program_of_last_command(shown: &[u8]) -> Option<&[u8]> {
    let lines = shown.split(|&byte| byte == b'\n');
    let line = lines.rev().find_map(|line| line.strip_prefix(b" \""))?;
    line.split(|&byte| byte == b'"').next()
}

#[cfg(test)]
mod tests {
    use super::super::args::facts;
    use super::*;

    #[test]
    fn szc_chooses_a_linker_only_where_it_generates_code() {
        for (line, linker) in [
            ("x.c", Linker::Clangs),
            ("-flto x.c", Linker::Lld),
            ("-flto=thin x.c", Linker::Lld),
            ("-flto -fno-lto x.c", Linker::Clangs),
            ("-flto -fuse-ld=gold x.c", Linker::Clangs),
            ("-flto --ld-path=/opt/ld x.c", Linker::Clangs),
        ] {
            assert_eq!(Linker::of(&facts(line)), linker, "{line}");
        }
    }

    #[test]
    fn an_object_of_intermediate_code_asks_for_lld_too() {
        let dir = tempfile::tempdir().expect("a temporary directory");
        for (text, linker) in [("BC\u{C0}", Linker::Clangs), ("\u{7f}ELF", Linker::Clangs)] {
            let path = dir.path().join("x.o");
            std::fs::write(&path, text).expect("writable");
            assert_eq!(Linker::of(&facts(&path.to_string_lossy())), linker);
        }
        let path = dir.path().join("x.o");
        std::fs::write(&path, b"BC\xC0\xDE and more").expect("writable");
        assert_eq!(Linker::of(&facts(&path.to_string_lossy())), Linker::Lld);
    }

    #[test]
    fn lld_is_recognized_by_its_name() {
        for (line, lld) in [
            ("x.c", false),
            ("-flto x.c", true),
            ("-fuse-ld=lld x.c", true),
            ("-fuse-ld=/usr/lib/llvm-22/bin/ld.lld x.c", true),
            ("--ld-path=/opt/lld/ld x.c", false),
            ("-fuse-ld=lld -fuse-ld=mold x.c", false),
            ("-fuse-ld=bfd x.c", false),
        ] {
            let facts = facts(line);
            assert_eq!(Linker::of(&facts).is_lld(&facts), lld, "{line}");
        }
    }

    #[test]
    fn linkers_tell_their_flavor_by_their_version() {
        for (line, flavor) in [
            ("GNU ld (GNU Binutils for Debian) 2.40", Some(Flavor::Gnu)),
            ("GNU gold (GNU Binutils for Debian 2.40) 1.16", Some(Flavor::Gold)),
            ("Debian LLD 22.1.8 (compatible with GNU linkers)", Some(Flavor::Lld)),
            ("mold 1.10.1 (compatible with GNU ld)", Some(Flavor::Mold)),
            ("another", None),
        ] {
            assert_eq!(Flavor::from_version(format!("{line}\n").as_bytes()), flavor, "{line}");
        }
        let shown = b"clang\n \"/usr/bin/clang\" \"-cc1\"\n \"/usr/bin/ld\" \"-o\" \"x\"\n";
        assert_eq!(program_of_last_command(shown), Some(&b"/usr/bin/ld"[..]));
    }
}
