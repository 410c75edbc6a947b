//! Linkers: what clang links, szc links, by the same one; and what its additions make impossible is
//! linked without them.

use std::process::Output;
use szc_abi::TABLE_SECTION;
use szc_tests::tools::{Place, sections, succeed, szc, szcxx};

const PROGRAM: &str = "#include <stdio.h>\nint main(void) { puts(\"hello\"); return 0; }\n";

fn has_table(place: &Place, image: &str) -> bool {
    sections(&place.read(image)).iter().any(|name| name == TABLE_SECTION)
}

fn outcome(place: &Place, driver: impl AsRef<std::ffi::OsStr>, args: &[&str]) -> Output {
    place.command(driver).args(args).output().expect("starts")
}

#[test]
fn a_word_of_the_linkers_is_taken_or_refused_as_by_clang() {
    let place = Place::with("x.c", PROGRAM);
    place.write("y.map", "{ global: main; absent; local: *; };\n");
    place.run("clang-22", &["-c", "x.c"]);
    for word in [
        "--reduce-memory-overheads",
        "--hash-size=1021",
        "-Ttext-segment=0x10000000",
        "--no-warn-rwx-segments",
        "--no-warn-execstack",
        "--copy-dt-needed-entries",
        "--add-needed",
        "--default-symver",
        "--sort-common=descending",
        "--gc-keep-exported",
        "--require-defined=main",
        "--dynamic-list-data",
        "--dynamic-list-cpp-typeinfo",
        "--spare-dynamic-tags=4",
        "--disable-multiple-abs-defs",
        "--version-script=y.map",
        "-z,nodelete",
        "-A,x86-64",
        "-Y,/x",
        "--icf=all",
        "--rosegment",
        "--no-such-word",
        "-z,no-such-word",
    ] {
        let word = format!("-Wl,{word}");
        let [by_clang, by_szc] = [std::ffi::OsStr::new("clang-22"), szc().as_os_str()]
            .map(|driver| outcome(&place, driver, &["x.o", &word, "-o", "x"]));
        assert_eq!(by_szc.status.code(), by_clang.status.code(), "{word}: {by_szc:?}");
        assert_eq!(by_szc.stderr, by_clang.stderr, "{word}: {by_szc:?}");
        if by_szc.status.success() {
            assert!(has_table(&place, "x"), "{word}");
            assert_eq!(place.run("./x", &[""; 0]), "hello\n", "{word}");
        }
    }
}

#[test]
fn a_library_is_linked_whose_script_names_what_is_not_there() {
    let place = Place::with("x.c", "int shown(void) { return 1; }\n");
    place.write("x.map", "V1 { global: shown; absent; local: *; };\n");
    for lto in [&[][..], &["-flto"]] {
        let args = ["-shared", "-fPIC", "-Wl,--version-script=x.map", "x.c", "-o", "x.so"];
        place.run(szc(), &[&args, lto].concat());
        assert!(has_table(&place, "x.so"));
    }
}

#[test]
fn what_a_library_lacks_is_found_in_one_that_another_needs() {
    let place = Place::with("deep.c", "int deep(void) { return 5; }\n");
    place.write("a.c", "int deep(void); int a(void) { return deep() + 1; }\n");
    place.write("b.c", "int deep(void); int b(void) { return deep() + 2; }\n");
    place.write(
        "m.c",
        "#include <stdio.h>\nint a(void), b(void);\n\
         int main(void) { printf(\"%d %d\\n\", a(), b()); }\n",
    );
    let here = format!("-Wl,-rpath,{}", place.path.display());
    let shared = ["-shared", "-fPIC", &here];
    for (args, needed) in [
        (["deep.c", "-o", "libdeep.so"], None),
        (["a.c", "-o", "liba.so"], None),
        (["b.c", "-o", "libb.so"], Some("./libdeep.so")),
    ] {
        let args: Vec<&str> = shared.iter().chain(&args).chain(&needed).copied().collect();
        place.run(szc(), &args);
    }
    for lto in [&[][..], &["-flto"]] {
        let args = ["m.c", "./liba.so", "./libb.so", &here, "-o", "m"];
        place.run(szc(), &[&args, lto].concat());
        assert_eq!(place.run("./m", &[""; 0]), "6 7\n");
    }
}

#[test]
fn a_link_that_only_szcs_arguments_make_fail_is_done_with_fewer_of_them_and_says_so() {
    let place = Place::with("x.c", PROGRAM);
    for (refused, said, table, runtime) in [
        ("--emit-relocs", "code randomization is off", false, true),
        ("szc-runtime-", "randomization is off", false, false),
    ] {
        let script = format!(
            "case \"$*\" in *{refused}*) echo refuses {refused} >&2; exit 1;; esac; exec ld \"$@\""
        );
        place.write_script("picky", &script);
        let path = format!("--ld-path={}", place.path.join("picky").display());
        let output = outcome(&place, szc(), &[&path, "x.c", "-o", "x"]);
        let text = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{text}");
        assert_eq!(text.lines().count(), 1, "{text}");
        assert!(text.contains(said) && text.contains(refused), "{text}");
        assert_eq!(place.run("./x", &[""; 0]), "hello\n");
        let sections = sections(&place.read("x"));
        assert_eq!(has_table(&place, "x"), table, "{refused}");
        assert_eq!(sections.iter().any(|name| name == ".preinit_array"), runtime, "{refused}");
    }
}

#[test]
fn a_link_that_clang_would_fail_runs_once() {
    let place = Place::with("x.c", "int missing(void); int main(void) { return missing(); }\n");
    place.write("y.c", "int main(void) { return 0; }\n");
    place.write_script("counting", "echo once >>count; exec clang-22 \"$@\"");
    for args in [&["x.c"][..], &["y.c", "-lno_such_library"], &["y.c", "-Wl,--no-such-word"]] {
        place.write("count", "");
        let mut link = place.command(szc());
        let link = link.args(args).args(["-o", "x"]).env("SZC_CLANG", "./counting");
        let output = link.output().expect("starts");
        assert_eq!(output.status.code(), Some(1), "{output:?}");
        assert_eq!(place.read("count"), b"once\n", "{args:?}");
        let by_clang = outcome(&place, "clang-22", &[args, &["-o", "x"]].concat());
        let lines = |output: &Output| output.stderr.iter().filter(|byte| **byte == b'\n').count();
        assert_eq!(lines(&output), lines(&by_clang), "{output:?}");
    }
}

#[test]
fn an_image_in_which_no_relocations_were_retained_is_linked_without_moving_code() {
    let place = Place::with("x.c", PROGRAM);
    // As a script of the linker's that discards them.
    place.write_script(
        "forgetful",
        "for word; do shift; test \"$word\" = --emit-relocs || set -- \"$@\" \"$word\"; done\n\
         exec ld \"$@\"",
    );
    let path = format!("--ld-path={}", place.path.join("forgetful").display());
    let output = outcome(&place, szc(), &[&path, "x.c", "-o", "x"]);
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{text}");
    assert!(text.contains("x: code randomization is off"), "{text}");
    let mut program = place.command("./x");
    assert_eq!(succeed(program.env("SZC_LOG", "log")), "hello\n");
    let log = String::from_utf8(place.read("log")).expect("text");
    assert!(log.contains("\"code\":false,\"stack\":true,\"heap\":true"), "{log}");
}

#[test]
fn intermediate_code_is_linked_by_lld_although_no_word_tells_of_it() {
    let place = Place::with("x.c", PROGRAM);
    place.run(szc(), &["-flto", "-O2", "-c", "x.c"]);
    place.run(szc(), &["x.o", "-o", "x"]);
    assert!(has_table(&place, "x"));
    assert_eq!(place.run("./x", &[""; 0]), "hello\n");
}

#[test]
fn a_word_that_lld_does_not_know_costs_link_time_optimization_its_pads_and_no_more() {
    let place = Place::with("x.c", PROGRAM);
    for word in ["--copy-dt-needed-entries", "-Ttext-segment=0x10000000", "--no-such-word"] {
        let word = format!("-Wl,{word}");
        let args = ["-flto", "-O2", "x.c", &word, "-o", "x"];
        let by_clang = outcome(&place, "clang-22", &args);
        let by_szc = outcome(&place, szc(), &args);
        assert_eq!(by_szc.status.code(), by_clang.status.code(), "{word}: {by_szc:?}");
        // Not every system has the plugin by which clang's linker does it.
        if by_szc.status.success() {
            let text = String::from_utf8_lossy(&by_szc.stderr);
            assert!(text.lines().count() == 1 && text.contains("stack pads"), "{text}");
            assert!(has_table(&place, "x"), "{word}");
            assert_eq!(place.run("./x", &[""; 0]), "hello\n", "{word}");
        }
    }
}

#[test]
fn an_unwinder_inside_the_program_finds_frames_whoever_links_it() {
    let throws = "#include <cstdio>\n\
        static int __attribute__((noinline)) f(int x) { if (x) throw x; return 0; }\n\
        int main(int n, char **) { try { f(n); } catch (int x) { printf(\"%d\\n\", x); } }\n";
    let place = Place::with("x.cc", throws);
    for linker in ["bfd", "gold", "lld", "mold"] {
        let linker = format!("-fuse-ld={linker}");
        for args in [&["-static"][..], &["-static-pie"], &["-static-libgcc", "-static-libstdc++"]] {
            if args == ["-static-pie"] && linker.contains("gold") {
                continue; // It knows none.
            }
            place.run(szcxx(), &[args, &["-O2", &linker, "x.cc", "-o", "x"]].concat());
            assert!(has_table(&place, "x"), "{linker} {args:?}");
            assert_eq!(place.run("./x", &[""; 0]), "1\n", "{linker} {args:?}");
        }
    }
}

#[test]
fn programs_link_against_variables_of_a_library() {
    let place =
        Place::with("lib.c", "int numbers[4] = {1, 2, 3, 4};\nint (*call)(const char *);\n");
    place.write(
        "x.c",
        "#include <stdio.h>\nextern int numbers[4];\n\
         int main(void) { return printf(\"%d\\n\", numbers[2]) - 2; }\n",
    );
    for linker in ["bfd", "gold", "lld", "mold"] {
        let linker = format!("-fuse-ld={linker}");
        place.run(szc(), &["-O2", "-shared", "-fPIC", &linker, "lib.c", "-o", "lib.so"]);
        assert!(has_table(&place, "lib.so"), "{linker}");
        for args in [
            &["-fuse-ld=bfd"][..],
            &["-fuse-ld=bfd", "-no-pie", "-fno-pie"],
            &["-fuse-ld=gold"],
            &["-fuse-ld=lld"],
            &["-fuse-ld=mold"],
        ] {
            let args = [args, &["-O2", "x.c", "./lib.so", "-o", "x"]].concat();
            place.run("clang-22", &args);
            assert_eq!(place.run("./x", &[""; 0]), "3\n", "{linker} {args:?}");
        }
    }
}

#[test]
fn scripts_that_read_what_a_link_shows_find_the_compilers_objects_alone() {
    let place = Place::with("x.cpp", "int one() { return 1; }\n");
    place.run("clang++-22", &["-fPIC", "-c", "x.cpp"]);
    let [by_clang, by_szc] =
        [std::ffi::OsStr::new("clang++-22"), szcxx().as_os_str()].map(|driver| {
            let shown = outcome(&place, driver, &["-shared", "-v", "x.o", "-o", "x.so"]).stderr;
            let shown = String::from_utf8(shown).expect("UTF-8");
            let objects = shown.split_whitespace().map(|word| word.trim_matches('"').to_owned());
            objects.filter(|word| word.ends_with(".o")).collect::<Vec<_>>()
        });
    assert!(by_clang.len() > 2, "{by_clang:?}");
    assert_eq!(by_szc, by_clang);
}
