//! `link-orders.sh` on a program that tells the order of its objects.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

const COMPILER: &str = "clang-22";
const FORTRAN_COMPILER: &str = "flang-22";

/// Four objects, each with a function; main prints their names in the order of their addresses.
fn sources(folder: &Path) -> Vec<String> {
    let main = "#include <stdio.h>\nint a(void), b(void), c(void);\nint main(void) {\n\
        int (*f[])(void) = {a, b, c};\n\
        for (int i = 0; i < 3; i++) {\n\
            int below = 0;\n\
            for (int j = 0; j < 3; j++) below += f[j] < f[i];\n\
            putchar('0' + below);\n\
        }\n\
        return a() + b() + c();\n}\n";
    fs::write(folder.join("main.c"), main).unwrap();
    for name in ["a", "b", "c"] {
        fs::write(folder.join(format!("{name}.c")), format!("int {name}(void) {{ return 0; }}\n"))
            .unwrap();
    }
    ["main.o", "a.o", "b.o", "c.o"].map(str::to_owned).to_vec()
}

fn driver(folder: &Path, args: &[&str]) -> Output {
    driver_around(COMPILER, folder, args)
}

fn driver_around(compiler: &str, folder: &Path, args: &[&str]) -> Output {
    let script = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("link-orders.sh");
    Command::new(script)
        .args(["8", "orders", "prog", compiler])
        .args(args)
        .current_dir(folder)
        .output()
        .unwrap()
}

fn order(program: &Path) -> String {
    let output = Command::new(program).output().unwrap();
    assert!(output.status.success(), "{}: {output:?}", program.display());
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn the_program_is_linked_in_the_given_order_and_in_random_ones() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let objects = sources(folder);
    for object in &objects {
        let source = object.replace(".o", ".c");
        let output = driver(folder, &["-O1", "-c", &source, "-o", object]);
        assert!(output.status.success(), "{output:?}");
    }
    let objects: Vec<&str> = objects.iter().map(String::as_str).collect();
    // A program of a configure script is linked once.
    assert!(driver(folder, &[&objects[..], &["-o", "conftest"]].concat()).status.success());
    assert!(!folder.join("orders").exists());
    let output = driver(folder, &[&["-o", "prog"][..], &objects].concat());
    assert!(output.status.success(), "{output:?}");
    assert_eq!(order(&folder.join("prog")), "012");
    assert_eq!(order(&folder.join("orders/0/prog")), "012");
    let random: Vec<String> =
        (1..=8).map(|number| order(&folder.join(format!("orders/{number}/prog")))).collect();
    assert!(random.iter().any(|order| order != "012"), "{random:?}");
    assert!(!folder.join("orders/9").exists());
}

#[test]
fn what_says_the_language_of_sources_says_nothing_of_objects() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    sources(folder);
    fs::copy(folder.join("a.c"), folder.join("a.text")).unwrap();
    assert!(driver(folder, &["-c", "c.c", "-o", "c.o"]).status.success());
    let args =
        ["-x", "c", "main.c", "-I", ".", "-xc", "a.text", "-x", "none", "b.c", "c.o", "-o", "prog"];
    let output = driver(folder, &args);
    assert!(output.status.success(), "{output:?}");
    assert_eq!(order(&folder.join("orders/0/prog")), "012");
}

#[test]
fn sources_in_the_command_line_are_compiled_once_and_keep_their_places() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    sources(folder);
    assert!(driver(folder, &["-c", "b.c", "-o", "b.o"]).status.success());
    let output = driver(
        folder,
        &[
            "-O1",
            "-Werror=unused-command-line-argument",
            "main.c",
            "a.c",
            "b.o",
            "c.c",
            "-lm",
            "-o",
            "prog",
        ],
    );
    assert!(output.status.success(), "{output:?}");
    assert!(!String::from_utf8_lossy(&output.stderr).contains("unused"), "{output:?}");
    assert_eq!(order(&folder.join("orders/0/prog")), "012");
    assert_eq!(order(&folder.join("orders/8/prog")).len(), 3);
    assert_eq!(fs::read_dir(folder.join("orders/objects")).unwrap().count(), 3);
}

#[test]
fn sources_in_fortran_are_compiled_by_a_driver_that_knows_other_warnings() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    fs::write(folder.join("main.f90"), "program main\ncall a()\nend\n").unwrap();
    fs::write(folder.join("a.f"), "      subroutine a()\n      write(*,'(A)') 'a'\n      end\n")
        .unwrap();
    let args = ["-O1", "main.f90", "a.f", "-o", "prog"];
    let output = driver_around(FORTRAN_COMPILER, folder, &args);
    assert!(output.status.success(), "{output:?}");
    assert_eq!(order(&folder.join("orders/8/prog")), "a\n");
}

#[test]
fn a_link_that_fails_fails() {
    let folder = tempfile::tempdir().unwrap();
    let output = driver(folder.path(), &["nothing.o", "-o", "prog"]);
    assert!(!output.status.success());
    assert!(!folder.path().join("orders").exists());
}
