//! `szc inspect`: what it says about images with a table, and about files without one.

use serde_json::Value;
use std::process::Output;
use szc_tests::tools::{Place, szc};

const PROGRAM: &str = "\
#include <stdio.h>
#include <stdlib.h>
__attribute__((noinline)) int work(int x) { switch (x) {
    case 0: return 5; case 1: return rand(); case 2: return atoi(\"7\"); case 3: return 1;
    case 4: return puts(\"4\"); case 5: return -4; default: return x * 3; } }
int main(int count, char **arguments) { (void)arguments; printf(\"%d\\n\", work(count)); return 0; }
";

fn inspect(place: &Place, args: &[&str]) -> Output {
    place.command(szc()).arg("inspect").args(args).output().expect("szc starts")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).expect("text")
}

fn built(args: &[&str]) -> Place {
    let place = Place::with("x.c", PROGRAM);
    place.run(szc(), &[&["-O2", "x.c", "-o", "x"], args].concat());
    place
}

fn json(place: &Place) -> Value {
    let output = inspect(place, &["--json", "x"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("JSON")
}

fn function<'a>(report: &'a Value, name: &str) -> &'a Value {
    report["functions"]
        .as_array()
        .expect("an array")
        .iter()
        .find(|function| function["name"] == name)
        .unwrap_or_else(|| panic!("no function is called {name}: {report}"))
}

#[test]
fn every_kind_of_image_is_described() {
    for (args, image, runtime) in [
        (&[][..], "executable (pie), x86_64", true),
        (&["-no-pie"], "executable, x86_64", true),
        (&["-static"], "executable, x86_64", true),
        (&["-s"], "executable (pie), x86_64", true),
        (&["-g"], "executable (pie), x86_64", true),
        (&["-flto"], "executable (pie), x86_64", true),
        (&["-shared", "-fPIC"], "shared library or static pie, x86_64", false),
    ] {
        let place = built(args);
        let report = json(&place);
        assert_eq!(report["image"], image, "{args:?}");
        assert_eq!(report["runtime"], runtime, "{args:?}");
        assert_eq!(report["file"], "x");
        assert_eq!(report["abi"], szc_abi::ABI_VERSION);
        let work = function(&report, "work");
        assert!(work["fields"].as_u64().expect("a number") >= 3, "{args:?}: {work}");
        assert_eq!(work["pinned"], Value::Null, "{args:?}");
        assert!(work["size"].as_u64().expect("a number") > 30);
        let number = |name: &str| report[name].as_u64().expect("a number");
        assert_eq!(number("total"), number("movable") + number("pinned"), "{args:?}");
        assert_eq!(number("total"), report["functions"].as_array().expect("an array").len() as u64);
        let by_reason = report["pinned_by_reason"].as_object().expect("an object");
        let sum: u64 = by_reason.values().filter_map(Value::as_u64).sum();
        assert_eq!(sum, number("pinned"), "{args:?}");
        assert!(number("jump_tables") >= 1 && number("table_bytes") > 100, "{args:?}");

        let output = inspect(&place, &["x"]);
        assert_eq!(output.status.code(), Some(0));
        let shown = text(&output.stdout);
        assert!(shown.starts_with(&format!("x: {image}\n")), "{shown}");
        for line in [
            format!("  functions       {}\n", number("total")),
            format!("  movable         {} (", number("movable")),
            format!("  pinned          {} (", number("pinned")),
        ] {
            assert!(shown.contains(&line), "{line:?} is missing in {shown}");
        }
    }
}

#[test]
fn calls_between_padded_frames_are_checked_where_they_close_a_circle() {
    let source = "\
#include <stdlib.h>
volatile int kept;
__attribute__((noinline)) static int bottom(int x) { kept = rand(); return x + kept; }
__attribute__((noinline)) static int middle(int x) {
  int y = bottom(x + 1); kept = y; return y + 1; }
__attribute__((noinline)) static int around(int x) {
  int y = x > 0 ? around(x - 2) : middle(x); kept = y; return y + 3; }
int main(void) { kept = around(9) + middle(1); return 0; }
";
    let place = Place::with("x.c", source);
    place.run(szc(), &["-O2", "x.c", "-o", "x"]);
    // main to around and middle, around to middle, middle to bottom; not around to itself.
    assert_eq!(json(&place)["unchecked_calls"], 4);
    let output = text(&inspect(&place, &["x"]).stdout);
    assert!(output.contains("4  calls between them need no stack-room check"), "{output}");
}

#[test]
fn a_function_that_bounds_its_stack_by_addresses_is_named() {
    let source = "\
char *base;
__attribute__((noinline)) int deeper(int x) {
    char here; if (base - &here > 100 * 1024) return -1; return x == 0 ? 0 : deeper(x - 1) + 1; }
int main(int count, char **arguments) { (void)arguments;
    char here; base = &here; return deeper(count * 9) != 9; }
";
    let place = Place::with("x.c", source);
    for args in [&["-O2"][..], &["-O0"], &["-O2", "-flto"], &["-O2", "-shared", "-fPIC"]] {
        place.run(szc(), &[&["x.c", "-o", "x"], args].concat());
        assert_eq!(json(&place)["stack_bounds"], serde_json::json!(["deeper"]), "{args:?}");
        let shown = text(&inspect(&place, &["x"]).stdout);
        assert!(shown.contains("  bounds its stack by addresses deeper ("), "{shown}");
    }
    assert_eq!(json(&built(&[]))["stack_bounds"], serde_json::json!([]));
}

#[test]
fn a_function_that_asks_whether_ranges_overlap_does_not_bound_its_stack() {
    // A loop that is vectorized, if the arrays lie apart; CPython's test of stack overflows.
    let source = "\
void fill(int *); extern int *shared;
__attribute__((noinline)) int apart(void) {
    int own[256]; fill(own); int *from = shared;
    for (int i = 0; i < 256; i++) own[i] += from[i];
    fill(own); return own[3]; }
__attribute__((noinline)) unsigned long down(unsigned long least, unsigned long most) {
    volatile char here[4096]; unsigned long at = (unsigned long)&here;
    if (at < least || most < at) return at;
    here[0] = 1; return down(least, most); }
int main(int count, char **arguments) {
    unsigned long here = (unsigned long)&count;
    return apart() + (down(here - 100000, here) == (unsigned long)arguments); }
";
    let place = Place::with("x.c", source);
    let other =
        "int *shared; void fill(int *a) { shared = a; for (int i = 0; i < 256; i++) a[i] = i; }\n";
    place.write("y.c", other);
    place.run(szc(), &["-O3", "x.c", "y.c", "-o", "x"]);
    assert_eq!(json(&place)["stack_bounds"], serde_json::json!([]));
}

#[test]
fn functions_are_listed_when_asked_for() {
    let place = built(&[]);
    let shown = text(&inspect(&place, &["--functions", "x"]).stdout);
    let line = |name: &str| {
        let name = format!("  {name}  ");
        shown.lines().find(|line| line.contains(&name)).unwrap_or_else(|| panic!("{shown}"))
    };
    assert!(line("work").contains("movable, "), "{}", line("work"));
    assert!(
        line("_start").ends_with("pinned: runs before the runtime starts"),
        "{}",
        line("_start")
    );
    assert!(line("szc_rt_resolve").contains("pinned: is part of szc's runtime"), "{shown}");
}

#[test]
fn a_table_survives_strippers() {
    let place = built(&[]);
    let before = json(&place);
    place.run("cp", &["x", "whole"]);
    for command in
        ["strip -s", "objcopy -S", "llvm-strip-22", "llvm-strip-22 -s", "llvm-objcopy-22 -S"]
    {
        place.run("sh", &["-c", &format!("cp whole x && {command} x")]);
        assert_eq!(json(&place), before, "{command}");
    }
}

#[test]
fn a_file_without_a_table_is_named_for_what_it_is() {
    let place = Place::with("x.c", PROGRAM);
    place.run("clang-22", &["x.c", "-o", "plain"]);
    place.run(szc(), &["-Rnone", "x.c", "-o", "none"]);
    place.run(szc(), &["-c", "x.c", "-o", "x.o"]);
    place.write_script("script", "echo");
    place.write("empty", "");
    place.write("short", "\x7fELF");
    for (name, says) in [
        ("plain", "a linked image without a relocation table: link it with szc"),
        ("none", "a linked image without a relocation table"),
        ("x.o", "an object file, and relocation tables are made at link time: link it with szc"),
        ("script", "a script"),
        ("x.c", "not an ELF file"),
        ("empty", "not an ELF file"),
        ("short", "not an ELF file"),
        ("missing", "cannot read missing"),
        (".", "cannot read ."),
    ] {
        for json in [false, true] {
            let args = if json { &["--json", name][..] } else { &[name] };
            let output = inspect(&place, args);
            let message = text(&output.stderr);
            assert_eq!(output.status.code(), Some(1), "{name}: {message}");
            assert!(output.stdout.is_empty(), "{name}");
            assert!(
                message.starts_with("szc inspect: ") && message.contains(says),
                "{name}: {message}"
            );
            assert!(message.contains(name), "{message}");
        }
    }
}

#[test]
fn a_damaged_table_is_an_error_and_no_description() {
    let place = built(&[]);
    let sound = place.read("x");
    let at = sound.windows(8).rposition(|bytes| bytes == szc_abi::MAGIC).expect("a table");
    for (offset, value, says) in
        [(0, 0, "not a relocation table"), (8, 99, "version 99"), (13, 0xff, "outside itself")]
    {
        let mut damaged = sound.clone();
        damaged[at + offset] = value;
        std::fs::write(place.path.join("damaged"), damaged).expect("writable");
        let output = inspect(&place, &["damaged"]);
        let message = text(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{message}");
        assert!(message.contains(says), "{message}");
    }
}

#[test]
fn a_mistake_in_usage_has_an_exit_code_of_its_own() {
    let place = Place::new();
    assert_eq!(inspect(&place, &[]).status.code(), Some(2));
    assert_eq!(inspect(&place, &["--no-such-option", "x"]).status.code(), Some(2));
    let help = inspect(&place, &["--help"]);
    assert_eq!(help.status.code(), Some(0));
    assert!(text(&help.stdout).contains("szc inspect"));
}
