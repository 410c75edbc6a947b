//! What reading a command line finds, and what it passes on.

use super::*;

fn read(line: &[&str]) -> Invocation {
    classify(line.iter().map(OsString::from).collect())
}

fn args(line: &str) -> Invocation {
    read(&line.split_whitespace().collect::<Vec<_>>())
}

fn joined(args: &[OsString]) -> String {
    args.join(OsStr::new(" ")).into_string().expect("UTF-8")
}

/// Arguments of a response file in a directory that lives as long as the answer.
fn response_file(text: &str) -> (tempfile::TempDir, String) {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let path = dir.path().join("args");
    std::fs::write(&path, text).expect("writable");
    let argument = format!("@{}", path.display());
    (dir, argument)
}

#[test]
fn an_invocation_links_unless_an_option_ends_it_earlier() {
    for (line, links) in [
        ("x.c", true),
        ("x.o y.a -lm", true),
        ("-lm", true),
        ("-Wl,--version", true),
        ("-", true),
        ("-x c -", true),
        ("-shared x.o", true),
        ("-MD -MF x.d x.c", true),
        ("-MMD x.c", true),
        ("-emit-llvm -flto x.c", true),
        ("-v x.c", true),
        ("-### x.c", true),
        ("-save-temps x.c", true),
        ("-Xclang -E x.c", true),
        ("-print-ivar-layout x.c", true),
        ("-c x.c", false),
        ("-S x.c", false),
        ("-E -", false),
        ("-M x.c", false),
        ("-MM x.c", false),
        ("-fsyntax-only x.c", false),
        ("--analyze x.c", false),
        ("--precompile x.cppm", false),
        ("-o x.o x.c -c", false),
        ("--version x.c", false),
        ("-dumpmachine", false),
        ("-print-prog-name=ld", false),
        ("--print-search-dirs x.c", false),
        ("-cc1 -emit-obj x.c", false),
        ("--help-hidden", false),
        ("", false),
        ("-v", false),
        ("-O2 -Wall", false),
    ] {
        assert_eq!(args(line).facts.links(), links, "{line}");
    }
}

#[test]
fn the_value_of_an_option_is_no_input() {
    for line in [
        "-o x",
        "-I dir -D X -U Y -include h.h",
        "-Xlinker x.o",
        "-isystem dir -MF deps -MT t -MQ q",
        "-arch x86_64 -target x86_64-linux-gnu",
        "-u symbol -z now -T script -e main -rpath dir",
        "-Xarch_host -O3",
        "-mllvm -foo --param x=1",
        "-sectcreate a b c",
        "-aux-info=x",
    ] {
        assert_eq!(args(line).facts.files.len(), 0, "{line}");
    }
    let facts = args("-o x a.c -I d - -lz libc.a").facts;
    assert_eq!(facts.files, ["a.c", "-", "libc.a"].map(PathBuf::from));
    assert_eq!(facts.libraries, 1);
}

#[test]
fn a_file_is_missed_only_where_clang_looks_for_it() {
    let (_dir, argument) = response_file("");
    let present = &argument[1..];
    for (line, lacks) in [
        (&[present, "-"][..], false),
        (&[present, "no-such-file"], true),
        (&["-working-directory", "/", "no-such-file"], false),
        (&["-working-directory=/", "no-such-file"], false),
    ] {
        assert_eq!(read(line).facts.lacks_a_file(), lacks, "{line:?}");
    }
}

#[test]
fn headers_alone_are_precompiled_and_not_linked() {
    for (line, links) in [
        ("x.h", false),
        ("x.hpp -o x.pch", false),
        ("-x c-header x.inc", false),
        ("-x c++-system-header vector", false),
        ("x.h -x none y.c", true),
        ("-x c x.h", true),
        ("-x c-header x.inc -x none y.o", true),
    ] {
        assert_eq!(args(line).facts.links(), links, "{line}");
    }
}

#[test]
fn the_output_is_the_last_one_named_by_any_spelling() {
    for (line, output) in [
        ("x.c", None),
        ("-o prog x.c", Some("prog")),
        ("-oprog x.c", Some("prog")),
        ("x.c --output=prog", Some("prog")),
        ("x.c --output prog", Some("prog")),
        ("x.c -o a -Wl,-o,b", Some("b")),
        ("x.c -Xlinker -o -Xlinker b", Some("b")),
        ("x.c -MF -o", None),
    ] {
        let expected = output.map(PathBuf::from);
        assert_eq!(args(line).facts.output, expected, "{line}");
    }
}

#[test]
fn a_line_whose_last_option_lacks_its_value_is_left_alone() {
    for line in ["x.c -o", "x.c -Xlinker", "x.c -I", "x.c -sectcreate a b"] {
        assert!(!args(line).facts.links(), "{line}");
    }
}

#[test]
fn own_flags_are_removed_and_all_others_stay_in_place() {
    let invocation = args("-Rnone -O2 -Rpass=inline x.c -Rcode -Xclang -Rcode -Rpass-missed=l");
    assert_eq!(
        joined(&invocation.for_clang(&[])),
        "-O2 -Rpass=inline x.c -Xclang -Rcode -Rpass-missed=l"
    );
}

#[test]
fn strip_requests_leave_a_link_and_only_a_link() {
    for (line, link, strip) in [
        ("-s x.c", "x.c", Some(Strip::All)),
        ("-Wl,-s x.c", "x.c", Some(Strip::All)),
        ("-Wl,-O1,-s,--gc-sections x.c", "-Wl,-O1,--gc-sections x.c", Some(Strip::All)),
        ("-Wl,--strip-debug x.c", "x.c", Some(Strip::Debug)),
        ("-Wl,-S -s x.c", "x.c", Some(Strip::All)),
        ("-Xlinker -S x.c", "x.c", Some(Strip::Debug)),
        ("--for-linker -s x.c", "x.c", Some(Strip::All)),
        ("--for-linker=-s x.c", "x.c", Some(Strip::All)),
        ("-Xlinker -soname -Xlinker -s x.c", "-Xlinker -soname -Xlinker -s x.c", None),
        ("-Wl,-rpath -Wl,-s x.c", "-Wl,-rpath -Wl,-s x.c", None),
        ("-Wl,-x -Wl,-O1 x.c", "-Wl,-x -Wl,-O1 x.c", None),
    ] {
        let invocation = args(line);
        assert_eq!(joined(&invocation.for_link(&[])), link, "{line}");
        assert_eq!(invocation.facts.linker.strip, strip, "{line}");
        assert_eq!(joined(&invocation.for_clang(&[])), line);
    }
}

#[test]
fn additions_come_last_but_before_the_end_of_options() {
    let additions = [OsString::from("-added")];
    for (line, link) in [("-O2 x.c", "-O2 x.c -added"), ("-O2 -- x.c -s", "-O2 -added -- x.c -s")] {
        assert_eq!(joined(&args(line).for_link(&additions)), link);
    }
}

#[test]
fn words_behind_the_end_of_options_are_inputs() {
    let invocation = args("-- -c -Rnone -s");
    assert_eq!(invocation.facts.files.len(), 3);
    assert_eq!(invocation.facts.linker.strip, None);
    assert!(invocation.facts.links());
    assert_eq!(joined(&invocation.for_clang(&[])), "-- -c -Rnone -s");
}

#[test]
fn a_response_file_is_read_and_passed_on_as_it_is() {
    let (_dir, argument) = response_file("-o 'a prog' x.c");
    let invocation = read(&["-O2", &argument]);
    assert_eq!(invocation.facts.output, Some(PathBuf::from("a prog")));
    assert_eq!(invocation.for_clang(&[]), ["-O2", &argument]);
}

#[test]
fn a_response_file_with_args_of_the_driver_is_replaced_by_what_remains() {
    let (_dir, argument) = response_file("-Rcode 'x y.c' -s");
    let invocation = read(&["-O2", &argument, "-g"]);
    assert_eq!(invocation.for_clang(&[]), ["-O2", "x y.c", "-s", "-g"]);
    assert_eq!(invocation.for_link(&[]), ["-O2", "x y.c", "-g"]);
}

#[test]
fn an_option_may_find_its_value_in_a_response_file() {
    let (_dir, argument) = response_file("prog x.c");
    let invocation = read(&["-o", &argument]);
    assert_eq!(invocation.facts.output, Some(PathBuf::from("prog")));
    assert_eq!(invocation.facts.files.len(), 1);
}

#[test]
fn names_that_are_not_unicode_pass_through() {
    let name = OsString::from_vec(b"\xff x.c".to_vec());
    let invocation = classify(vec![name.clone()]);
    assert_eq!(invocation.for_clang(&[]), [name]);
    assert!(invocation.facts.links());
}

#[test]
fn an_empty_arg_is_nothing() {
    let invocation = read(&["-O2", "x.c", "", "-o", "x"]);
    assert_eq!(invocation.facts.files, [PathBuf::from("x.c")]);
    assert!(invocation.facts.makes_image());
}

#[test]
fn a_strip_request_in_a_response_file_of_the_linker_leaves_the_link() {
    let (_dir, argument) = response_file("-s --defsym=a,b=1 -Bsymbolic");
    let invocation = args(&format!("x.o -Wl,-O1,{argument} -lm"));
    assert_eq!(invocation.facts.linker.strip, Some(Strip::All));
    assert_eq!(
        joined(&invocation.for_link(&[])),
        "x.o -Xlinker -O1 -Xlinker --defsym=a,b=1 -Xlinker -Bsymbolic -lm"
    );
    assert!(joined(&invocation.for_clang(&[])).contains(&argument));
    let (_dir, argument) = response_file("-soname -s");
    assert_eq!(args(&format!("x.o -Wl,{argument}")).facts.linker.strip, None);
}

#[test]
fn flangs_own_compiler_is_left_alone_and_its_directories_are_no_inputs() {
    assert!(args("-fc1 -emit-obj x.f90").facts.only_asks);
    for line in ["-module-dir m x.f90", "-J m x.f90", "-fintrinsic-modules-path m x.f90"] {
        assert_eq!(args(line).facts.files, [PathBuf::from("x.f90")], "{line}");
    }
}

#[test]
fn objects_change_places_among_themselves_and_nothing_else_moves() {
    let mut invocation = args("-O2 c.o -Wl,-O1 libx.a b.o -x c a.c -x none crt1.o -lm a.o -o p");
    invocation.reorder(LinkOrder::Alphabetical);
    assert_eq!(
        joined(&invocation.for_clang(&[])),
        "-O2 a.o -Wl,-O1 libx.a b.o -x c a.c -x none crt1.o -lm c.o -o p"
    );
    for line in ["-c b.c a.c", "b.o a.o -Wl,--format=binary data.o"] {
        let mut invocation = args(line);
        invocation.reorder(LinkOrder::Alphabetical);
        assert_eq!(joined(&invocation.for_clang(&[])), line);
    }
}

#[test]
fn objects_of_a_response_file_change_places_too() {
    let (_dir, argument) = response_file("b.o 'a c.o'");
    let mut invocation = read(&["-O2", &argument, "-lm"]);
    invocation.reorder(LinkOrder::Alphabetical);
    assert_eq!(invocation.for_clang(&[]), ["-O2", "a c.o", "b.o", "-lm"]);
}
