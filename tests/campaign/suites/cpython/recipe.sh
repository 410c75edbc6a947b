# shellcheck shell=bash disable=SC2034,SC2154,SC2164
# CPython: each value is a block of the heap, extension modules are shared objects, threads take a
# lock by turns, processes are made by fork, by vfork and by posix_spawn.

debian_source=python3.11
debian_version=3.11.2
suite_seconds=10800

suite_build() {
    # Its own build runs the interpreter, without its tests' memory.
    ./configure --without-ensurepip OPT="-DNDEBUG $CFLAGS"
    make -j"$JOBS"
}

# A file is a test, in a process of its own.
suite_run() { ./python -m test -j"$JOBS" --timeout "$test_seconds" || true; }

# Its verdicts are "passed", "passed in 31 sec", "failed (2 failures)", "failed (env changed)",
# "skipped (resource denied)", "crashed (Exit code -11)", "timed out".
suite_results() {
    sed -nE 's/^[0-9:]+ .*\[ *[0-9]+\/[0-9]+[^]]*\] ([^ ]+) (.*)/\1 \2/p' "$1" |
        awk '{ print $1, ($2 ~ /^(passed|skipped)$/ ? $2 : "failed") }' | LC_ALL=C sort -u
}
