//! The LLVM plugin: who loads it, and when it runs.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use szc_abi::stack::{FUNCTIONS_SECTION, PAD_TABLES_SECTION};
use szc_tests::tools::szc;

const SOURCE: &str = "\
#include <stdio.h>
static int square(int x) { return x * x; }
int main(int argc, char **argv) {
    (void)argv;
    for (int i = 0; i < argc + 3; i++) printf(\"%d\\n\", square(i));
    return 0;
}
";

/// The plugin that lies beside the szc under test.
fn plugin() -> PathBuf {
    let path = szc().with_file_name("libszc_pass.so");
    assert!(path.is_file(), "{} is not there; build all of szc first", path.display());
    path
}

/// LLVM IR of the source, with these arguments added.
fn ir(dir: &Path, args: &[&str]) -> String {
    let output = Command::new("clang-22")
        .args(["-S", "-emit-llvm", "x.c", "-o", "-"])
        .args(args)
        .current_dir(dir)
        .output()
        .expect("clang-22 starts");
    let messages = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{args:?}: {messages}");
    assert_eq!(messages, "", "{args:?}");
    String::from_utf8(output.stdout).expect("text")
}

#[test]
fn clang_loads_the_plugin_and_it_pads_what_calls_something() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    fs::write(dir.path().join("x.c"), SOURCE).expect("writable");
    let load = format!("-fpass-plugin={}", plugin().display());
    for level in ["-O0", "-O2", "-O3"] {
        let padded = ir(dir.path(), &[level, &load]);
        assert!(padded.contains("@szc_pad_table"), "{level}");
        assert!(!ir(dir.path(), &[level]).contains("szc"), "{level}");
    }
}

#[test]
fn link_time_optimization_pads_at_the_link() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    fs::write(dir.path().join("x.c"), SOURCE).expect("writable");
    let load = format!("-fpass-plugin={}", plugin().display());
    for kind in ["-flto", "-flto=thin"] {
        let before = ir(dir.path(), &["-O2", kind, &load]);
        assert!(!before.contains("szc"), "{kind}");
        let output = Command::new("clang-22")
            .args(["-O2", kind, "-fuse-ld=lld", "x.c", "-o", "x"])
            .arg(format!("-Wl,--load-pass-plugin={}", plugin().display()))
            .current_dir(dir.path())
            .output()
            .expect("clang-22 starts");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let image = fs::read(dir.path().join("x")).expect("linked");
        let sections = szc_tests::tools::sections(&image);
        for wanted in [PAD_TABLES_SECTION, FUNCTIONS_SECTION] {
            assert!(sections.iter().any(|name| name == wanted), "{kind}: {wanted}: {sections:?}");
        }
    }
}

#[test]
fn the_pass_runs_at_every_optimization_level() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    fs::write(dir.path().join("x.c"), SOURCE).expect("writable");
    let load = format!("-fpass-plugin={}", plugin().display());
    for level in ["-O0", "-O2"] {
        let output = Command::new("clang-22")
            .args([level, "-c", "x.c", "-o", "/dev/null", &load])
            .args(["-Xclang", "-fdebug-pass-manager"])
            .current_dir(dir.path())
            .output()
            .expect("clang-22 starts");
        let passes = String::from_utf8_lossy(&output.stderr);
        assert!(passes.contains("SzcPass"), "{level}: {passes}");
    }
}
