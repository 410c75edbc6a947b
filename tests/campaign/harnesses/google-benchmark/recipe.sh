# shellcheck shell=bash disable=SC2034
# Google Benchmark's own sample benchmarks: loops, containers, strings, threads, sleeps. A loop is
# planted in one of the six rows of one of them, behind its work.
debian_source=benchmark
command='@/build/test/benchmark_test --benchmark_min_time=0.01'
slow_rows='BM_SetInsert/8192/512$'

build() {
    # Warnings are errors, and clang 22 has one of __COUNTER__.
    cmake_build benchmark_test -DBENCHMARK_ENABLE_GTEST_TESTS=OFF \
        -DCMAKE_CXX_FLAGS=-Wno-c2y-extensions
}

slow_down() {
    plant_in test/benchmark_test.cc \
        '    for (int j = 0; j < state.range(1); ++j) data.insert(rand());' \
        '    if (state.range(0) == 8192 && state.range(1) == 512)
      for (int j = 0; j < 120000; ++j) benchmark::DoNotOptimize(j);'
}
