# shellcheck shell=bash disable=SC2034
# pugixml: C++ that throws, from parsers and allocators that are made to fail at every allocation;
# longjmps; blocks that end at a protected page.

debian_source=pugixml

# Its makefile turns warnings into errors, which newer compilers have more of. Its runner names only
# what fails.
suite_build() {
    local said='printf("Test %s passed\\n", test_name);'
    sed -i "/^static bool run_test/,/^}/s/return true;/{ $said return true; }/" tests/main.cpp
    make -j"$JOBS" CXX="$CXX" CXXFLAGS="$CXXFLAGS -std=c++11" BUILD=out
}

suite_run() { out/test; }

suite_results() {
    sed -nE 's/^Test (.*) (passed|failed).*/\1 \2/p' "$1" | sed 's/ (throw)/-throw/'
}
