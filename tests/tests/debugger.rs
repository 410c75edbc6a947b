//! Padded frames in gdb: it shows the true stack, at each instruction of a padded function too.

use std::process::Command;
use szc_tests::tools::{Place, succeed, szc};

const SOURCE: &str = "\
#include <stdio.h>
__attribute__((noinline)) static int five(int x) {
  __asm__ volatile(\"\" : \"+r\"(x)); printf(\"%d\\n\", x); return x + 1; }
__attribute__((noinline)) static int four(int x) {
  if (x > 90) return x; int y = five(x + 1); return y * 2; }
__attribute__((noinline)) static int three(int x) {
  char a[x]; __asm__ volatile(\"\" :: \"r\"(a) : \"memory\"); return four(x) + 3; }
__attribute__((noinline)) static int two(int x) {
  int s = 0; for (int i = 0; i < x; i++) s += three(x); return s; }
__attribute__((noinline)) static int one(int x) { return two(x) - 1; }
int main(int argc, char **argv) { (void)argv; return one(argc) == 0; }
";

/// What gdb prints when it runs these commands on the program built with these arguments.
fn gdb(args: &[&str], commands: &[String]) -> String {
    let place = Place::with("x.c", SOURCE);
    succeed(place.command(szc()).args(["-Rstack", "-g", "x.c", "-o", "x"]).args(args));
    let mut gdb = Command::new("gdb");
    gdb.args(["-batch", "-nx", "-ex", "set pagination off", "-ex", "set width 0"]);
    for command in commands {
        gdb.args(["-ex", command]);
    }
    succeed(gdb.arg("./x").current_dir(&place.path))
}

/// The functions of a backtrace, innermost first.
fn frames(backtrace: &str) -> Vec<&str> {
    backtrace
        .lines()
        .filter(|line| line.starts_with('#'))
        .filter_map(|line| line.split(" (").next()?.split_whitespace().last())
        .collect()
}

#[test]
fn a_backtrace_shows_every_padded_frame() {
    for args in
        [&["-O0"][..], &["-O2"], &["-O2", "-fPIC"], &["-O2", "-fno-asynchronous-unwind-tables"]]
    {
        let text = gdb(args, &["break five".into(), "run".into(), "bt".into()]);
        let frames = frames(&text);
        assert_eq!(frames, ["five", "four", "three", "two", "one", "main"], "{args:?}: {text}");
    }
}

#[test]
fn a_backtrace_is_right_at_each_instruction_of_a_padded_function() {
    for args in [["-O0"], ["-O2"]] {
        let mut commands = vec!["break *one".to_owned(), "run".to_owned()];
        // Up to the call of printf, then from there back to main.
        for part in ["", "break printf", "finish"] {
            if part == "finish" {
                commands.extend(["continue".to_owned(), "finish".to_owned()]);
            } else if !part.is_empty() {
                commands.push(part.to_owned());
            }
            commands.extend(
                (0..90).flat_map(|_| ["echo @\\n".to_owned(), "bt".to_owned(), "stepi".to_owned()]),
            );
        }
        let text = gdb(&args, &commands);
        let (mut seen, mut innermost) = (0, "");
        for backtrace in text.split("@\n").skip(1) {
            let frames = frames(backtrace);
            let Some(main) = frames.iter().position(|&name| name == "main") else {
                // Only what main returns to may show no main.
                assert_eq!(innermost, "main", "{args:?}: {backtrace}");
                break;
            };
            innermost = frames[0];
            let own = ["five", "four", "three", "two", "one"];
            let shown: Vec<&str> =
                frames[..main].iter().copied().filter(|name| own.contains(name)).collect();
            assert!(own.ends_with(&shown), "{args:?}: {backtrace}");
            seen += 1;
        }
        assert!(seen > 100, "{args:?}: {seen} backtraces: {text}");
    }
}
