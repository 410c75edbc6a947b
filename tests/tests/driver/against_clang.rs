//! Invocations whose every byte must be clang's.

use szc_tests::tools::{Place, szc, szcxx};

const PROGRAM: &str = "#include <stdio.h>\nint main(void) { puts(\"hello\"); return 7; }\n";

/// Runs both drivers and compares exit code, output and diagnostics.
fn same(place: &Place, args: &[&str], input: &str) {
    same_drivers(place, szc().as_os_str(), "clang-22", args, input);
}

fn same_drivers(place: &Place, ours: &std::ffi::OsStr, theirs: &str, args: &[&str], input: &str) {
    let clang = place.feed(theirs, args, input);
    let szc = place.feed(ours, args, input);
    assert_eq!(szc.status.code(), clang.status.code(), "{args:?}");
    assert_eq!(
        String::from_utf8_lossy(&szc.stderr),
        String::from_utf8_lossy(&clang.stderr),
        "{args:?}"
    );
    assert!(szc.stdout == clang.stdout, "{args:?}: different output");
}

#[test]
fn questions_are_answered_as_clang_answers_them() {
    let place = Place::new();
    for word in [
        "-V",
        "-qversion",
        "-version",
        "-dumpmachine",
        "-dumpversion",
        "-print-prog-name=ld",
        "-print-file-name=libc.so",
        "-print-search-dirs",
        "-print-resource-dir",
        "-print-libgcc-file-name",
        "--print-supported-cpus",
        "--help-hidden",
        "-v",
    ] {
        same(&place, &[word], "");
    }
}

#[test]
fn what_szc_says_of_itself_stands_beside_what_clang_says_unchanged() {
    let place = Place::new();
    for (ours, theirs) in [(szc(), "clang-22"), (szcxx(), "clang++-22")] {
        let version = place.run(theirs, &["--version"]);
        let said = place.run(&ours, &["-Rcode", "-m64", "--version"]);
        let own = said.strip_prefix(&version).expect("clang's lines come first");
        assert_eq!(own, place.run(&ours, &["version"]));
        assert!(own.starts_with("szc 0."), "{own}");
        let help = place.run(theirs, &["--help"]);
        let said = place.run(&ours, &["--help"]);
        assert!(said.starts_with("szc ") && said.ends_with(&help), "{said}");
        assert_eq!(place.run(&ours, &["--help=clang"]), help);
    }
}

#[test]
fn szc_alone_shows_its_page_and_fails_as_clang_does() {
    let output = Place::new().feed(szc(), &[""; 0], "");
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1));
    assert!(said.contains("  szc compare -- 'A' 'B'"), "{said}");
    assert!(said.ends_with("szc: error: no input files, and no command\n"), "{said}");
}

#[test]
fn a_mistyped_command_is_recognised_where_no_file_has_that_name() {
    let place = Place::new();
    let output = place.feed(szc(), &["comapre", "--", "./a", "./b"], "");
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2));
    assert!(said.contains("did you mean `szc compare`?"), "{said}");
    place.write("comapre", "");
    same(&place, &["-fsyntax-only", "comapre"], "");
    same(&place, &["comapre", "-fsyntax-only"], "");
}

#[test]
fn without_randomization_the_compiler_is_run_with_the_users_arguments_alone() {
    let place = Place::with("x.c", PROGRAM);
    let clang = place.feed("clang-22", &["-###", "-c", "x.c"], "");
    let szc = place.feed(szc(), &["-###", "-Rnone", "-c", "x.c"], "");
    assert_eq!(String::from_utf8_lossy(&szc.stderr), String::from_utf8_lossy(&clang.stderr));
}

#[test]
fn mistakes_on_the_command_line_are_reported_by_clang() {
    let place = Place::with("x.c", PROGRAM);
    for args in [
        &["no-such-file.c"][..],
        &["x.c", "-o"],
        &["x.c", "-Xlinker"],
        &["x.c", "--no-such-option"],
        &["x.c", "-o", "x", "-std=c1066"],
        &["-c", "x.c", "y.c", "-o", "x.o"],
        &["@no-such-file"],
        &["x.c", "-fuse-ld=no-such-linker"],
        &["-x", "klingon", "x.c"],
    ] {
        same(&place, args, "");
    }
}

#[test]
fn a_compile_that_fails_has_the_diagnostics_of_clang() {
    let place = Place::with("bad.c", "int main(void) { return undeclared; }\n#warning careful\n");
    for args in [
        &["-c", "bad.c"][..],
        &["bad.c", "-o", "bad"],
        &["-Wall", "-Wextra", "bad.c"],
        &["-fsyntax-only", "-Werror", "bad.c"],
        &["-fdiagnostics-format=msvc", "-c", "bad.c"],
    ] {
        same(&place, args, "");
    }
}

#[test]
fn no_word_of_the_driver_causes_a_warning_of_clang() {
    let place = Place::with("x.c", PROGRAM);
    for args in [
        &["-Weverything", "-Werror", "x.c", "-o", "x"][..],
        &["-Weverything", "-Werror", "-Rall", "-c", "x.c"],
        &["-Wunused-command-line-argument", "-Werror", "-Rnone", "x.c"],
        &["-Weverything", "-Werror", "-shared", "-fPIC", "x.c", "-o", "x.so"],
        &["-Weverything", "-Werror", "-static", "x.c", "-o", "x"],
    ] {
        let output = place.feed(szc(), args, "");
        assert!(output.status.success(), "{args:?}");
        assert_eq!(String::from_utf8_lossy(&output.stderr), "", "{args:?}");
    }
}

#[test]
fn preprocessing_dependencies_and_standard_input_are_those_of_clang() {
    let place = Place::with("x.c", PROGRAM);
    place.write("with blank.c", PROGRAM);
    for args in [
        &["-E", "-"][..],
        &["-E", "-dM", "-x", "c", "/dev/null"],
        &["-E", "-x", "c++", "-"],
        &["-M", "x.c"],
        &["-MM", "x.c", "with blank.c"],
        &["-MD", "-MF", "-", "-c", "x.c"],
        &["-fsyntax-only", "-x", "c", "-"],
        &["-O2", "-Rpass=inline", "-Rpass-missed=inline", "-Rpass-analysis=loop", "-c", "x.c"],
    ] {
        same(&place, args, PROGRAM);
    }
}

#[test]
fn szcxx_is_to_clangxx_as_szc_is_to_clang() {
    let place = Place::with("bad.cc", "#include <vector>\nint main() { return undeclared; }\n");
    for args in [&["bad.cc"][..], &["-dumpversion"], &["-E", "bad.cc"], &["-c", "bad.cc"]] {
        same_drivers(&place, szcxx().as_os_str(), "clang++-22", args, "");
    }
}

#[test]
fn object_files_without_pads_and_records_are_those_of_clang() {
    let place = Place::with("x.c", PROGRAM);
    for flags in [
        &["-O0", "-g"][..],
        &["-O2"],
        &["-O3", "-flto"],
        &["-O2", "-fPIC", "-pthread"],
        &["-S", "-O2"],
        &["-S", "-emit-llvm", "-O2"],
    ] {
        let object = |driver: &std::ffi::OsStr, own: &[&str]| {
            let args = [own, flags, &["-c", "x.c", "-o", "x.o"]].concat();
            place.run(driver, &args);
            place.read("x.o")
        };
        let clang = object("clang-22".as_ref(), &[]);
        for own in ["-Rnone", "-Rheap"] {
            assert!(object(szc().as_os_str(), &[own]) == clang, "{own} {flags:?}");
        }
    }
}

#[test]
fn a_build_without_randomization_is_that_of_clang() {
    let place = Place::with("x.c", PROGRAM);
    let args = ["-O2", "x.c", "-o", "x"];
    place.run("clang-22", &args);
    let expected = place.read("x");
    place.run(szc(), &["-Rnone", "-O2", "x.c", "-o", "x"]);
    assert!(place.read("x") == expected, "-Rnone");
    let mut command = place.command(szc());
    command.args(args).env("SZC_BUILD", "none");
    szc_tests::tools::succeed(&mut command);
    assert!(place.read("x") == expected, "SZC_BUILD=none");
}
