# shellcheck shell=bash disable=SC2034
# libuv: a pool of threads beside the loop, signals, children, pipes and sockets, timers; each test is
# a process of its own, and many start others.

debian_source=libuv1

suite_build() {
    cmake -S . -B build -DCMAKE_BUILD_TYPE=None -DLIBUV_BUILD_BENCH=OFF
    make -C build -j"$JOBS" uv_run_tests_a
}

# Tests of the root user's are others than those of a user; the numbers in front of names are not names.
suite_run() { cd build && UV_RUN_AS_ROOT=1 ./uv_run_tests_a; }

suite_results() {
    sed -nE -e 's/^ok [0-9]+ - ([^ ]+) # SKIP.*/\1 skipped/p' -e t -e 's/^ok [0-9]+ - ([^ ]+).*/\1 passed/p' \
        -e 's/^not ok [0-9]+ - ([^ ]+).*/\1 failed/p' "$1"
}
