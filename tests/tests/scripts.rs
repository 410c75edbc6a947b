//! The scripts around the programs: what they draw at random, what they refuse, and what they leave
//! behind.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::process::Output;

use szc_tests::laboratory::{code, errors, text};
use szc_tests::tools::{Place, szc};

fn project() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// Runs a script of the project with `$1` and so on, in a shell that has sourced `lib.sh`.
fn with_library(place: &Place, script: &str, args: &[&str]) -> String {
    let library = project().join("spec-scripts/lib.sh");
    let script = format!("set -euo pipefail; source \"$0\"; {script}");
    let args = [&["-c", &script, library.to_str().expect("text")], args].concat();
    place.run("bash", &args)
}

#[test]
fn every_configuration_comes_at_every_place_about_equally_often() {
    const BLOCKS: usize = 500;
    let names = ["none", "all", "heap", "all+SZC_CODE=0+SZC_HEAP=0", "none+"];
    let script =
        "for ((block = 1; block <= $1; block++)); do in_random_order \"$block\" \"${@:2}\"; done";
    let text = with_library(&Place::new(), script, &[&[&*BLOCKS.to_string()], &names[..]].concat());
    let lines: Vec<&str> = text.lines().collect();
    let mut times: HashMap<(&str, usize), usize> = HashMap::new();
    for block in lines.chunks(names.len()) {
        let mut sorted = block.to_vec();
        sorted.sort_unstable();
        sorted.dedup();
        assert_eq!(sorted.len(), names.len(), "{block:?}");
        for (position, name) in block.iter().enumerate() {
            *times.entry((name, position)).or_default() += 1;
        }
    }
    assert_eq!(lines.len(), BLOCKS * names.len());
    // Five places in one row or column: 4 * 4 degrees of freedom. A fair draw exceeds 39.25 once in
    // a thousand times.
    let expected = BLOCKS as f64 / names.len() as f64;
    let chi_squared: f64 = names
        .iter()
        .flat_map(|name| (0..names.len()).map(move |position| (*name, position)))
        .map(|cell| *times.get(&cell).unwrap_or(&0) as f64 - expected)
        .map(|difference| difference * difference / expected)
        .sum();
    assert!(chi_squared < 39.25, "{chi_squared}: {times:?}");
}

/// `submit.sh` with a stand-in for Slurm that takes every job and runs none.
fn submit(place: &Place, args: &[&str]) -> Output {
    let path = format!("{}:{}", place.path.display(), std::env::var("PATH").expect("a path"));
    let mut command = place.command(project().join("spec-scripts/cluster/submit.sh"));
    command.args(args).env("PATH", path).env("SZC", szc()).output().expect("the script starts")
}

#[test]
fn a_folder_with_the_shards_of_one_sweep_is_refused_to_another() {
    let place = Place::new();
    place.write_script("sbatch", "echo job >>submitted; echo 17");
    let sweep = ["--shards", "2", "--seed", "7", "--", "--fixed", "20"];
    for _ in 0..2 {
        let output = submit(&place, &sweep);
        assert_eq!(code(&output), 0, "{}", errors(&output));
        assert!(text(&output).contains("seed 7"), "{}", text(&output));
    }
    for other in [
        &["--shards", "3", "--seed", "7", "--", "--fixed", "20"][..],
        &["--shards", "2", "--seed", "8", "--", "--fixed", "20"],
        &["--shards", "2", "--", "--fixed", "20"],
        &["--shards", "2", "--seed", "7", "--", "--fixed", "21"],
    ] {
        let output = submit(&place, other);
        assert_eq!(code(&output), 1, "{other:?}");
        assert!(errors(&output).contains("the shards of another sweep"), "{}", errors(&output));
    }
    place.write("szc.toml", "[runs]\nfixed = 6\n");
    assert_eq!(code(&submit(&place, &sweep)), 1, "another configuration is another sweep");
    let elsewhere = [&["--results", "elsewhere"], &sweep[..]].concat();
    assert_eq!(code(&submit(&place, &elsewhere)), 0);
    // An array and a merge for each of the three that were taken.
    assert_eq!(place.read("submitted"), b"job\n".repeat(6));
    // Shards of which nobody knows the sweep.
    place.run("rm", &["elsewhere/plan"]);
    place.write("elsewhere/shard-1.json", "{}");
    let output = submit(&place, &elsewhere);
    assert_eq!(code(&output), 1);
    assert!(errors(&output).contains("no file 'plan'"), "{}", errors(&output));
}

#[test]
fn a_table_that_nobody_reads_ends_without_an_error() {
    let (reader, writer) = std::io::pipe().expect("a pipe");
    drop(reader);
    let place = Place::new();
    let mut command = place.command(env!("CARGO_BIN_EXE_heap-randomness"));
    let output = command.stdout(writer).output().expect("it starts");
    assert_eq!((code(&output), errors(&output).as_str()), (0, ""));
}

#[test]
fn an_installation_works_where_it_was_moved_to_and_is_taken_away_without_a_trace() {
    let place = Place::with("x.c", "int main(void) { return 0; }\n");
    let install = project().join("spec-scripts/install.sh");
    let from = szc().parent().expect("a folder").to_owned();
    std::fs::create_dir_all(place.path.join("there/share/other")).expect("writable");
    place.run(&install, &["--prefix", "there", "--from", from.to_str().expect("text")]);
    std::fs::rename(place.path.join("there"), place.path.join("else where")).expect("movable");
    place.run("else where/bin/szc", &["-O2", "x.c", "-o", "x"]);
    let mut program = place.command("./x");
    assert!(program.env("SZC_LOG", "log").status().expect("starts").success());
    assert!(String::from_utf8_lossy(&place.read("log")).contains(r#""code":true"#));
    for page in [
        "man/man1/szc-compare.1",
        "man/man1/szc++.1",
        "man/man1/cargo-szc.1",
        "doc/szc/book/mistakes.md",
        "szc/szc-rt/src/lib.rs",
    ] {
        assert!(!place.read(&format!("else where/share/{page}")).is_empty(), "{page}");
    }
    let mut remove = place.command(install);
    let output = remove.args(["--uninstall", "--prefix", "else where"]).output().expect("starts");
    assert_eq!(code(&output), 0, "{}", errors(&output));
    assert_eq!(place.run("find", &["else where", "-mindepth", "1"]).lines().count(), 2);
}
