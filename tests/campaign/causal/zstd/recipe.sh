# shellcheck shell=bash disable=SC2034,SC2154
# zstd: a thread that reads and makes jobs, a pool that compresses, and the first one writes.

debian_source=libzstd

build_program() {
    lengthen 1 lib/compress/zstd_compress.c 'static size_t ZSTD_buildSeqStore('
    lengthen 2 lib/compress/zstd_compress.c 'ZSTD_entropyCompressSeqStore_internal('
    lengthen 3 lib/compress/zstdmt_compress.c 'static size_t ZSTDMT_createCompressionJob('
    make -C programs -j"$JOBS" zstd CC="${CC[*]}" LDFLAGS="$PWD/longer.o" \
        ZSTD_NO_ASM=1 HAVE_ZLIB=0 HAVE_LZMA=0 HAVE_LZ4=0
    cp programs/zstd program
}

functions=(ZSTD_buildSeqStore ZSTD_entropyCompressSeqStore_internal ZSTDMT_createCompressionJob)
longer=('4 4000000' '4 2000000' '1 5000000')
command=(./program -6 "-T$threads" -qcf "$inputs/text")
