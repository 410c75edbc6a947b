# shellcheck shell=bash disable=SC2034,SC2154
# glog: C++ that names the functions of its own stack, also from handlers of fatal signals, by a
# symbolizer of its own that reads /proc/self/maps and the executable.

debian_source=google-glog
debian_version=0.6.0
debian_sha256=8a83bf982f37bb70825df71a9709fa90ea9f4447fb3c099e1d720a439d88bad6

# Without what may be installed or not: its own stand-ins for gflags and Google Test, the unwinder
# of the compiler.
suite_build() {
    cmake -S . -B out -DCMAKE_CXX_COMPILER="$CXX" -DCMAKE_CXX_FLAGS="$CXXFLAGS" \
        -DBUILD_SHARED_LIBS=OFF \
        -DWITH_GFLAGS=OFF -DWITH_GTEST=OFF -DWITH_UNWIND=OFF
    make -C out -j"$JOBS"
}

# What needs cmake's own package of it says nothing of the program.
suite_run() { (cd out && ctest --timeout "$test_seconds" -E '^cmake_package'); }

suite_results() {
    local ended='Passed|Skipped|Failed|Timeout|Exception|Not Run'
    sed -nE "s/^ *[0-9]+\/[0-9]+ Test +#[0-9]+: ([^ ]+) [.]*([*]{3}| *)($ended).*/\\1 \\3/p" "$1" |
        sed 's/ Passed$/ passed/; s/ Skipped$/ skipped/; s/ [A-Z][A-Za-z ]*$/ failed/'
}
