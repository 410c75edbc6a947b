//! Tests of how commands are read and runs are repeated.

use super::*;
use crate::samples::design::{Addresses, Design, EnvironmentSize};
use proptest::prelude::*;

fn args(command: &str) -> Vec<String> {
    split_words(command).unwrap().expect("no shell needed")
}

#[test]
fn simple_commands_are_split_without_a_shell() {
    assert_eq!(args("  ./lua  bench.lua\t10 "), ["./lua", "bench.lua", "10"]);
    assert_eq!(args("cc -O2 --std=c99"), ["cc", "-O2", "--std=c99"]);
}

#[test]
fn quotations_and_escapes_are_those_of_a_shell() {
    assert_eq!(args(r"a 'b c' d"), ["a", "b c", "d"]);
    assert_eq!(args(r#"a "b 'c'" d"#), ["a", "b 'c'", "d"]);
    assert_eq!(args(r"a b\ c ''"), ["a", "b c", ""]);
    assert_eq!(args(r#"a "\"\\\n""#), ["a", r#""\\n"#]);
    assert_eq!(args(r"x'y'z '$HOME;*'"), ["xyz", "$HOME;*"]);
}

#[test]
fn what_only_a_shell_understands_goes_to_a_shell() {
    for command in [
        "a | b",
        "a > f",
        "a; b",
        "a && b",
        "a $X",
        "a \"$X\"",
        "a *.c",
        "X=1 a",
        "cd d",
        "a `b`",
        "(a)",
        "a\nb",
        "! a",
        "ulimit -s 100",
    ] {
        let program = Program::new(0, None, command).unwrap();
        assert!(program.via_shell, "{command}");
        assert_eq!(program.argv, ["/bin/sh", "-c", command]);
    }
}

#[test]
fn an_unclosed_quotation_and_an_empty_command_are_errors() {
    assert!(split_words("a 'b").is_err());
    assert!(split_words("a \"b").is_err());
    let error = Program::new(1, None, "  ").unwrap_err();
    assert!(error.to_string().contains("command B is empty"));
}

fn run(seed: u64, padding_bytes: Option<u32>) -> PlannedRun {
    let design = Design { environment: EnvironmentSize::Fixed, ..Design::layouts(1, 1, 1) };
    PlannedRun { seed, padding_bytes, ..design.block_runs(0)[0] }
}

#[test]
fn the_reproduction_is_one_shell_command() {
    let direct = Program::new(0, None, "./a 'x y'").unwrap();
    assert_eq!(direct.reproduction(&run(7, None)), "SZC_SEED=7 ./a 'x y' </dev/null");
    let shell = Program::new(0, None, "./a 'x' | ./b").unwrap();
    assert_eq!(
        shell.reproduction(&run(7, None)),
        r"SZC_SEED=7 /bin/sh -c './a '\''x'\'' | ./b' </dev/null"
    );
    assert_eq!(
        direct.reproduction(&run(7, Some(12))),
        "SZC_SEED=7 SZC_PADDING=$(printf '%012d' 0) ./a 'x y' </dev/null"
    );
}

#[test]
fn the_reproduction_has_the_addresses_of_the_run() {
    let program = Program::new(0, None, "true").unwrap();
    let addresses = Some(Addresses { mapping_pages: Some(16), lowered_bytes: 0 });
    let text = program.reproduction(&PlannedRun { addresses, ..run(7, None) });
    let behind_limit = "SZC_SEED=7 setarch -R true </dev/null";
    match stack_limit(16) {
        Some(bytes) => {
            assert_eq!(text, format!("ulimit -S -s {} && {behind_limit}", bytes / 1024));
        }
        None => assert_eq!(text, behind_limit),
    }
}

#[test]
fn the_padding_of_a_reproduction_is_that_of_the_run() {
    let program = Program::new(0, None, "true").unwrap();
    for bytes in [0, 1, 9, 4095] {
        let script = program
            .reproduction(&run(7, Some(bytes)))
            .replace("true <", "sh -c 'printf %s \"$SZC_PADDING\"' <");
        let output = std::process::Command::new("/bin/sh").args(["-c", &script]).output().unwrap();
        assert_eq!(String::from_utf8(output.stdout).unwrap(), padding(bytes), "{script}");
    }
}

#[test]
fn a_program_in_a_folder_is_looked_for_and_repeated_there() {
    let mut program = Program::new(0, None, "./true 1").unwrap();
    program.folder = Some("/bin".into());
    assert_eq!(program.executable_path().unwrap(), Path::new("/bin/true"));
    assert_eq!(program.reproduction(&run(7, None)), "cd '/bin' && SZC_SEED=7 ./true 1 </dev/null");
}

#[test]
fn the_executable_is_identified_by_its_contents() {
    let program = Program::new(0, None, "true").unwrap();
    let executable = program.executable().unwrap();
    assert!(executable.path.is_absolute());
    assert_eq!(executable.sha256.len(), 64);
    assert!(executable.size_bytes > 0);
    let missing = Program::new(0, None, "no-such-program-anywhere").unwrap();
    assert_eq!(missing.executable(), None);
}

#[test]
fn compilers_come_from_the_comment_section() {
    let own_image = fs::read(std::env::current_exe().unwrap()).unwrap();
    let compilers = compilers_of(&own_image);
    assert!(compilers.iter().any(|text| text.contains("rustc")), "{compilers:?}");
    assert!(compilers_of(b"#!/bin/sh\n").is_empty());
}

proptest! {
    #[test]
    fn single_quotes_carry_any_text(text in "[^'\0]{0,40}") {
        prop_assert_eq!(args(&format!("run '{text}'")), ["run".to_owned(), text]);
    }
}
