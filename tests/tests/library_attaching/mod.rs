//! How a program's runtime takes charge of libraries built by szc, and what it does not touch.

mod crowds;
mod refused;

use std::path::Path;
use std::process::Command;
use szc_abi::TABLE_SECTION;
use szc_tests::directives::Ending;
use szc_tests::records::{Copy, read_map};
use szc_tests::run::run;
use szc_tests::tools::{Place, succeed, szc, szcxx};

const LIBRARY: &str = r#"
#define F __attribute__((noinline))
F static int one(int x) { __asm__ volatile("" : "+r"(x)); return x + 1; }
F static int two(int x) { __asm__ volatile("" : "+r"(x)); return one(x) * 2; }
F static int three(int x) { __asm__ volatile("" : "+r"(x)); return two(x) - one(x); }
int in_library(int (*back)(int), int x) { return back(one(x)) + two(x) * three(x); }
"#;

/// Opens and closes each library named by its arguments so many times, two milliseconds each.
const OPENER: &str = r#"
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
__attribute__((noinline)) static int back(int x) { __asm__ volatile("" : "+r"(x)); return 3 * x; }
static long resident(void) {
    long all = 0, here = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (!file || fscanf(file, "%ld %ld", &all, &here) != 2) abort();
    fclose(file);
    return here;
}
int main(int count, char **arguments) {
    long before = 0, rounds = atol(arguments[1]);
    for (long round = 0; round < rounds; round++) {
        for (int i = 2; i < count; i++) {
            void *library = dlopen(arguments[i], RTLD_NOW);
            if (!library) return puts(dlerror()), 2;
            int (*call)(int (*)(int), int) = dlsym(library, "in_library");
            struct timespec wait = {0, 2000000};
            int first = call(back, 5);
            if (rounds > 1) nanosleep(&wait, 0);
            if (first != 90 || call(back, 5) != 90) return puts("wrong"), 3;
            if (dlclose(library)) return 4;
        }
        if (round == rounds / 4) before = resident();
    }
    if (rounds > 1) fprintf(stderr, "%ld\n", resident() - before);
    return 0;
}
"#;

fn opener() -> Place {
    let place = Place::with("main.c", OPENER);
    place.write("library.c", LIBRARY);
    place.run(szc(), &["-O2", "main.c", "-ldl", "-o", "main"]);
    place.run(szc(), &["-O2", "-shared", "-fPIC", "library.c", "-o", "first.so"]);
    std::fs::copy(place.path.join("first.so"), place.path.join("second.so")).expect("writable");
    place
}

fn path(place: &Place, name: &str) -> String {
    place.path.join(name).display().to_string()
}

#[test]
fn what_was_kept_of_a_library_goes_after_it_was_closed() {
    let place = opener();
    let (first, second) = (path(&place, "first.so"), path(&place, "second.so"));
    let args = ["120", first.as_str(), second.as_str()];
    // The program itself soon keeps its layout, so that only libraries could make it grow.
    let settings = [
        ("SZC_INTERVAL_MS", "1"),
        ("SZC_SEED", "3"),
        ("SZC_CODE_BUDGET_MIB", "1"),
        ("SZC_CODE_RECLAIM", "0"),
    ];
    let outcome = run(&place.path.join("main"), &settings, &args);
    let log = outcome.log_of_success();
    assert_eq!(log.libraries.attached, 240, "{log:?}");
    assert!(log.exhausted && log.libraries.refused.is_none(), "{log:?}");
    // One layout of the library takes more than twenty pages: 180 of them would be thousands.
    let grown: i64 = outcome.stderr.trim().parse().expect("a number");
    assert!(grown < 1000, "{grown} pages, {log:?}");
}

/// Copies of the library's functions in a run, in the order of their addresses.
fn layout(place: &Place, seed: &str, libraries: &[&str]) -> Vec<Copy> {
    let map = place.path.join(format!("map of {seed} {}", libraries.join(" ")));
    // The runtime appends.
    let _ = std::fs::remove_file(&map);
    let shown = map.display().to_string();
    let settings = [("SZC_INTERVAL_MS", "0"), ("SZC_SEED", seed), ("SZC_MAP", shown.as_str())];
    let paths: Vec<String> = libraries.iter().map(|name| path(place, name)).collect();
    let mut args = vec!["1"];
    args.extend(paths.iter().map(String::as_str));
    let outcome = run(&place.path.join("main"), &settings, &args);
    assert_eq!(outcome.ending, Ending::Code(0), "{}{}", outcome.text(), outcome.stderr);
    // "one" is shorter than an entry's jump and stays.
    let ours = ["two", "three", "in_library"];
    let mut copies = read_map(&map);
    copies.retain(|copy| ours.contains(&copy.name.as_str()));
    assert_eq!(copies.len(), 3 * libraries.len(), "{copies:?}");
    copies
}

/// What of a layout does not depend on where the kernel put the library.
fn relative(copies: &[Copy]) -> Vec<(String, u64, u64)> {
    let of = |copy: &Copy| {
        (copy.name.clone(), copy.address % 4096, copy.address.wrapping_sub(copies[0].address))
    };
    copies.iter().map(of).collect()
}

#[test]
fn a_seed_and_a_name_give_a_library_the_same_layout_in_every_run() {
    let place = opener();
    let first = relative(&layout(&place, "1", &["first.so"]));
    assert_eq!(relative(&layout(&place, "1", &["first.so"])), first);
    assert_ne!(relative(&layout(&place, "2", &["first.so"])), first);
    assert_ne!(relative(&layout(&place, "1", &["second.so"])), first);
}

#[test]
fn a_table_that_belongs_to_another_library_is_not_used() {
    let place = opener();
    place.write("other.c", &LIBRARY.replace("two(x) - one(x)", "two(x) - one(x) * two(x + 9)"));
    place.run(szc(), &["-O2", "-shared", "-fPIC", "other.c", "-o", "other.so"]);
    let dump = format!("{TABLE_SECTION}=table");
    place.run("llvm-objcopy-22", &["--dump-section", dump.as_str(), "other.so", "discarded.so"]);
    let update = format!("--update-section={TABLE_SECTION}=table");
    place.run("llvm-objcopy-22", &[update.as_str(), "first.so", "mixed.so"]);
    let mixed = path(&place, "mixed.so");
    let outcome = run(&place.path.join("main"), &[("SZC_INTERVAL_MS", "1")], &["5", &mixed]);
    let libraries = &outcome.log_of_success().libraries;
    assert_eq!((libraries.attached > 0, libraries.moving), (true, 0));
    let refused = libraries.refused.as_deref();
    assert_eq!(refused, Some("the relocation table belongs to another image"));
}

#[test]
fn each_randomization_reaches_libraries_that_were_built_for_it() {
    let place = opener();
    for (word, code, stack) in
        [("-Rall", 1, 1), ("-Rcode", 1, 0), ("-Rstack", 0, 1), ("-Rheap", 0, 0), ("-Rnone", 0, 0)]
    {
        place.run(szc(), &[word, "-O2", "-shared", "-fPIC", "library.c", "-o", "built.so"]);
        let built = path(&place, "built.so");
        for (setting, moves, pads) in [("SZC_SEED", 1, 1), ("SZC_CODE", 0, 1), ("SZC_STACK", 1, 0)]
        {
            let settings = [("SZC_INTERVAL_MS", "1"), (setting, "0")];
            let outcome = run(&place.path.join("main"), &settings, &["3", &built]);
            let libraries = &outcome.log_of_success().libraries;
            let expected = (code * moves, stack * pads);
            assert_eq!((libraries.moving, libraries.padded), expected, "{word}, {setting}=0");
        }
    }
}

#[test]
fn a_program_with_an_unwinder_of_its_own_leaves_the_code_of_libraries_where_it_is() {
    let place = Place::with("library.cpp", THROWING);
    place.write("main.cpp", CATCHING);
    place.run(szcxx(), &["-O2", "-shared", "-fPIC", "library.cpp", "-o", "library.so"]);
    for args in [&["-static-libgcc", "-static-libstdc++"][..], &[]] {
        let mut all = vec!["-O2", "main.cpp", "-ldl", "-o", "main"];
        all.extend(args);
        place.run(szcxx(), &all);
        let library = path(&place, "library.so");
        let outcome = run(&place.path.join("main"), &[("SZC_INTERVAL_MS", "1")], &[&library]);
        let log = outcome.log_of_success();
        assert_eq!(log.libraries.refused.is_some(), !args.is_empty(), "{log:?}");
        assert_eq!(log.libraries.moving, u64::from(args.is_empty()), "{log:?}");
    }
}

const THROWING: &str = r#"
#include <stdexcept>
__attribute__((noinline)) static void raise(int x) { if (x) throw std::runtime_error("here"); }
extern "C" int in_library(int x) {
    int sum = 0;
    for (int i = 0; i < 20; i++)
        try { raise(i % 2); sum += x; }
        catch (const std::exception &error) { sum += error.what()[0]; }
    return sum;
}
"#;

const CATCHING: &str = r#"
#include <dlfcn.h>
#include <stdexcept>
#include <ctime>
__attribute__((noinline)) static int own(int x) {
    try { if (x) throw x; return 1; } catch (int value) { return value; }
}
int main(int, char **arguments) {
    void *library = dlopen(arguments[1], RTLD_NOW);
    if (!library) return 2;
    auto call = (int (*)(int))dlsym(library, "in_library");
    int first = call(3);
    for (int i = 0; i < 30; i++) {
        timespec wait = {0, 1000000};
        nanosleep(&wait, nullptr);
        if (call(3) != first || own(7) != 7 || own(0) != 1) return 3;
    }
}
"#;

const EXTENSION: &str = r#"
#define PY_SSIZE_T_CLEAN
#include <Python.h>
static PyObject *call_back(PyObject *self, PyObject *arguments) {
    PyObject *function; long count, sum = 0;
    if (!PyArg_ParseTuple(arguments, "Ol", &function, &count)) return NULL;
    for (long i = 0; i < count; i++) {
        PyObject *result = PyObject_CallFunction(function, "l", i);
        if (!result) return NULL;
        sum = sum * 3 % 1000003 + PyLong_AsLong(result);
        Py_DECREF(result);
    }
    switch (count % 5) {
    case 0: sum += 5; break;
    case 1: sum *= 7; break;
    case 2: sum ^= 9; break;
    case 3: sum -= 1; break;
    default: sum = -sum; break;
    }
    return PyLong_FromLong(sum);
}
static PyMethodDef methods[] = {
    {"call_back", call_back, METH_VARARGS, "Calls."}, {NULL, NULL, 0, NULL}};
static struct PyModuleDef module = {
    PyModuleDef_HEAD_INIT, "extension", NULL, -1, methods, NULL, NULL, NULL, NULL};
PyMODINIT_FUNC PyInit_extension(void) { return PyModule_Create(&module); }
"#;

const SCRIPT: &str = "
import threading, extension
def refuse(x): raise ValueError(x)
first = [extension.call_back(lambda x: x * x, n) for n in range(20)]
def work():
    for _ in range(20):
        assert [extension.call_back(lambda x: x * x, n) for n in range(20)] == first
        try: extension.call_back(refuse, 3)
        except ValueError as error: assert error.args == (0,)
        else: assert False
threads = [threading.Thread(target=work) for _ in range(4)]
for thread in threads: thread.start()
for thread in threads: thread.join()
print(sum(first))
";

#[test]
fn a_python_that_was_not_built_by_szc_loads_an_extension_that_was() {
    let place = Place::with("extension.c", EXTENSION);
    place.write("script.py", SCRIPT);
    let question = "import sysconfig; print(sysconfig.get_paths()['include'])";
    let include = format!("-I{}", place.run("python3", &["-c", question]).trim());
    let build = |driver: &Path| {
        let args = ["-O2", "-shared", "-fPIC", &include, "extension.c", "-o", "extension.so"];
        place.run(driver, &args);
        let mut command = Command::new("python3");
        command.current_dir(&place.path).arg("script.py").env("SZC_INTERVAL_MS", "1");
        succeed(&mut command)
    };
    let expected = build(Path::new("clang-22"));
    assert_eq!(build(&szc()), expected);
}
