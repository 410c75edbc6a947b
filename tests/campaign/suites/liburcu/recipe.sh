# shellcheck shell=bash disable=SC2034
# liburcu: readers without locks beside writers that free what they read, in five ways, one by
# signals; threads that are created and end all the time; fork. Its own libraries are linked in.

debian_source=liburcu

suite_build() {
    ./configure --disable-shared
    make -j"$JOBS"
}

# Of the benchmarks the one that is a test of results, too.
suite_run() {
    local failed=0
    # All of them, whatever became of the ones before.
    make -k -C tests/unit check || failed=1
    make -k -C tests/benchmark check TESTS=hashtable_1_seconds.tap || failed=1
    make -k -C tests/regression regtest || failed=1
    return "$failed"
}

suite_results() { automake_results tests; }
