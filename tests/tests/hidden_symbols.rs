//! Programs whose version script hides all but what it names: libraries find szc's `malloc` and the
//! unwinder szc's search all the same, or the program does without randomized heap and code. So it
//! does with a library whose unwinder takes the place of the one that asks.

use std::path::Path;
use szc_tests::directives::Ending;
use szc_tests::run::run;
use szc_tests::tools::{Place, is_long, szc, szcxx};

/// Takes blocks from the C library and gives them back, and throws, for 60 ms.
const PROGRAM: &str = r#"
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <time.h>
static double now() {
  timespec t; clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * 1e3 + t.tv_nsec / 1e6;
}
__attribute__((noinline)) static int deeper(int depth)
{
    std::string own(30, 'x');
    if (depth == 0)
        throw std::string(40, 'y');
    return deeper(depth - 1) + (int)own.size();
}
__attribute__((noinline)) static size_t thrown(int depth)
{
    try {
        return deeper(depth);
    } catch (const std::string &text) {
        return text.size() + depth;
    }
}
int main()
{
    size_t sum = 0, rounds = 0;
    for (double end = now() + 60; rounds == 0 || now() < end; rounds++) {
        char *copy = strdup("a copy by the C library"), *printed = nullptr;
        sum += strlen(copy);
        free(copy);
        if (asprintf(&printed, "%d", 12345) != 5)
            return 2;
        sum += strlen(printed);
        free(printed);
        sum += thrown(10);
    }
    printf("%zu\n", sum / rounds);
    return 0;
}
"#;

const SCRIPTS: [(&str, &str); 3] = [
    ("anonymous.map", "{ global: main; local: *; };\n"),
    ("named.map", "VERSION_1 { global: main; local: *; };\n"),
    ("retained", "main\n"),
];

const WORDS: [&str; 3] = [
    "-Wl,--version-script=anonymous.map",
    "-Wl,--version-script,named.map",
    "-Wl,--retain-symbols-file=retained",
];

fn place() -> Place {
    let place = Place::with("x.cpp", PROGRAM);
    SCRIPTS.iter().for_each(|(name, text)| place.write(name, text));
    place
}

fn build(place: &Place, args: &[&str]) -> String {
    let mut command = place.command(szcxx());
    let output = command.args(args).args(["-O2", "x.cpp", "-o", "prog"]).output().expect("starts");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{args:?}: {said}");
    said
}

fn log_of(image: &Path, title: &str) -> szc_tests::records::Log {
    let outcome = run(image, &[("SZC_SEED", "3"), ("SZC_INTERVAL_MS", "1")], &[]);
    assert_eq!(outcome.ending, Ending::Code(0), "{title}: {}{}", outcome.text(), outcome.stderr);
    assert_eq!(outcome.text(), "78\n", "{title}");
    outcome.log.expect("a log")
}

#[test]
fn a_program_shows_what_libraries_must_find_whatever_a_version_script_hides() {
    let place = place();
    for linker in ["", "-fuse-ld=lld", "-fuse-ld=gold", "-fuse-ld=mold"] {
        // gold and mold retain no relocations of symbols that they leave out. Of lld, one script
        // shows in the short form that its words are the same.
        let scripts = match linker {
            "" => &WORDS[..],
            "-fuse-ld=lld" if is_long() => &WORDS[..],
            "-fuse-ld=lld" => &WORDS[..1],
            _ => &WORDS[..2],
        };
        for args in scripts.iter().chain(&["-Wl,--exclude-libs,ALL", "-fvisibility=hidden"]) {
            let title = format!("{linker} {args}");
            let all = [*args, linker];
            assert_eq!(build(&place, &all[..2 - usize::from(linker.is_empty())]), "", "{title}");
            let log = log_of(&place.path.join("prog"), &title);
            assert!(
                log.randomize.code && log.randomize.heap && log.randomize.stack,
                "{title}: {log:?}"
            );
            // GNU ld takes functions that are not to be retained out of the table of symbols, too:
            // they stay.
            let most_stay = linker.is_empty() && args.contains("retain");
            let least = if most_stay { 0 } else { 10 };
            assert!(log.relocations > 0 && log.functions.movable > least, "{title}: {log:?}");
        }
    }
}

#[test]
fn with_an_unknown_linker_a_program_does_without_what_its_libraries_do_not_find() {
    let place = place();
    place.write_script("another", "test \"$1\" = --version || exec ld.bfd \"$@\"");
    let path = format!("--ld-path={}", place.path.join("another").display());
    let said = build(&place, &[&path, WORDS[0]]);
    assert!(said.contains("--version-script") && said.contains("malloc"), "{said}");
    let log = log_of(&place.path.join("prog"), "unknown");
    assert!(!log.randomize.code && !log.randomize.heap, "{log:?}");
    let reasons = [log.code_refused, log.heap_refused].map(Option::unwrap_or_default);
    assert!(reasons.iter().all(|reason| reason.contains("hides")), "{reasons:?}");
}

#[test]
fn a_script_that_names_some_of_it_and_its_comments_are_kept() {
    let place = place();
    place.write("some.map", "# malloc {\n/* { */ { malloc; free; global_x; };\n");
    place.write("two.map", "V1 { global: main; }; V2 { global: absent; local: *; } V1;\n");
    for script in ["some.map", "two.map"] {
        build(&place, &["-Xlinker", "--version-script", "-Xlinker", script]);
        let log = log_of(&place.path.join("prog"), script);
        assert!(log.randomize.code && log.randomize.heap, "{script}: {log:?}");
    }
}

#[test]
fn a_program_whose_script_names_what_libraries_must_find_is_randomized_by_any_linker() {
    let place = place();
    let names = "main; malloc; calloc; realloc; free; memalign; aligned_alloc; posix_memalign; \
                 valloc; pvalloc; \
                 malloc_usable_size; _Unwind_Find_FDE";
    place.write("names.map", &format!("{{ global: {names}; local: *; }};\n"));
    build(&place, &["-fuse-ld=bfd", "-rdynamic", "-Wl,--version-script=names.map"]);
    let log = log_of(&place.path.join("prog"), "bfd");
    assert!(log.randomize.code && log.randomize.heap, "{log:?}");
}

#[test]
fn an_unwinder_that_a_library_brings_along_finds_copies_or_keeps_code_in_place() {
    let place = Place::with(
        "plain.cpp",
        r#"
extern "C" int guarded(int (*callback)(int), int x)
{
    try {
        return callback(x);
    } catch (int y) {
        return y;
    }
}
extern "C" int thrown(int x)
{
    if (x > 3)
        throw x * 2;
    return x;
}
"#,
    );
    place.write(
        "x.c",
        r#"
#include <stdio.h>
int guarded(int (*)(int), int);
int thrown(int);
__attribute__((noinline)) static int through(int x) { return thrown(x) + 1; }
int main(void)
{
    int sum = 0;
    for (int i = 0; i < 2000; i++)
        sum += guarded(through, i % 10);
    printf("%d\n", sum / 100 - 98);
    return 0;
}
"#,
    );
    // The last is nongnu.org's, which asks nobody.
    for (args, moves) in [
        (&["-lgcc_s"][..], true),
        (&["-Wl,--no-as-needed", "-l:libunwind.so.1"], true),
        (&["-Wl,--no-as-needed", "-l:libunwind.so.8"], false),
    ] {
        let mut library = place.command("clang++-22");
        library.arg("-Wl,-soname,libplain.so");
        library.args(["-O2", "-shared", "-fPIC", "plain.cpp", "-o", "libplain.so"]).args(args);
        assert!(library.status().expect("starts").success());
        place.run(szc(), &["-O2", "x.c", "-o", "prog", "./libplain.so", "-Wl,-rpath,$ORIGIN"]);
        let log = log_of(&place.path.join("prog"), args[0]);
        assert_eq!(log.randomize.code, moves, "{args:?}: {log:?}");
        let refused = log.code_refused.unwrap_or_default();
        assert_eq!(refused.contains("unwinds"), !moves, "{refused}");
    }
}

/// As nongnu.org builds it, libunwind leads no exceptions: programs walk by its own functions.
#[test]
fn a_libunwind_that_leads_no_exceptions_keeps_code_in_place() {
    let place = Place::new();
    place.write("x.c", "#include <stdio.h>\nint main(void) { puts(\"hello\"); return 0; }\n");
    place.write("walks.c", "int STEP(void *cursor) { return !cursor; }\n");
    for step in ["_ULx86_64_step", "_Ux86_64_step", "another_step"] {
        let is = format!("-DSTEP={step}");
        let mut library = place.command("clang-22");
        library.args(["-O2", "-shared", "-fPIC", "walks.c", "-o", "libwalks.so", &is]);
        assert!(library.status().expect("starts").success());
        let mut object = place.command("clang-22");
        assert!(object.args(["-c", "walks.c", &is]).status().expect("starts").success());
        let shared = ["-Wl,--no-as-needed", "-L.", "-lwalks", "-Wl,-rpath,$ORIGIN"];
        for args in [&shared[..], &["walks.o"], &["walks.o", "-static"]] {
            place.run(szc(), &[&["-O2", "x.c", "-o", "prog"], args].concat());
            let outcome = run(&place.path.join("prog"), &[("SZC_INTERVAL_MS", "1")], &[]);
            assert_eq!((outcome.ending, &*outcome.text()), (Ending::Code(0), "hello\n"));
            let log = outcome.log.expect("a log");
            assert_eq!(log.randomize.code, step == "another_step", "{step} {args:?}: {log:?}");
            let refused = log.code_refused.unwrap_or_default();
            assert_eq!(refused.contains("unwinds"), step != "another_step", "{refused}");
        }
    }
}
