# shellcheck shell=bash disable=SC2034
# xz: threads, hand-written assembly, tests of the library and of the tools.

debian_source=xz-utils

# All code in the programs: what is randomized there moves in any version.
suite_build() {
    ./configure --disable-shared --disable-nls
    make -j"$JOBS"
    make -j"$JOBS" check TESTS=
}

suite_run() { make -k check VERBOSE=1; }

# automake leaves a file with the verdict of each test.
suite_results() { automake_results tests; }
