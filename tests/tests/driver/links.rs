//! Links: what the driver adds, takes away, and leaves behind.

use szc_abi::TABLE_SECTION;
use szc_tests::tools::{Place, sections, succeed, szc, szcxx};

const PROGRAM: &str = "#include <stdio.h>\nint main(void) { puts(\"hello\"); return 0; }\n";

/// Builds with these arguments, runs `./prog`, and returns its sections.
fn build_and_run(place: &Place, args: &[&str]) -> Vec<String> {
    place.run(szc(), args);
    assert_eq!(place.run("./prog", &[""; 0]), "hello\n", "{args:?}");
    sections(&place.read("prog"))
}

fn has_table(sections: &[String]) -> bool {
    sections.iter().any(|name| name == TABLE_SECTION)
}

fn has_symbols(sections: &[String]) -> bool {
    sections.iter().any(|name| name == ".symtab")
}

#[test]
fn programs_of_every_kind_get_a_table_and_run() {
    let place = Place::with("x.c", PROGRAM);
    for args in [
        &["-O2"][..],
        &["-no-pie"],
        &["-static"],
        &["-static-pie"],
        &["-flto", "-O2"],
        &["-Wl,--gc-sections", "-ffunction-sections"],
        &["-Wl,-O1", "-Wl,--as-needed", "-Wl,-z,now"],
        &["-x", "c"],
        &["-fsanitize=undefined", "-fsanitize-trap=all"],
        &["-fuse-ld=lld"],
        &["-fuse-ld=bfd"],
        &["-fuse-ld=gold"],
        &["-fuse-ld=mold"],
        &["-fuse-ld=lld", "-Wl,-O2"],
        &["-flto", "-fuse-ld=lld"],
    ] {
        let sections = build_and_run(&place, &[args, &["x.c", "-o", "prog"]].concat());
        assert!(has_table(&sections), "{args:?}");
        assert!(has_symbols(&sections), "{args:?}");
        assert!(!sections.iter().any(|name| name == ".rela.text"), "{args:?}");
    }
}

#[test]
fn a_strip_request_is_carried_out_and_the_table_stays() {
    let place = Place::with("x.c", PROGRAM);
    for (args, symbols) in [
        (&["-s"][..], false),
        (&["-Wl,-s"], false),
        (&["-Wl,-O1,--strip-all"], false),
        (&["-Xlinker", "-s"], false),
        (&["-Wl,-S"], true),
        (&["-Wl,--strip-debug"], true),
    ] {
        let sections = build_and_run(&place, &[args, &["-g", "x.c", "-o", "prog"]].concat());
        assert!(has_table(&sections), "{args:?}");
        assert_eq!(has_symbols(&sections), symbols, "{args:?}");
        assert!(!sections.iter().any(|name| name.starts_with(".debug")), "{args:?}");
    }
}

#[test]
fn names_with_blanks_and_response_files_work() {
    let place = Place::with("the source.c", PROGRAM);
    place.write("args", "-O2 'the source.c' -o \"the program\"");
    place.run(szc(), &["@args"]);
    assert_eq!(place.run("./the program", &[""; 0]), "hello\n");
    place.write("own args", "-Rcode -s the\\ source.c -o prog");
    assert!(has_table(&build_and_run(&place, &["@own args"])));
    place.write("nothing", "-Rnone the\\ source.c -o prog");
    assert!(!has_table(&build_and_run(&place, &["@nothing"])));
}

#[test]
fn inputs_behind_the_end_of_options_are_linked() {
    let place = Place::with("x.c", PROGRAM);
    assert!(has_table(&build_and_run(&place, &["-o", "prog", "--", "x.c"])));
}

#[test]
fn objects_of_gcc_and_archives_are_linked() {
    let place = Place::with("main.c", "void hello(void); int main(void) { hello(); return 0; }\n");
    place.write("hello.c", "#include <stdio.h>\nvoid hello(void) { puts(\"hello\"); }\n");
    place.run("gcc", &["-O2", "-c", "main.c", "hello.c"]);
    place.run("ar", &["rc", "libhello.a", "hello.o"]);
    assert!(has_table(&build_and_run(&place, &["main.o", "-L.", "-lhello", "-o", "prog"])));
}

#[test]
fn a_shared_library_gets_a_table_and_a_plain_program_can_use_it() {
    let place =
        Place::with("hello.c", "#include <stdio.h>\nvoid hello(void) { puts(\"hello\"); }\n");
    place.write("main.c", "void hello(void); int main(void) { hello(); return 0; }\n");
    place.run(szc(), &["-shared", "-fPIC", "hello.c", "-o", "libhello.so"]);
    assert!(has_table(&sections(&place.read("libhello.so"))));
    place.run("clang-22", &["main.c", "-L.", "-lhello", "-Wl,-rpath,$ORIGIN", "-o", "prog"]);
    assert_eq!(place.run("./prog", &[""; 0]), "hello\n");
}

#[test]
fn what_is_no_image_is_left_alone() {
    let place = Place::with("x.c", PROGRAM);
    place.run(szc(), &["x.c", "-o", "/dev/null"]);
    place.run(szc(), &["-r", "x.c", "-o", "joined.o"]);
    assert!(!has_table(&sections(&place.read("joined.o"))));
    place.write("free.c", "void _start(void) {}\n");
    place.run(szc(), &["-nostdlib", "-Wl,--oformat=binary", "free.c", "-o", "flat"]);
    // An old image is not taken for the result of a link that makes none.
    place.write("old", "\x7fELF and no more");
    place.run(szc(), &["x.c", "-Wl,--version", "-o", "old"]);
    assert_eq!(place.read("old"), b"\x7fELF and no more");
}

#[test]
fn the_runtime_is_linked_although_another_language_is_in_effect() {
    let place = Place::with("x.txt", PROGRAM);
    assert!(has_table(&build_and_run(&place, &["-o", "prog", "-x", "c", "x.txt"])));
    let output = place.feed(szc(), &["-x", "c", "-", "-o", "prog"], PROGRAM);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn a_dry_run_shows_the_link_and_makes_nothing() {
    let place = Place::with("x.c", PROGRAM);
    let output = place.feed(szc(), &["-###", "x.c", "-o", "prog"], "");
    let shown = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success());
    for part in ["--emit-relocs", "szc_rt_start", "libszc_runtime.a", "-fpass-plugin="] {
        assert!(shown.contains(part), "{part} in {shown}");
    }
    assert!(!shown.contains("lld"), "{shown}");
    let output = place.feed(szc(), &["-###", "-flto", "x.c", "-o", "prog"], "");
    let shown = String::from_utf8_lossy(&output.stderr);
    for part in ["ld.lld", "--load-pass-plugin=", "nostart-stop-gc"] {
        assert!(shown.contains(part), "{part} in {shown}");
    }
    assert!(!place.path.join("prog").exists());
}

#[test]
fn a_build_system_that_asks_for_the_linker_hears_of_the_one_in_use() {
    let place = Place::new();
    let by_clang = place.run("clang-22", &["-Wl,--version"]);
    assert_eq!(place.run(szc(), &["-Wl,--version"]), by_clang);
    assert!(place.run(szc(), &["-fuse-ld=mold", "-Wl,--version"]).contains("mold"));
}

#[test]
fn objects_are_linked_in_the_order_asked_for_by_every_compiler() {
    let place = Place::with("x.c", "int x(void) { return 1; }\n");
    let main = "#include <stdio.h>\nint x(void);\n\
                int main(void) { puts(main < (int (*)(void))x ? \"given\" : \"other\"); }\n";
    place.write("main.c", main);
    for (order, expected) in [("given", "other\n"), ("alphabetical", "given\n")] {
        for compiler in [&["-Rnone"][..], &["link-order", "gcc"]] {
            let mut command = place.command(szc());
            command.args(compiler).args(["x.c", "main.c", "-o", "prog"]);
            assert!(command.env("SZC_LINK_ORDER", order).status().expect("szc starts").success());
            assert_eq!(place.run("./prog", &[""; 0]), expected, "{compiler:?}");
        }
    }
}

#[test]
fn each_randomization_can_be_built_alone() {
    let place = Place::with("x.c", PROGRAM);
    for (word, table, runtime) in [
        ("-Rcode", true, true),
        ("-Rstack", false, true),
        ("-Rstack=per-function", false, true),
        ("-Rheap", false, true),
        ("-Rall", true, true),
        ("-Rnone", false, false),
    ] {
        let sections = build_and_run(&place, &[word, "-O2", "x.c", "-o", "prog"]);
        assert_eq!(has_table(&sections), table, "{word}");
        let has_runtime = sections.iter().any(|name| name == ".preinit_array");
        assert_eq!(has_runtime, runtime, "{word}");
    }
}

#[test]
fn a_malformed_variable_stops_the_build() {
    let place = Place::with("x.c", PROGRAM);
    let output = place.command(szc()).args(["-c", "x.c"]).env("SZC_BUILD", "cod").output();
    let output = output.expect("szc starts");
    assert_eq!(output.status.code(), Some(1));
    let message = String::from_utf8_lossy(&output.stderr);
    assert!(message.contains("SZC_BUILD=cod"), "{message}");
    assert!(!place.path.join("x.o").exists());
}

#[test]
fn a_missing_part_is_named_and_no_image_is_left() {
    let place = Place::with("x.c", PROGRAM);
    let output = place.command(szc()).args(["x.c", "-o", "prog"]).env("SZC_HOME", ".").output();
    let output = output.expect("szc starts");
    assert_eq!(output.status.code(), Some(1));
    let message = String::from_utf8_lossy(&output.stderr);
    assert!(message.contains("libszc_runtime.a") && message.contains("SZC_HOME"), "{message}");
    assert!(!place.path.join("prog").exists());
}

#[test]
fn an_image_whose_table_cannot_be_made_does_not_stay() {
    let place = Place::with("x.c", PROGRAM);
    place.write_script("clang", "exec clang-22 \"$@\"");
    // szc takes the tools beside the clang it is told to use.
    place.write_script("llvm-objcopy", "echo no room >&2; exit 1");
    let mut command = place.command(szc());
    command.args(["x.c", "-o", "prog"]).env("SZC_CLANG", "./clang");
    let output = command.output().expect("szc starts");
    assert_eq!(output.status.code(), Some(1));
    let message = String::from_utf8_lossy(&output.stderr);
    assert!(message.contains("prog") && message.contains("no room"), "{message}");
    assert!(!place.path.join("prog").exists());
}

#[test]
fn the_exit_code_is_that_of_clang_or_of_the_signal_that_ended_it() {
    let place = Place::with("x.c", PROGRAM);
    for (script, code) in [("exit 42", 42), ("kill -SEGV $$", 128 + 11)] {
        place.write_script("fake-clang", script);
        let output = place
            .command(szc())
            .args(["x.c", "-o", "prog"])
            .env("SZC_CLANG", "./fake-clang")
            .output();
        assert_eq!(output.expect("szc starts").status.code(), Some(code), "{script}");
    }
}

#[test]
fn a_link_that_fails_fails_as_with_clang() {
    let place = Place::with("x.c", "void missing(void); int main(void) { missing(); }\n");
    let output = place.feed(szc(), &["x.c", "-o", "prog"], "");
    assert_eq!(output.status.code(), Some(1));
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(said.matches("undefined reference to `missing'").count(), 1, "{said}");
    assert!(!said.contains("szc"), "{said}");
    assert!(!place.path.join("prog").exists());
}

#[test]
fn rustc_links_with_szc() {
    let place = Place::with("x.rs", "fn main() { println!(\"hello\"); }\n");
    let mut command = place.command("rustc");
    let mut linker = std::ffi::OsString::from("-Clinker=");
    linker.push(szc());
    succeed(command.arg(linker).args(["x.rs", "-o", "prog"]));
    assert_eq!(place.run("./prog", &[""; 0]), "hello\n");
    assert!(has_table(&sections(&place.read("prog"))));
}

#[test]
fn every_subcommand_explains_itself_and_refuses_a_call_without_arguments() {
    let place = Place::new();
    let args =
        ["compare", "run", "sweep", "gate", "baseline", "history", "report", "export", "inspect"];
    for word in args {
        let help = place.feed(szc(), &[word, "--help"], "");
        let shown = String::from_utf8_lossy(&help.stdout);
        assert_eq!(help.status.code(), Some(0), "{word}: {shown}");
        assert!(shown.contains(&format!("szc {word}")), "{word}: {shown}");
        let empty = place.feed(szc(), &[word], "");
        assert_eq!(empty.status.code(), Some(2), "{word}");
        assert!(!empty.stderr.is_empty(), "{word}");
    }
}

const THROWS: &str = "\
#include <cstdio>
#include <stdexcept>
#include <chrono>
__attribute__((noinline)) static int half(int n) {
  if (n % 2) throw std::runtime_error(\"odd\"); return n / 2; }
__attribute__((noinline)) static int tries(int n) {
  try { return half(n); } catch (std::exception &) { return -1; } }
int main() {
  auto start = std::chrono::steady_clock::now();
  long wrong = 0;
  do for (int n = 0; n < 100; n++) wrong += tries(n) != (n % 2 ? -1 : n / 2);
  while (std::chrono::steady_clock::now() - start < std::chrono::milliseconds(60));
  printf(\"%ld\\n\", wrong);
}
";

#[test]
fn an_unwinder_that_no_word_tells_of_is_found_in_the_image() {
    let place = Place::with("x.cc", THROWS);
    // As linker scripts, which may have any name.
    for (script, archive) in [("cxx", "libstdc++.a"), ("support", "libgcc_eh.a")] {
        let path = place.run("clang-22", &[&format!("-print-file-name={archive}")]);
        place.write(script, &format!("INPUT({})\n", path.trim()));
    }
    place.run(szcxx(), &["-O2", "-nostdlib++", "x.cc", "cxx", "support", "-lm", "-o", "x"]);
    let mut program = place.command("./x");
    program.env("SZC_INTERVAL_MS", "1").env("SZC_LOG", "log");
    assert_eq!(succeed(&mut program), "0\n");
    let log = String::from_utf8(place.read("log")).expect("text");
    assert!(!log.contains("\"relocations\":0,"), "{log}");
}

#[test]
fn a_link_that_is_interrupted_leaves_nothing_behind_and_ends_by_the_signal() {
    use std::os::unix::process::ExitStatusExt;
    for (name, signal) in [("INT", 2), ("TERM", 15), ("HUP", 1)] {
        let place = Place::with("x.c", "int main(void) { return 0; }");
        place.run(szc(), &["-c", "x.c"]);
        std::fs::create_dir(place.path.join("scratch")).expect("writable");
        // The signal comes when the image is there, and before it has its table.
        place.write_script("clang", &format!("clang-22 \"$@\" && kill -{name} $PPID"));
        let mut link = place.command(szc());
        link.args(["x.o", "-o", "x"]).env("SZC_CLANG", "./clang");
        link.env("TMPDIR", place.path.join("scratch"));
        let output = link.output().expect("szc starts");
        assert_eq!(output.status.signal(), Some(signal), "{output:?}");
        assert!(output.stderr.is_empty(), "{output:?}");
        let mut left: Vec<_> = std::fs::read_dir(&place.path)
            .expect("readable")
            .chain(std::fs::read_dir(place.path.join("scratch")).expect("readable"))
            .map(|entry| entry.expect("readable").file_name().into_string().expect("UTF-8"))
            .collect();
        left.sort();
        assert_eq!(left, ["clang", "scratch", "x.c", "x.o"]);
    }
}

#[test]
fn without_section_headers_code_stays() {
    let place = Place::with("x.c", "int main(void) { return 0; }");
    for args in [&["-Wl,-z,nosectionheader"][..], &["-z", "nosectionheader"]] {
        let mut link = place.command(szc());
        let output = link.args(["x.c", "-o", "x"]).args(args).output().expect("szc starts");
        assert!(output.status.success(), "{output:?}");
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(said.contains("code randomization is off: -z nosectionheader"), "{said}");
        succeed(&mut place.command("./x"));
    }
}
