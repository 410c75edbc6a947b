# shellcheck shell=bash disable=SC2034
# liburcu: read-copy-update with POSIX threads, membarrier and signals.

debian_source=liburcu

suite_build() { ./configure --disable-shared; make -j"$JOBS"; make -j"$JOBS" check TESTS=; }
suite_run() { make -k check VERBOSE=1; }
suite_results() { automake_results tests; }
