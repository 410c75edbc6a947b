# shellcheck shell=bash disable=SC2034
# lbzip2: a scheduler of its own over POSIX threads, locks and condition variables.

debian_source=lbzip2

# Its gnulib asks for a name that C libraries of today no longer define.
suite_build() {
    ./configure CPPFLAGS=-D_IO_ftrylockfile
    make -j"$JOBS"
    make -j"$JOBS" check TESTS=
}

suite_run() { make -k check VERBOSE=1; }

suite_results() { automake_results tests; }
