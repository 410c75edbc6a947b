//! Build systems with szc as their compiler: their probes, their parallel makes, a compiler
//! cache in front.

use szc_abi::TABLE_SECTION;
use szc_tests::tools::{Place, sections, succeed, szc, szcxx};

const HELLO_C: &str = "#include <stdio.h>\nvoid hello(void) { puts(\"hello\"); }\n";
const MAIN_C: &str = "void hello(void);\nint main(void) { hello(); return 0; }\n";
const MAIN_CXX: &str = "\
#include <iostream>
#include <stdexcept>
int main() {
    try { throw std::runtime_error(\"hello\"); }
    catch (const std::exception &e) { std::cout << e.what() << '\\n'; }
}
";

fn assert_hello(place: &Place, program: &str) {
    assert_eq!(place.run(format!("./{program}"), &[""; 0]), "hello\n");
    let sections = sections(&place.read(program));
    assert!(sections.iter().any(|name| name == TABLE_SECTION), "{program} has no table");
}

#[test]
fn cmake_takes_szc_for_clang_and_builds_with_it() {
    let place = Place::with("hello.c", HELLO_C);
    place.write("main.c", MAIN_C);
    place.write("main.cc", MAIN_CXX);
    place.write(
        "CMakeLists.txt",
        "\
cmake_minimum_required(VERSION 3.16)
project(probe C CXX)
include(CheckCSourceCompiles)
include(CheckIPOSupported)
check_c_source_compiles(\"int main(void) { return __builtin_popcount(1); }\" HAS_POPCOUNT)
check_c_source_compiles(\"int main(void) { return no_such_thing; }\" HAS_NO_SUCH_THING)
find_package(Threads REQUIRED)
foreach(id ${CMAKE_C_COMPILER_ID} ${CMAKE_CXX_COMPILER_ID})
  if(NOT id STREQUAL Clang)
    message(FATAL_ERROR \"the compiler is ${id}\")
  endif()
endforeach()
if(NOT HAS_POPCOUNT OR HAS_NO_SUCH_THING)
  message(FATAL_ERROR \"probes went wrong\")
endif()
add_library(hello_static STATIC hello.c)
add_library(hello_shared SHARED hello.c)
add_executable(with_static main.c)
target_link_libraries(with_static hello_static Threads::Threads m)
add_executable(with_shared main.c)
target_link_libraries(with_shared hello_shared)
add_executable(cxx main.cc)
",
    );
    let mut configure = place.command("cmake");
    configure.args(["-S", ".", "-B", "out", "-DCMAKE_BUILD_TYPE=Release"]);
    configure.env("CC", szc()).env("CXX", szcxx());
    succeed(&mut configure);
    place.run("cmake", &["--build", "out", "-j4"]);
    for program in ["out/with_static", "out/with_shared", "out/cxx"] {
        assert_hello(&place, program);
    }
}

#[test]
fn autoconf_finds_with_szc_what_it_finds_with_clang() {
    let place = Place::with("main.c", MAIN_C);
    place.write("hello.c", HELLO_C);
    place.write(
        "configure.ac",
        "\
AC_INIT([probe], [1])
AC_PROG_CC
AC_PROG_CXX
AC_PROG_CPP
AC_C_BIGENDIAN
AC_C_INLINE
AC_CHECK_SIZEOF([long])
AC_CHECK_HEADERS([stdlib.h sys/epoll.h no/such/header.h])
AC_CHECK_FUNCS([puts getrandom no_such_function])
AC_SEARCH_LIBS([sqrt], [m])
AC_CONFIG_HEADERS([config.h])
AC_CONFIG_FILES([Makefile])
AC_OUTPUT
",
    );
    place.write(
        "config.h.in",
        "#undef SIZEOF_LONG\n#undef HAVE_SYS_EPOLL_H\n#undef HAVE_NO_SUCH_HEADER_H\n\
             #undef HAVE_PUTS\n#undef HAVE_GETRANDOM\n#undef HAVE_NO_SUCH_FUNCTION\n",
    );
    place.write(
        "Makefile.in",
        "CC = @CC@\nCFLAGS = @CFLAGS@\nLIBS = @LIBS@\nOBJECTS = main.o hello.o\n\
         prog: $(OBJECTS)\n\t$(CC) $(CFLAGS) -o $@ $(OBJECTS) $(LIBS)\n",
    );
    place.run("autoconf", &[""; 0]);
    let configure = |cc: &std::ffi::OsStr, cxx: &std::ffi::OsStr| {
        succeed(place.command("./configure").env("CC", cc).env("CXX", cxx));
        place.read("config.h")
    };
    let expected = configure("clang-22".as_ref(), "clang++-22".as_ref());
    let found = configure(szc().as_os_str(), szcxx().as_os_str());
    assert_eq!(String::from_utf8_lossy(&found), String::from_utf8_lossy(&expected));
    place.run("make", &["-j4"]);
    assert_hello(&place, "prog");
}

#[test]
fn a_compiler_cache_stands_in_front() {
    let place = Place::with("main.c", MAIN_C);
    place.write("hello.c", HELLO_C);
    let ccache = || {
        let mut command = place.command("ccache");
        command.env("CCACHE_DIR", place.path.join("cache")).env_remove("CCACHE_DISABLE");
        command
    };
    place.run(szc(), &["-O2", "-c", "hello.c", "-o", "direct.o"]);
    for _ in 0..2 {
        succeed(ccache().arg(szc()).args(["-O2", "-c", "hello.c", "-o", "hello.o"]));
        assert!(place.read("hello.o") == place.read("direct.o"));
    }
    let statistics = succeed(ccache().arg("--print-stats"));
    let hits: u32 = statistics
        .lines()
        .filter_map(|line| line.split_once('\t'))
        .filter(|(name, _)| matches!(*name, "direct_cache_hit" | "preprocessed_cache_hit"))
        .filter_map(|(_, count)| count.parse::<u32>().ok())
        .sum();
    assert_eq!(hits, 1, "{statistics}");
    succeed(ccache().arg(szc()).args(["main.c", "hello.o", "-o", "prog"]));
    assert_hello(&place, "prog");
}
