# shellcheck shell=bash disable=SC2034,SC2154
# libunwind of nongnu.org, built by the compiler under test as upstream builds it (without
# _Unwind_*): walks from signal handlers, resumes frames, reads other processes and core dumps.

debian_source=libunwind
debian_version=1.6.2
debian_sha256=4a6aec666991fb45d0889c44aede8ad6eb108071c3554fcdff671f9c94794976

suite_build() {
    ./configure --disable-documentation
    make -j"$JOBS"
    make -j"$JOBS" check TESTS=
}

# run-coredump-unwind needs core files in the folder of a test, which depends on the system's
# core_pattern.
suite_run() {
    make -k -C tests check LOG_COMPILER="timeout -k 10 $test_seconds" XFAIL_TESTS=
}

suite_results() { automake_results tests | grep -v '^tests/run-coredump-unwind'; }
