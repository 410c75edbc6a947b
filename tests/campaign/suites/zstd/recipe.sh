# shellcheck shell=bash disable=SC2034,SC2164  # steps end at the first command that fails
# zstd: its fuzzers with fixed seeds, tests of streams, thread pool and command line.

debian_source=libzstd

suite_build() {
    make -C programs -j"$JOBS" zstd CC="$CC" CFLAGS="$CFLAGS" HAVE_ZLIB=0 HAVE_LZMA=0 HAVE_LZ4=0
    make -C tests -j"$JOBS" fuzzer zstreamtest poolTests datagen decodecorpus invalidDictionaries \
        longmatch \
        CC="$CC" CXX="$CXX" CFLAGS="$CFLAGS" HAVE_ZLIB=0 HAVE_LZMA=0 HAVE_LZ4=0
}

suite_run() {
    local seed program
    cd tests
    for program in poolTests invalidDictionaries longmatch; do
        [[ ! -x $program ]] || check "$program" "./$program"
    done
    for seed in 1 2 3 4 5 6; do
        check "fuzzer-$seed" ./fuzzer -s"$seed" -i120 --no-big-tests
        check "zstreamtest-$seed" ./zstreamtest -s"$seed" -i60
        check "zstreamtest-newapi-$seed" ./zstreamtest --newapi -s"$seed" -t1 -i60
        check "zstreamtest-mt-$seed" ./zstreamtest --mt -s"$seed" -t1 -i30
        check "decodecorpus-$seed" ./decodecorpus -t -s"$seed" -n60
    done
    check playTests env ZSTD_BIN="$PWD/../programs/zstd" DATAGEN_BIN="$PWD/datagen" ./playTests.sh
}

suite_results() { sed -n 's/^RESULT //p' "$1"; }
