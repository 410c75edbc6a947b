//! The second role: rustc, with szc as the linker of what cargo builds for the user.
//!
//! Build scripts and macros run while cargo builds and are none of that.
#![forbid(unsafe_code)]

use std::env;
use std::ffi::{OsStr, OsString};
use std::io::{self, Write};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::UNIX_EPOCH;

use crate::error::{Class, report};
use crate::version;

/// Tells this role what to add. (Compiler caches read the variables of cargo, so that objects of
/// the one kind and the other do not pass for each other.)
const MODE: &str = "CARGO_SZC";
/// Names the compiler to become.
const RUSTC: &str = "CARGO_SZC_RUSTC";

const TARGET: &str = "x86_64-unknown-linux-gnu";

/// Where code of the program is generated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    /// By rustc; frames get no pads, since rustc does not load the pass.
    Objects,
    /// By lld, with the pass.
    Bitcode,
}

/// The variables that make cargo take `own`, a program of this name, for its compiler.
pub(super) fn variables(pads: bool, own: &Path) -> Vec<(&'static str, OsString)> {
    let usual = |name: &str| env::var_os(name).filter(|value| !value.is_empty());
    // Where a build script runs cargo, the first one knows who rustc is.
    let rustc = usual(RUSTC).or_else(|| usual("RUSTC")).unwrap_or_else(|| "rustc".into());
    let mode = if pads { "pads" } else { "moves" };
    vec![("RUSTC", own.into()), (RUSTC, rustc), (MODE, mode.into())]
}

/// Whether cargo runs this program as its compiler.
pub(super) fn is_role() -> bool {
    env::var_os(RUSTC).is_some()
}

/// Becomes rustc.
pub(super) fn run(args: &[OsString]) -> ExitCode {
    let rustc = env::var_os(RUSTC).unwrap_or_default();
    let mode = match env::var_os(MODE) {
        Some(mode) if mode == "pads" => Mode::Bitcode,
        _ => Mode::Objects,
    };
    let linker = match env::current_exe() {
        Ok(linker) => linker,
        Err(error) => return report(Class::Failed, format_args!("szc's own program: {error}")),
    };
    let mut command = Command::new(&rustc);
    command.args(args).args(additions(args, mode, &linker));
    let error = match args {
        [word] if word == "-vV" => match command.output() {
            Ok(output) => return versions(&output, &linker),
            Err(error) => error,
        },
        _ => command.exec(),
    };
    report(Class::Failed, format_args!("cannot run the compiler {}: {error}", rustc.display()))
}

/// rustc's answer about itself, and a line of ours: cargo builds anew when the answer changes.
fn versions(output: &std::process::Output, own: &Path) -> ExitCode {
    let changed = own.metadata().and_then(|found| found.modified()).ok();
    let seconds = changed.and_then(|time| time.duration_since(UNIX_EPOCH).ok());
    let line = format!("szc: {} {}\n", version::words(), seconds.unwrap_or_default().as_secs());
    let text = [&output.stdout[..], line.as_bytes()].concat();
    let written = io::stdout().write_all(&text).and(io::stderr().write_all(&output.stderr));
    match (written, output.status.code().and_then(|code| u8::try_from(code).ok())) {
        (Ok(()), Some(code)) => code.into(),
        _ => ExitCode::FAILURE,
    }
}

/// What is added to a compilation.
fn additions(args: &[OsString], mode: Mode, szc: &Path) -> Vec<OsString> {
    let asks = |arg: &OsString| arg.as_encoded_bytes().starts_with(b"--print") || arg == "-vV";
    let compiles = args.iter().any(|arg| arg == "--crate-name") && !args.iter().any(asks);
    let elsewhere = value_of(args, "--target").is_some_and(|target| target != TARGET);
    if !compiles || elsewhere {
        return Vec::new();
    }
    let mut linker = OsString::from("-Clinker=");
    linker.push(PathBuf::from(szc));
    match mode {
        Mode::Objects if is_for_the_build(args) => Vec::new(),
        Mode::Objects => vec![linker],
        // What scripts and macros use may be bitcode, too.
        Mode::Bitcode => vec![linker, "-Clinker-plugin-lto".into()],
    }
}

/// A build script or a macro.
fn is_for_the_build(args: &[OsString]) -> bool {
    let name = value_of(args, "--crate-name").unwrap_or_default();
    name.as_encoded_bytes().starts_with(b"build_script_")
        || value_of(args, "--crate-type").is_some_and(|kind| kind == "proc-macro")
}

fn value_of<'a>(args: &'a [OsString], option: &str) -> Option<&'a OsStr> {
    let place = args.iter().position(|arg| arg == option)?;
    args.get(place + 1).map(OsString::as_os_str)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn added(line: &str, mode: Mode) -> String {
        let args: Vec<OsString> = line.split(' ').map(OsString::from).collect();
        let added = additions(&args, mode, Path::new("/a b/szc"));
        added.join(OsStr::new(" ")).into_string().expect("text")
    }

    #[test]
    fn programs_and_libraries_of_this_machine_are_linked_by_szc() {
        for line in [
            "--crate-name x src/main.rs --crate-type bin -Clinker=clang",
            "--crate-name x src/lib.rs --crate-type cdylib --target x86_64-unknown-linux-gnu",
            "--crate-name x benches/x.rs --test",
        ] {
            assert_eq!(added(line, Mode::Objects), "-Clinker=/a b/szc", "{line}");
        }
    }

    #[test]
    fn what_only_builds_or_asks_or_is_for_another_machine_is_left_alone() {
        for line in [
            "--crate-name build_script_build build.rs --crate-type bin",
            "--crate-name serde_derive src/lib.rs --crate-type proc-macro",
            "--crate-name x src/main.rs --crate-type bin --target wasm32-unknown-unknown",
            "- --crate-name ___ --print=file-names --crate-type bin",
            "-vV",
        ] {
            assert_eq!(added(line, Mode::Objects), "", "{line}");
        }
    }

    #[test]
    fn with_pads_everything_is_bitcode_that_szc_links() {
        let line = "--crate-name build_script_build build.rs --crate-type bin";
        assert_eq!(added(line, Mode::Bitcode), "-Clinker=/a b/szc -Clinker-plugin-lto");
        let line = "--crate-name x src/main.rs --target wasm32-unknown-unknown";
        assert_eq!(added(line, Mode::Bitcode), "");
    }
}
