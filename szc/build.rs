//! Puts beside `szc` in the build directory the other names of its parts, so that the build works
//! in place: `szc++`, `szc-fortran` and `cargo-szc`, and the plugin under the names that select its
//! modes. Tells a release which commit it is of.

use std::env;
use std::fs;
use std::io::ErrorKind;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Link and target, in one directory.
const LINKS: [(&str, &str); 7] = [
    ("szc++", "szc"),
    ("szc-fortran", "szc"),
    ("cargo-szc", "szc"),
    ("libszc_pass_per_copy.so", "libszc_pass.so"),
    ("libszc_pass_per_function.so", "libszc_pass.so"),
    ("libszc_pass_records.so", "libszc_pass.so"),
    ("libszc_pass_paths.so", "libszc_pass.so"),
];

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    let out_dir = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets OUT_DIR"));
    // OUT_DIR is PROFILE/build/PACKAGE-HASH/out; cargo offers no name for PROFILE itself.
    let profile = out_dir.ancestors().nth(3).expect("OUT_DIR lies four levels deep");
    for (link, target) in LINKS {
        make(&profile.join(link), target);
    }
    // Others would be compiled anew after every commit.
    if env::var("PROFILE").is_ok_and(|profile| profile == "release") {
        name_commit();
    }
}

/// `SZC_COMMIT`: that of the environment (a package is built outside of a repository), or of git.
fn name_commit() {
    println!("cargo:rerun-if-env-changed=SZC_COMMIT");
    let named = env::var("SZC_COMMIT").ok().filter(|commit| !commit.is_empty());
    if let Some(commit) = named.or_else(|| git(&["rev-parse", "--short=12", "HEAD"])) {
        println!("cargo:rustc-env=SZC_COMMIT={commit}");
    }
    if let Some(log) = git(&["rev-parse", "--git-path", "logs/HEAD"]) {
        println!("cargo:rerun-if-changed={log}");
    }
}

/// What git says of the repository of this project, if that is where the sources are.
fn git(args: &[&str]) -> Option<String> {
    if !Path::new("../.git").exists() {
        return None;
    }
    let output = Command::new("git").args(args).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?.trim().to_owned();
    (output.status.success() && !text.is_empty()).then_some(text)
}

fn make(link: &Path, target: &str) {
    if fs::read_link(link).is_ok_and(|found| found.as_os_str() == target) {
        return;
    }
    match symlink(target, link) {
        Ok(()) => {}
        // Another build script was here first, or the user has put something there.
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
        Err(error) => println!("cargo:warning=cannot make {}: {error}", link.display()),
    }
}
