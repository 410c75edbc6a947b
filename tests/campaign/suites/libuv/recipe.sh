# shellcheck shell=bash disable=SC2034
# libuv: event loops, a pool of threads, processes, signals, pipes and sockets of the loopback; each
# test is a process of its own.

debian_source=libuv1
debian_version=1.44.2
debian_sha256=d79b4b06ef04be85fb890bf39d55942cc64c2e15fd14eaa32dae5dce94485484

suite_build() {
    cmake -S . -B out -DCMAKE_C_COMPILER="$CC" -DCMAKE_C_FLAGS="$CFLAGS" -DLIBUV_BUILD_TESTS=ON
    make -C out -j"$JOBS" uv_run_tests_a
}

suite_run() {
    # It lists what it has; one that hangs it ends itself.
    UV_RUN_AS_ROOT=1 out/uv_run_tests_a
}

suite_results() {
    sed -nE -e 's/^ok [0-9]+ - ([^ ]+) # SKIP.*/\1 skipped/p' \
        -e 's/^ok [0-9]+ - ([^ ]+)$/\1 passed/p' -e 's/^not ok [0-9]+ - ([^ ]+).*/\1 failed/p' "$1"
}
