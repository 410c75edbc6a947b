//! Shared libraries beside a program whose code moves: built by szc or not, linked or loaded later,
//! with calls and exceptions in both directions.

use szc_abi::TABLE_SECTION;
use szc_tests::build::{moving, plain};
use szc_tests::directives::Ending;
use szc_tests::run::{Outcome, run};
use szc_tests::tools::{Place, sections, szcxx};

const LIBRARY: &str = r#"
#include <stdexcept>
#include <vector>
struct Count { static inline int alive; Count() { alive++; } ~Count() { alive--; } };
extern "C" int answer(int (*back)(int), int x) {
    Count count;
    switch (x) {
    case 0: return back(1);
    case 1: return back(x) + 5;
    case 2: throw std::runtime_error("from the library");
    case 3: try { return back(-1); } catch (int value) { return value + Count::alive; }
    case 4: return back(back(4));
    default: return std::vector<int>(x, back(2)).at(x - 1);
    }
}
extern "C" int alive() { return Count::alive; }
"#;

const MAIN: &str = r#"
#include <cstdio>
#include <ctime>
#include <dlfcn.h>
#include <stdexcept>
typedef int answer_type(int (*)(int), int);
#ifdef LINKED
extern "C" answer_type answer;
extern "C" int alive();
#endif
__attribute__((noinline)) static int twice(int x) { if (x < 0) throw 40; return 2 * x; }
__attribute__((noinline)) static int square(int x) { if (x < 0) throw 50; return x * x; }
int main(int count, char **arguments) {
#ifndef LINKED
    void *library = dlopen(arguments[1], RTLD_NOW);
    if (!library) return puts(dlerror()), 2;
    auto answer = (answer_type *)dlsym(library, "answer");
    auto alive = (int (*)())dlsym(library, "alive");
#endif
    long first = 0;
    timespec start, now;
    clock_gettime(CLOCK_MONOTONIC, &start);
    do {
        long sum = 0;
        for (int i = 0; i < 7; i++)
            for (auto back : {twice, square})
                try { sum = sum * 7 + answer(back, i); }
                catch (const std::runtime_error &error) { sum += error.what()[0]; }
        if (!first) printf("%ld\n", first = sum);
        if (sum != first || alive() != 0) return puts("changed"), 3;
        clock_gettime(CLOCK_MONOTONIC, &now);
    } while ((now.tv_sec - start.tv_sec) * 1000 + (now.tv_nsec - start.tv_nsec) / 1000000 < 60);
    return 0;
}
"#;

/// A place with the sources and a library built by `driver`.
fn with_library(driver: &std::ffi::OsStr) -> Place {
    let place = Place::with("library.cpp", LIBRARY);
    place.write("main.cpp", MAIN);
    place.run(
        driver,
        &["-O2", "-shared", "-fPIC", "-Wl,-soname,library.so", "library.cpp", "-o", "library.so"],
    );
    place
}

fn has_table(place: &Place, name: &str) -> bool {
    sections(&place.read(name)).iter().any(|section| section == TABLE_SECTION)
}

fn fast(place: &Place, args: &[&str]) -> Outcome {
    run(&place.path.join("main"), &[("SZC_INTERVAL_MS", "1"), ("SZC_SEED", "5")], args)
}

#[test]
fn a_library_is_linked_to_a_program_whose_code_moves() {
    for driver in ["clang++-22".as_ref(), szcxx().as_os_str()] {
        let place = with_library(driver);
        let link = |driver: &std::ffi::OsStr| {
            let args =
                ["-O2", "-DLINKED", "main.cpp", "./library.so", "-Wl,-rpath,$ORIGIN", "-o", "main"];
            place.run(driver, &args);
        };
        link("clang++-22".as_ref());
        let expected = fast(&place, &[]);
        assert_eq!(expected.ending, Ending::Code(0), "{}", expected.text());
        link(szcxx().as_os_str());
        let found = fast(&place, &[]);
        assert_eq!(found.stdout, expected.stdout, "{driver:?}: {}", found.stderr);
        assert!(found.log_of_success().epochs > 2, "{driver:?}");
    }
}

#[test]
fn a_library_is_loaded_by_a_program_whose_code_moves() {
    for driver in ["clang++-22".as_ref(), szcxx().as_os_str()] {
        let place = with_library(driver);
        let path = place.path.join("library.so").display().to_string();
        place.run("clang++-22", &["-O2", "main.cpp", "-ldl", "-o", "main"]);
        let expected = fast(&place, &[&path]);
        assert_eq!(expected.ending, Ending::Code(0), "{}", expected.text());
        place.run(szcxx(), &["-O2", "main.cpp", "-ldl", "-o", "main"]);
        let found = fast(&place, &[&path]);
        assert_eq!(found.stdout, expected.stdout, "{driver:?}: {}", found.stderr);
        assert!(found.log_of_success().epochs > 2, "{driver:?}");
    }
}

#[test]
fn a_library_with_a_table_serves_a_plain_program_as_ever() {
    let place = with_library(szcxx().as_os_str());
    assert!(has_table(&place, "library.so"));
    let path = place.path.join("library.so").display().to_string();
    place.run("clang++-22", &["-O2", "main.cpp", "-ldl", "-o", "main"]);
    let outcome = fast(&place, &[&path]);
    assert_eq!(outcome.ending, Ending::Code(0), "{}{}", outcome.text(), outcome.stderr);
    // The library says that it found no runtime, and nothing else is written.
    let [log] = &outcome.logs[..] else { panic!("{:?}", outcome.logs) };
    assert_eq!(log.code_refused.as_deref(), Some("the program was not built by szc"));
    assert!(!log.randomize.code && !log.randomize.stack && log.relocations == 0, "{log:?}");
}

#[test]
fn a_program_of_many_functions_runs_as_ever() {
    use std::fmt::Write as _;
    const FUNCTIONS: u64 = 4000;
    let mut text = String::from("#include <stdio.h>\n#define F __attribute__((noinline)) static\n");
    let mut table = String::from("static long (*const all[])(long) = {");
    for index in 0..FUNCTIONS {
        let other = index.wrapping_mul(0x9e37_79b9) % index.max(1);
        let call = if index % 3 == 1 { format!("f{other}(x >> 1)") } else { "x".into() };
        let _ = writeln!(
            text,
            "F long f{index}(long x) {{ __asm__(\"\" : \"+r\"(x)); return x * {index} + {call}; }}"
        );
        let _ = write!(table, "f{index},");
    }
    let _ = write!(text, "{table}}};\nF long large(long x) {{ switch (x) {{");
    for case in 0..3000 {
        let _ = write!(text, "case {case}: return f{}(x) ^ {case};", case * 7 % FUNCTIONS);
    }
    text.push_str(
        "} return 1; }\nint main(void) { unsigned long sum = 0;\
         for (int round = 0; round < 30; round++) {\
         for (long i = 0; i < 4000; i++)\
         sum = sum * 31 + all[(i * 77 + round) % 4000](i) + large(i);\
         printf(\"%lu\\n\", sum); } }\n",
    );
    let place = Place::with("many.c", &text);
    let source = place.path.join("many.c");
    let expected = run(&plain(&source, &["-O1"], &place.path), &[], &[]);
    let image = moving(&source, &["-O1"], &place.path);
    for interval in ["1", "5", "0"] {
        let found = run(&image, &[("SZC_INTERVAL_MS", interval), ("SZC_SEED", "6")], &[]);
        assert_eq!(found.stdout, expected.stdout, "{interval}: {}", found.stderr);
        let log = found.log_of_success();
        assert!(log.functions.movable >= 3900 && log.relocations >= 3900, "{log:?}");
    }
}

#[test]
fn python_loads_a_library_with_a_table() {
    let place = with_library(szcxx().as_os_str());
    let path = place.path.join("library.so").display().to_string();
    let script = "import ctypes, sys\n\
                  library = ctypes.CDLL(sys.argv[1])\n\
                  back = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_int)(lambda x: 3 * x)\n\
                  print(library.answer(back, 1), library.answer(back, 6), library.alive())\n";
    let args = ["-c", script, path.as_str()];
    assert_eq!(place.run("python3", &args), "8 6 0\n");
}
