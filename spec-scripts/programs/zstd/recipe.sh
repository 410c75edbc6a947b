# shellcheck shell=bash disable=SC2034
# zstd: threads, hand-written assembly in the Huffman decoder, deep inlining.

debian_source=libzstd
upstream_version=1.5.4
upstream_url=https://github.com/facebook/zstd/releases/download/v1.5.4/zstd-1.5.4.tar.gz
upstream_sha256=0f470992aedad543126d06efab344dc5f3e171893810455787d38347343a4424

# Without the optional formats: whether their libraries are installed would
# otherwise change the program.
recipe_build() {
    make -C programs -j"$JOBS" zstd CC="$CC" CFLAGS="$CFLAGS" LDFLAGS="$LDFLAGS" \
        HAVE_ZLIB=0 HAVE_LZMA=0 HAVE_LZ4=0
    cp programs/zstd "$OUT/zstd"
}

recipe_inputs() {
    corpus "$(size_of_workload "$SIZE" 20000000 2000000)" "$INPUTS/corpus-$SIZE"
    [[ $MODE == compress || -s $INPUTS/corpus-$SIZE.zst ]] && return
    # Not under randomization: this is the input, not the test.
    SZC_INTERVAL_MS=0 "$BUILD/zstd" -q -12 -T1 -c "$INPUTS/corpus-$SIZE" >"$INPUTS/corpus-$SIZE.zst.$$"
    mv "$INPUTS/corpus-$SIZE.zst.$$" "$INPUTS/corpus-$SIZE.zst"
}

# -T1 is one worker thread beside the main thread.
recipe_command() {
    case $MODE in
    compress) COMMAND=("$BUILD/zstd" -q -12 -T1 -c "$INPUTS/corpus-$SIZE") ;;
    decompress) COMMAND=("$BUILD/zstd" -q -dc "$INPUTS/corpus-$SIZE.zst") ;;
    esac
}
