//! What the LLVM pass makes of modules: every file below `ir/` goes through `opt`, and what comes
//! out is compared with what the comments of the file expect.
//!
//! ```text
//! ; RUN: -passes=szc              arguments for opt; one run a line
//! ; MODE: per-function            name of the plugin for all runs: shared (default), per-copy,
//!                                 per-function, records, paths
//! ; CHECK: …                      for FileCheck, about the module that comes out
//! ; PLAN: …                       for FileCheck, about the plan that is printed
//! ; CODE: …                       for FileCheck, about the assembly that llc makes of it
//! ```

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use szc_abi::stack::{PLUGIN, PLUGIN_PATHS, PLUGIN_PER_COPY, PLUGIN_PER_FUNCTION, PLUGIN_RECORDS};
use szc_tests::tools::{Place, szc};

#[test]
fn every_module_becomes_what_it_expects() {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("ir");
    let mut files: Vec<PathBuf> = fs::read_dir(&directory)
        .expect("readable")
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "ll"))
        .collect();
    files.sort();
    assert!(!files.is_empty(), "no modules in {}", directory.display());
    let failures: Vec<String> = files.iter().filter_map(|file| check(file).err()).collect();
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

fn check(file: &Path) -> Result<(), String> {
    let text = fs::read_to_string(file).map_err(|error| format!("{}: {error}", file.display()))?;
    let directive = |name: &str| -> Vec<&str> {
        text.lines().filter_map(|line| line.strip_prefix(name)).map(str::trim).collect()
    };
    let runs = directive("; RUN:");
    if runs.is_empty() {
        return Err(format!("{}: says nothing about how to run it", file.display()));
    }
    let place = Place::new();
    let plugin = plugin_in(&place, directive("; MODE:").first().copied().unwrap_or("shared"));
    for args in runs {
        let output = place.path.join("out.ll");
        let made = run(Command::new("opt-22")
            .arg("-load-pass-plugin")
            .arg(&plugin)
            .args(args.split_whitespace())
            .args(["-verify-each", "-S"])
            .arg(file)
            .arg("-o")
            .arg(&output)
            .env("SZC_PASS_PLAN", "-"))?;
        let mut compared = 0;
        if uses(&text, "CHECK") {
            file_check(file, "CHECK", &output)?;
            compared += 1;
        }
        if uses(&text, "PLAN") {
            let plan = place.path.join("plan");
            fs::write(&plan, &made.stderr).expect("writable");
            file_check(file, "PLAN", &plan)?;
            compared += 1;
        }
        if uses(&text, "CODE") {
            let code = place.path.join("out.s");
            run(Command::new("llc-22").arg(&output).arg("-o").arg(&code))?;
            file_check(file, "CODE", &code)?;
            compared += 1;
        }
        if compared == 0 {
            return Err(format!("{}: expects nothing", file.display()));
        }
    }
    Ok(())
}

/// Whether a file has expectations with this prefix.
fn uses(text: &str, prefix: &str) -> bool {
    text.lines().any(|line| line.starts_with(&format!("; {prefix}")))
}

/// The plugin, under the name that makes it work in this mode.
fn plugin_in(place: &Place, mode: &str) -> PathBuf {
    let name = match mode {
        "shared" => PLUGIN,
        "per-copy" => PLUGIN_PER_COPY,
        "per-function" => PLUGIN_PER_FUNCTION,
        "records" => PLUGIN_RECORDS,
        "paths" => PLUGIN_PATHS,
        other => panic!("no mode is called {other}"),
    };
    let path = place.path.join(name);
    symlink(szc().with_file_name(PLUGIN), &path).expect("an empty place");
    path
}

fn file_check(file: &Path, prefix: &str, input: &Path) -> Result<(), String> {
    run(Command::new("FileCheck-22")
        .arg(file)
        .arg(format!("--check-prefix={prefix}"))
        .arg("--input-file")
        .arg(input))
    .map(|_| ())
}

fn run(command: &mut Command) -> Result<Output, String> {
    let output =
        command.output().map_err(|error| format!("{command:?} does not start: {error}"))?;
    if output.status.success() {
        return Ok(output);
    }
    Err(format!("{command:?}: {}\n{}", output.status, String::from_utf8_lossy(&output.stderr)))
}
