//! One run of clang for a link, and whether szc may be to blame if it fails.
//!
//! What szc adds can make a link fail that clang would finish: a script of the linker's that has no
//! room for the runtime, say. Then clang is asked alone. But most links that fail are those of
//! configure scripts, which want to know whether there is a function or an option; they must not
//! take twice as long nor say more than clang does. So what was said is looked at first, which a
//! terminal cannot give back; there a person waits, not a script.

use super::compile::command;
use super::linker::Linker;
use super::parts::Clang;
use anyhow::Context as _;
use std::ffi::OsString;
use std::fs::File;
use std::io::{IsTerminal as _, Read as _, Seek as _, Write as _};
use std::os::unix::process::ExitStatusExt as _;
use std::process::{ExitCode, ExitStatus, Stdio};

/// A run that has ended.
pub(super) struct Attempt {
    status: ExitStatus,
    /// What it wrote to stderr, if that is not a terminal.
    messages: Option<Vec<u8>>,
}

/// Where stderr goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stderr {
    /// To this process's, at once if that is a terminal, else when told to.
    Forwarded,
    /// Nowhere, unless told to.
    Kept,
}

impl Attempt {
    /// Runs clang with these arguments.
    ///
    /// # Errors
    /// clang cannot be started.
    pub(super) fn run(clang: &Clang, args: &[OsString], stderr: Stderr) -> anyhow::Result<Self> {
        let mut command = command(clang, args);
        let kept = (stderr == Stderr::Kept || !std::io::stderr().is_terminal())
            .then(tempfile::tempfile)
            .and_then(Result::ok);
        if let Some(file) = kept.as_ref().and_then(|file| file.try_clone().ok()) {
            command.stderr(Stdio::from(file));
        }
        let status =
            command.status().with_context(|| format!("cannot run {}", clang.program.display()))?;
        Ok(Self { status, messages: kept.map(contents) })
    }

    /// clang's exit code, or what a shell makes of a fatal signal.
    pub(super) fn exit_code(&self) -> ExitCode {
        exit_code(self.status)
    }

    pub(super) fn success(&self) -> bool {
        self.status.success()
    }

    /// Passes on what it wrote.
    pub(super) fn forward(&self) {
        let _ = std::io::stderr().write_all(self.messages.as_deref().unwrap_or_default());
    }

    /// Whether clang alone might have succeeded, with its own choice of a linker.
    pub(super) fn may_be_ours(&self, linker: Linker) -> bool {
        let messages = self.messages.as_deref();
        !self.success()
            && messages
                .is_none_or(|messages| may_be_ours(&String::from_utf8_lossy(messages), linker))
    }

    /// The first line that tells what went wrong.
    pub(super) fn first_complaint(&self) -> String {
        let messages = String::from_utf8_lossy(self.messages.as_deref().unwrap_or_default());
        messages.lines().find(|line| is_complaint(line)).unwrap_or("see above").trim().to_owned()
    }
}

fn exit_code(status: ExitStatus) -> ExitCode {
    let code = status.code().unwrap_or_else(|| 128 + status.signal().unwrap_or(0));
    ExitCode::from(u8::try_from(code).unwrap_or(1))
}

fn contents(mut file: File) -> Vec<u8> {
    let mut bytes = Vec::new();
    // What cannot be read back is not shown; the exit code tells as much as can be told.
    let _ = file.rewind().and_then(|()| file.read_to_end(&mut bytes));
    bytes
}

/// Whether the linker failed, and for another reason than one that the user's files and arguments
/// give by themselves.
fn may_be_ours(messages: &str, linker: Linker) -> bool {
    // Without this text nothing was linked: a source does not compile, or clang does not know an
    // argument.
    messages.contains("linker command failed")
        && !messages.lines().any(|line| is_the_users(line, linker))
}

/// What linkers say of a name or a library that is not there, of any but szc's.
const MISSING: [&str; 7] = [
    "undefined reference to",
    "undefined symbol: ",
    "multiple definition of",
    "duplicate symbol: ",
    "cannot find ",
    "library not found: ",
    "unable to find library ",
];

/// What they say of arguments that they do not know.
const UNKNOWN: [&str; 3] =
    ["unrecognized option", "unknown argument", "unknown command line option"];

/// Parts of szc's own names and arguments.
const OURS: [&str; 6] =
    ["szc", "emit-relocs", "export-dynamic-symbol", "_Unwind_", "load-pass-plugin", "-defsym"];

fn is_the_users(line: &str, linker: Linker) -> bool {
    let says = |texts: &[&str]| texts.iter().any(|text| line.contains(text));
    // A linker of szc's choice may not know what clang's does.
    (says(&MISSING) || linker == Linker::Clangs && says(&UNKNOWN)) && !says(&OURS)
}

fn is_complaint(line: &str) -> bool {
    !line.trim().is_empty() && !line.contains("warning:") && !line.contains("In function")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signal_becomes_the_exit_code_that_a_shell_would_report() {
        let code = |raw| format!("{:?}", exit_code(ExitStatus::from_raw(raw)));
        assert_eq!(code(11), format!("{:?}", ExitCode::from(139)));
        assert_eq!(code(1 << 8), format!("{:?}", ExitCode::from(1)));
        assert_eq!(code(254 << 8), format!("{:?}", ExitCode::from(254)));
    }

    #[test]
    fn a_link_that_clang_would_fail_is_not_tried_again() {
        let failed = "clang-22: error: linker command failed with exit code 1\n";
        for (messages, ours) in [
            ("x.c:1:1: error: expected identifier\n1 error generated.\n", false),
            ("clang-22: error: unsupported option '-foo'\n", false),
            ("/usr/bin/ld: x.o: in function `main':\nundefined reference to `f'\n", false),
            ("/usr/bin/ld: cannot find -lnothing: No such file or directory\n", false),
            ("/usr/bin/ld: unrecognized option '--nothing'\n", false),
            ("ld.lld: error: undefined symbol: f\n>>> referenced by x.c\n", false),
            ("mold: fatal: library not found: nothing\n", false),
            ("/usr/bin/ld: unrecognized option '--emit-relocs'\n", true),
            ("szc-runtime-x.o: undefined reference to `pthread_create'\n", true),
            ("/usr/bin/ld: region `ROM' overflowed by 5 bytes\n", true),
            ("ld.lld: error: -r and --emit-relocs may not be used together\n", true),
            ("clang: error: unable to execute command: Aborted\n", true),
        ] {
            let linked = !messages.contains("x.c:1:1") && !messages.contains("unsupported");
            let text = if linked { format!("{messages}{failed}") } else { messages.to_owned() };
            assert_eq!(may_be_ours(&text, Linker::Clangs), ours, "{messages}");
        }
        let unknown = format!("ld.lld: error: unknown argument '--add-needed'\n{failed}");
        assert!(may_be_ours(&unknown, Linker::Lld) && !may_be_ours(&unknown, Linker::Clangs));
    }
}
