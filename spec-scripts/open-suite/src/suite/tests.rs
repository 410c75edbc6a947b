//! The suite that is shipped, and suites that are wrong.
#![forbid(unsafe_code)]

use std::path::Path;

use super::read::parse;
use super::{Language, Suite, Trait, load};

fn shipped() -> Suite {
    load(&Path::new(env!("CARGO_MANIFEST_DIR")).join("suite.toml")).unwrap()
}

const SMALL: &str = r#"
[[program]]
name = "hello"
about = "says hello"
spec = "none"
languages = ["C"]
bundled = true
build = "make"
products = ["hello"]
[[program.workload]]
run = ["{out}/hello"]
[program.workload.stdout]
full = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
test = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
"#;

#[test]
fn a_relative_name_finds_the_folder_that_scripts_elsewhere_need() {
    // Tests run in the folder of their package.
    assert_eq!(load(Path::new("suite.toml")).unwrap().folder, shipped().folder);
}

/// What is said of SMALL with one text in place of another.
fn complaint(from: &str, to: &str) -> String {
    assert!(SMALL.contains(from), "{from}");
    parse("suite.toml", &SMALL.replace(from, to)).unwrap_err().to_string()
}

#[test]
fn the_shipped_suite_has_the_languages_and_difficulties_that_randomizers_fail_at() {
    let suite = shipped();
    let usual = suite.select(&[], false).unwrap();
    assert!(usual.len() >= 14, "{}", usual.len());
    let written_in = |language| {
        usual.iter().filter(|program| program.languages.get_ref().contains(&language)).count()
    };
    assert!(written_in(Language::Cxx) >= 3);
    assert!(written_in(Language::Fortran) >= 1);
    let with = |wanted| usual.iter().filter(|program| program.traits.contains(&wanted)).count();
    assert!(with(Trait::Threads) >= 2);
    assert!(with(Trait::Exceptions) >= 1);
}

#[test]
fn every_output_of_the_shipped_suite_is_pinned() {
    for program in &shipped().programs {
        for workload in program.workloads.get_ref() {
            for hash in workload.stdout.get_ref().values() {
                assert!(hash.bytes().any(|digit| digit != b'0'), "{}", program.name());
            }
        }
    }
}

#[test]
fn the_selection_for_continuous_integration_is_a_part() {
    let suite = shipped();
    let (all, part) = (suite.select(&[], false).unwrap(), suite.select(&[], true).unwrap());
    assert!(!part.is_empty() && part.len() < all.len());
}

#[test]
fn a_small_suite_is_read() {
    let programs = parse("suite.toml", SMALL).unwrap();
    assert_eq!(programs[0].name(), "hello");
    assert!(programs[0].workload("hello").is_some());
    assert!(programs[0].workload("hello-more").is_none());
}

#[test]
fn problems_are_told_with_their_line() {
    for (from, to, told) in [
        ("about =", "abuot =", "suite.toml:4:|: unknown field `abuot`"),
        ("languages = [\"C\"]", "languages = [\"D\"]", "suite.toml:6:|: unknown variant `D`"),
        (
            "name = \"hello\"",
            "name = \"Hello!\"",
            "suite.toml:3:|: Hello!: a name of small letters",
        ),
        ("[\"{out}/hello\"]", "[\"hello\"]", "suite.toml:11:|: hello: the first word must be"),
        ("{out}/hello\"]", "{out}/hello\", \"{sise}\"]", "suite.toml:11:|: hello: unknown {sise}"),
        ("{out}/hello\"]", "{out}/hello\", \"{size}\"]", "suite.toml:11:|: hello: `size = "),
        (
            "{out}/hello\"]",
            "{out}/hello\", \"/dev/stdout\"]",
            "suite.toml:11:|: hello: /dev/stdout",
        ),
        ("products = [\"hello\"]", "products = [\"../hello\"]", "no path inside the tree"),
        ("bundled = true", "bundled = false", "either `sources` or `bundled = true`"),
        ("full = \"ba", "full = \"BA", "`stdout` needs the SHA-256 for full"),
    ] {
        let complaint = complaint(from, to);
        let said = told.split('|').all(|part| complaint.contains(part));
        assert!(said, "{told} in {complaint}");
    }
}

#[test]
fn a_source_needs_a_place_and_a_hash() {
    let source = "sources = [{ pool = \"pool/x.tar.gz\" }]";
    assert!(complaint("bundled = true", source).contains("and its `sha256`"));
    let source = "sources = [{ url = \"https://x.org/x.tar.gz\", sha256 = \"12\" }]";
    assert!(complaint("bundled = true", source).contains("is no SHA-256"));
}

#[test]
fn a_program_that_is_not_there_is_named_with_one_that_is() {
    let suite = shipped();
    let error = suite.select(&["sqlite".to_owned()], false).unwrap_err().to_string();
    assert!(error.contains("did you mean \"sqlite3\"?"), "{error}");
    assert!(suite.workload("bzip2-decompress").is_ok());
    assert!(suite.workload("bzip2-nothing").unwrap_err().to_string().contains("no workload"));
}

#[test]
fn programs_that_nothing_was_tuned_on_are_a_suite_of_their_own() {
    let others = load(&Path::new(env!("CARGO_MANIFEST_DIR")).join("others.toml")).unwrap();
    assert!(others.programs.len() >= 6);
    let usual = shipped();
    for program in &others.programs {
        assert!(usual.program(program.name()).is_err(), "{}", program.name());
    }
}
