# shellcheck shell=bash disable=SC2034,SC2154,SC2164
# pbzip2: a thread that reads, some that compress, and one that writes.

debian_source=pbzip2

build_program() {
    local definitions=(-D_LARGEFILE64_SOURCE -D_FILE_OFFSET_BITS=64 -DUSE_STACKSIZE_CUSTOMIZATION)
    cp -r "$CACHE/sources/bzip2/tree" bzip2
    lengthen 1 bzip2/blocksort.c 'void BZ2_blockSort ( EState* s )'
    lengthen 2 bzip2/compress.c 'void sendMTFValues ( EState* s )'
    lengthen 3 pbzip2.cpp 'ssize_t do_write(int fd'
    (cd bzip2 && "${CC[@]}" -c blocksort.c huffman.c crctable.c randtable.c compress.c \
        decompress.c bzlib.c)
    "${CXX[@]}" "${definitions[@]}" -Ibzip2 pbzip2.cpp ErrorContext.cpp BZ2StreamScanner.cpp \
        bzip2/*.o longer.o -o program
}

functions=(BZ2_blockSort sendMTFValues do_write)
longer=('1 12000000' '1 12000000' '1 3000000')
command=(./program -kcf -b1 "-p$threads" "$inputs/text")
