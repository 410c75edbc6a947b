//! Puts beside `szc` in the build directory the other names of its parts, so that the build works
//! in place: `szc++` and `szc-fortran`, and the plugin under the names that select its modes.

use std::env;
use std::fs;
use std::io::ErrorKind;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

/// Link and target, in one directory.
const LINKS: [(&str, &str); 5] = [
    ("szc++", "szc"),
    ("szc-fortran", "szc"),
    ("libszc_pass_per_copy.so", "libszc_pass.so"),
    ("libszc_pass_per_function.so", "libszc_pass.so"),
    ("libszc_pass_records.so", "libszc_pass.so"),
];

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    let out_dir = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets OUT_DIR"));
    // OUT_DIR is PROFILE/build/PACKAGE-HASH/out; cargo offers no name for PROFILE itself.
    let profile = out_dir.ancestors().nth(3).expect("OUT_DIR lies four levels deep");
    for (link, target) in LINKS {
        make(&profile.join(link), target);
    }
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
