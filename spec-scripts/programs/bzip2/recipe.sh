# shellcheck shell=bash disable=SC2034
# bzip2: few functions, long loops; the decompressor keeps its state in a switch.

debian_source=bzip2
upstream_version=1.0.8
upstream_url=https://sourceware.org/pub/bzip2/bzip2-1.0.8.tar.gz
upstream_sha256=ab5a03176ee106d3f0fa90e381da478ddae405918153cca248e682cd0c4a2269

recipe_build() {
    make -j"$JOBS" bzip2 CC="$CC" CFLAGS="-Wall -Winline -D_FILE_OFFSET_BITS=64 $CFLAGS" \
        LDFLAGS="$LDFLAGS" AR="$AR" RANLIB="$RANLIB"
    cp bzip2 "$OUT/bzip2"
}

recipe_inputs() {
    corpus "$(size_of_workload "$SIZE" 16000000 2000000)" "$INPUTS/corpus-$SIZE"
    [[ $MODE == compress || -s $INPUTS/corpus-$SIZE.bz2 ]] && return
    # Not under randomization: this is the input, not the test.
    SZC_INTERVAL_MS=0 "$BUILD/bzip2" -9 -c "$INPUTS/corpus-$SIZE" >"$INPUTS/corpus-$SIZE.bz2.$$"
    mv "$INPUTS/corpus-$SIZE.bz2.$$" "$INPUTS/corpus-$SIZE.bz2"
}

recipe_command() {
    case $MODE in
    compress) COMMAND=("$BUILD/bzip2" -9 -c "$INPUTS/corpus-$SIZE") ;;
    decompress) COMMAND=("$BUILD/bzip2" -dc "$INPUTS/corpus-$SIZE.bz2") ;;
    esac
}
