# shellcheck shell=bash disable=SC2034
# snappy: compression in C++, with benchmarks by Google Benchmark, whose sources its build expects
# inside. A loop is planted in one of its ways to decompress, that into pieces.
debian_source=snappy
needs=google-benchmark
command='@/build/snappy_benchmark --benchmark_min_time=0.01'
slow_rows='BM_UIOVec/'

build() {
    cp -r "$CACHE/sources/google-benchmark/tree/." third_party/benchmark/
    # Read from the current folder.
    ln -sfn "$PWD/testdata" ../testdata
    # Warnings are errors, and clang 22 has new ones.
    cmake_build snappy_benchmark -DSNAPPY_BUILD_TESTS=OFF \
        -DCMAKE_CXX_FLAGS='-Wall -Wextra -Werror -Wno-error -w'
}

slow_down() {
    plant_in snappy.cc '                          const struct iovec* iov, size_t iov_cnt) {' \
        '  for (size_t i = 4 * compressed_length; i > 0; i--) asm volatile("");'
}
