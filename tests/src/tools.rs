//! How these tests find and run szc, clang and build tools.

use crate::run::with_default_signals;
use std::env;
use std::ffi::OsStr;
use std::fs;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};
use tempfile::TempDir;

/// Names the `szc` to test instead of the one built with this test.
const SZC_VARIABLE: &str = "SZC";

/// The driver under test; `szc++` lies beside it.
#[must_use]
pub fn szc() -> PathBuf {
    let path = env::var_os(SZC_VARIABLE).map_or_else(
        || {
            // A test is TARGET/PROFILE/deps/driver-HASH; a tool lies beside szc.
            let own = env::current_exe().expect("the running test has a path");
            let beside = own.parent().expect("a file lies in a directory");
            let deps = beside.ends_with("deps");
            let profile =
                if deps { beside.parent().expect("deps lies in PROFILE") } else { beside };
            profile.join("szc")
        },
        PathBuf::from,
    );
    assert!(
        path.is_file(),
        "{} is not there; run `cargo build` with the same profile first, \
         or name another szc with {SZC_VARIABLE}",
        path.display()
    );
    path
}

/// Whether tests run in their long form, as `tests/campaign/nightly.sh` asks.
#[must_use]
pub fn is_long() -> bool {
    env::var_os("SZC_TEST_LONG").is_some()
}

/// The C++ driver under test.
#[must_use]
pub fn szcxx() -> PathBuf {
    szc().with_file_name("szc++")
}

/// A directory to work in, with a blank in its name.
pub struct Place {
    _outer: TempDir,
    /// The directory.
    pub path: PathBuf,
}

impl Default for Place {
    fn default() -> Self {
        Self::new()
    }
}

impl Place {
    /// An empty place.
    #[must_use]
    pub fn new() -> Self {
        let outer = tempfile::tempdir().expect("a temporary directory");
        let path = outer.path().join("a place");
        fs::create_dir(&path).expect("writable");
        Place { _outer: outer, path }
    }

    /// A place with a file in it.
    #[must_use]
    pub fn with(name: &str, text: &str) -> Self {
        let place = Place::new();
        place.write(name, text);
        place
    }

    /// Writes a file here.
    pub fn write(&self, name: &str, text: &str) {
        fs::write(self.path.join(name), text).expect("writable");
    }

    /// An executable that runs these arguments of the shell.
    pub fn write_script(&self, name: &str, script: &str) {
        self.write(name, &format!("#!/bin/sh\n{script}\n"));
        let executable = fs::Permissions::from_mode(0o755);
        fs::set_permissions(self.path.join(name), executable).expect("own file");
    }

    /// The bytes of a file here.
    pub fn read(&self, name: &str) -> Vec<u8> {
        fs::read(self.path.join(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    /// A command here, without what the environment says about szc, and with the default actions of
    /// signals.
    pub fn command(&self, program: impl AsRef<OsStr>) -> Command {
        let mut command = Command::new(program);
        command.current_dir(&self.path).env_remove("SZC_BUILD").env_remove("SZC_CLANG");
        // SAFETY: between fork and exec, sigaction(2) is all that happens.
        unsafe { command.pre_exec(with_default_signals) };
        command
    }

    /// Runs a program here that must succeed; its standard output.
    pub fn run<S: AsRef<OsStr>>(&self, program: impl AsRef<OsStr>, args: &[S]) -> String {
        let mut command = self.command(program);
        command.args(args);
        succeed(&mut command)
    }

    /// Runs a program here and feeds it.
    pub fn feed<S: AsRef<OsStr>>(
        &self,
        program: impl AsRef<OsStr>,
        args: &[S],
        input: &str,
    ) -> Output {
        let mut child = self
            .command(program)
            .args(args)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the program starts");
        let mut stdin = child.stdin.take().expect("piped");
        // A program that ends without reading breaks the pipe; that is its right.
        let _ = stdin.write_all(input.as_bytes());
        drop(stdin);
        child.wait_with_output().expect("the program ends")
    }
}

/// Runs a command that must succeed; its standard output.
pub fn succeed(command: &mut Command) -> String {
    let output = command.output().unwrap_or_else(|error| {
        panic!(
            "{command:?} does not start ({error}); \
                 spec-scripts/setup.sh --tests installs what the tests need"
        )
    });
    assert!(
        output.status.success(),
        "{command:?}: {}\n{}{}",
        output.status,
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8(output.stdout).expect("text")
}

/// Names of the sections of an image.
#[must_use]
pub fn sections(image: &[u8]) -> Vec<String> {
    use object::{Object, ObjectSection};
    object::File::parse(image)
        .expect("an image")
        .sections()
        .map(|section| section.name().expect("a name").to_owned())
        .collect()
}
