//! Programs of other compilers, and in other languages, through the link step of szc.

use std::path::Path;
use std::process::Command;
use szc::inspect::{FunctionReport, Report};
use szc_abi::Reason;
use szc_tests::tools::{Place, is_long, succeed, szc};

const FORTRAN: &str = "\
program numbers
  implicit none
  integer :: i, s
  real(8), allocatable :: a(:)
  s = 0
  do i = 1, 3000
    s = mod(s + twice(i), 1000003)
  end do
  allocate(a(1000))
  a = [(sqrt(real(i, 8)), i = 1, 1000)]
  print '(i0,1x,i0)', s, nint(sum(a))
contains
  recursive integer function fib(n) result(r)
    integer, intent(in) :: n
    if (n < 2) then
      r = n
    else
      r = fib(n - 1) + fib(n - 2)
    end if
  end function
  integer function twice(n)
    integer, intent(in) :: n
    twice = 2 * n + mod(fib(12), 7)
  end function
end program
";

/// Panics that are caught, in threads and beside them; vectors, hash maps, output.
const RUST: &str = r#"
use std::collections::HashMap;
use std::panic;
use std::thread;
struct Count<'a>(&'a mut u32);
impl Drop for Count<'_> { fn drop(&mut self) { *self.0 += 1; } }
#[inline(never)] fn descend(depth: u32, dropped: &mut u32) -> u32 {
    let guard = Count(dropped);
    if depth == 0 { panic!("bottom") }
    descend(depth - 1, guard.0) + 1
}
fn main() {
    panic::set_hook(Box::new(|_| {}));
    let start = std::time::Instant::now();
    let mut rounds = 0u32;
    while start.elapsed().as_millis() < 100 {
        let mut dropped = 0;
        let caught = panic::catch_unwind(panic::AssertUnwindSafe(|| descend(10, &mut dropped)));
        assert!(caught.is_err() && dropped == 11);
        let threads: Vec<_> = (0..3u64).map(|n| thread::spawn(move || {
            let map: HashMap<u64, String> = (0..50).map(|i| (i, (i * n).to_string())).collect();
            if n == 2 { panic!("in a thread") }
            map.values().map(|text| text.len()).sum::<usize>()
        })).collect();
        let results: Vec<_> = threads.into_iter().map(|thread| thread.join().ok()).collect();
        assert_eq!(results, [Some(50), Some(90), None]);
        rounds += 1;
    }
    println!("{}", rounds > 0);
}
"#;

/// Runs `./x` at 1 ms with some seeds; what it prints, and its log.
fn runs(place: &Place, expected: &str) -> String {
    let log = place.path.join("log");
    for seed in ["1", "2", "3"] {
        let _ = std::fs::remove_file(&log);
        let mut program = place.command(place.path.join("x"));
        program.env("SZC_INTERVAL_MS", "1").env("SZC_SEED", seed).env("SZC_LOG", &log);
        assert_eq!(succeed(&mut program), expected);
    }
    std::fs::read_to_string(&log).expect("a log")
}

#[test]
fn fortran_moves_with_pads_and_heap() {
    let place = Place::with("x.f90", FORTRAN);
    let compiler = szc().with_file_name("szc-fortran");
    for args in [&["-O2"][..], &["-O0", "-g"], &["-O2", "-flto"]] {
        succeed(place.command(&compiler).args(args).args(["x.f90", "-o", "x"]));
        let log = runs(&place, "14973 21097\n");
        assert!(log.contains("\"code\":true,\"stack\":true,\"heap\":true"), "{log}");
    }
}

#[test]
fn objects_of_gfortran_move() {
    let place = Place::with("x.f90", FORTRAN);
    succeed(Command::new("gfortran").args(["-O2", "-c", "x.f90"]).current_dir(&place.path));
    succeed(place.command(szc()).args(["x.o", "-lgfortran", "-lm", "-o", "x"]));
    let log = runs(&place, "14973 21097\n");
    assert!(log.contains("\"code\":true,\"stack\":false,\"heap\":true"), "{log}");
}

#[test]
fn rust_with_its_standard_library_moves_and_panics() {
    let place = Place::with("x.rs", RUST);
    let linker = format!("-Clinker={}", szc().display());
    // As objects its frames get no pads; as bitcode they do, by the linker's optimization.
    for (args, stack) in [(&["-O"][..], false), (&["-O", "-Clinker-plugin-lto"], true)] {
        succeed(place.command("rustc").arg(&linker).args(args).args(["x.rs", "-o", "x"]));
        let log = runs(&place, "true\n");
        let expected = format!("\"code\":true,\"stack\":{stack},\"heap\":true");
        assert!(log.contains(&expected), "{args:?}: {log}");
    }
}

/// Prints the names of its own functions in a backtrace, which stay the same.
const BACKTRACES: &str = r#"
use std::time::{Duration, Instant};

#[inline(never)]
fn inner() -> String {
    std::hint::black_box(std::backtrace::Backtrace::force_capture().to_string())
}

#[inline(never)]
fn outer() -> String {
    std::hint::black_box(inner())
}

fn main() {
    let (until, mut seen) = (Instant::now() + Duration::from_millis(60), Vec::new());
    while seen.len() < 3 || Instant::now() < until {
        let text = outer();
        let own = |line: &&str| line.contains(" x::") || line.contains("x.rs:");
        seen.push(text.lines().filter(own).map(|line| line.trim().to_owned()).collect::<Vec<_>>());
    }
    assert!(seen.iter().all(|lines| *lines == seen[0]));
    println!("{}", seen[0].join("; "));
}
"#;

#[test]
fn rust_names_moved_functions_in_its_backtraces() {
    let place = Place::with("x.rs", BACKTRACES);
    let linker = format!("-Clinker={}", szc().display());
    succeed(place.command("rustc").args(["-O", "-g", "x.rs", "-o", "plain"]));
    let expected = succeed(&mut place.command(place.path.join("plain")));
    assert!(
        expected.starts_with("0: x::inner; at ./x.rs:") && expected.contains("x::main"),
        "{expected}"
    );
    succeed(place.command("rustc").arg(linker).args(["-O", "-g", "x.rs", "-o", "x"]));
    runs(&place, &expected);
}

/// Goroutines that call C and are called back, panics across C, garbage collection, children.
const GO: &str = include_str!("../campaign/languages/calls.go");

/// Both programs share a cache: Go's library is built once for them.
#[test]
fn go_stays_its_c_moves_and_what_needs_no_linker_is_built_as_ever() {
    let place = Place::with("x.go", GO);
    let build = |compiler: &Path, source: &str, args: &[&str]| {
        let mut go = place.command("go");
        go.env("CC", compiler).env("GOCACHE", place.path.join("cache")).env("GO111MODULE", "off");
        succeed(go.arg("build").args(args).arg(source))
    };
    build(Path::new("clang-22"), "x.go", &["-o", "plain"]);
    let expected = succeed(&mut place.command(place.path.join("plain")));
    let builds = [&[][..], &["-buildmode=pie", "-ldflags=-s"]];
    // Another mode of building is another build of Go's library.
    for &args in &builds[..if is_long() { 2 } else { 1 }] {
        build(&szc(), "x.go", &[&["-o", "x"], args].concat());
        let log = runs(&place, &expected);
        assert!(log.contains("\"code\":true,\"stack\":false,\"heap\":true"), "{log}");
        assert!(log.contains("\"relocations\":") && !log.contains("\"relocations\":0,"), "{log}");
        let report = Report::of_file(&place.path.join("x")).expect("a table");
        let stays = |ending: &str| {
            let is = |function: &&FunctionReport| function.name.ends_with(ending);
            report.functions.iter().find(is).expect(ending).pinned
        };
        assert_eq!(stays("_Cfunc_median"), None);
        assert_eq!(stays("x_cgo_thread_start"), None);
        for name in ["main.main", "runtime.mallocgc", "runtime.asmcgocall.abi0"] {
            assert_eq!(stays(name), Some(Reason::PcTable.text()), "{name}");
        }
    }
    place.write("own.go", GO_WITHOUT_OWN_C);
    build(&szc(), "own.go", &["-o", "own"]);
    let mut program = place.command(place.path.join("own"));
    assert_eq!(succeed(&mut program), "127.0.0.1 true <nil>\n80 <nil>\n");
}

/// Go links this by itself: all of its C is in Go's own packages.
const GO_WITHOUT_OWN_C: &str = r#"package main

import (
	"fmt"
	"net"
	"os/user"
)

func main() {
	me, err := user.Current()
	fmt.Println(net.ParseIP("127.0.0.1"), me != nil, err)
	fmt.Println(net.LookupPort("tcp", "80"))
}
"#;

/// Every call has a layout of its own, also where none follows by time.
const ASKS: &str = "\
fn main() {
    szc_rt::pause();
    let mut last = szc_rt::layout();
    let first = last;
    for _ in 0..50 {
        let now = szc_rt::relayout();
        assert!(now > last || first == 0);
        last = now;
    }
    szc_rt::resume();
    println!(\"{}\", last - first);
}
";

#[test]
fn a_rust_program_asks_for_layouts_and_runs_without_szc() {
    let place = Place::with("x.rs", ASKS);
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../runtime/control/src/lib.rs");
    let rustc = || {
        let mut rustc = place.command("rustc");
        rustc.args(["--edition=2024", "-O"]);
        rustc
    };
    succeed(rustc().args(["--crate-type=rlib", "--crate-name=szc_rt"]).arg(source));
    let program = ["x.rs", "--extern=szc_rt=libszc_rt.rlib", "-o"];
    succeed(rustc().args(program).arg("plain"));
    assert_eq!(succeed(&mut place.command(place.path.join("plain"))), "0\n");
    succeed(rustc().arg(format!("-Clinker={}", szc().display())).args(program).arg("x"));
    for interval in ["0", "1"] {
        let mut program = place.command(place.path.join("x"));
        program.env("SZC_INTERVAL_MS", interval);
        let layouts: u32 = succeed(&mut program).trim().parse().expect("a number");
        assert!(layouts >= 50, "{layouts} at {interval} ms");
    }
}
