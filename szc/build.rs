//! Puts `szc++` beside `szc` in the build directory, so that the build works in place.

use std::env;
use std::fs;
use std::io::ErrorKind;
use std::os::unix::fs::symlink;
use std::path::PathBuf;

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    let out_dir = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets OUT_DIR"));
    // OUT_DIR is PROFILE/build/PACKAGE-HASH/out; cargo offers no name for PROFILE itself.
    let profile = out_dir.ancestors().nth(3).expect("OUT_DIR lies four levels deep");
    let link = profile.join("szc++");
    if fs::read_link(&link).is_ok_and(|target| target.as_os_str() == "szc") {
        return;
    }
    match symlink("szc", &link) {
        Ok(()) => {}
        // Another build script was here first, or the user has put something there.
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
        Err(error) => println!("cargo:warning=cannot make {}: {error}", link.display()),
    }
}
