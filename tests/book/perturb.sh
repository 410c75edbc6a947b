# shellcheck shell=bash
# A program with a function `compress`, and with allocations.
cat >bench.c <<'END'
#include <stdlib.h>
static volatile unsigned long sum;
__attribute__((noinline)) void compress(char *block) {
    for (int k = 0; k < 4096; k++) sum += (unsigned char)(block[k] = (char)k);
}
int main(void) {
    for (int i = 0; i < 60000; i++) {
        char *block = malloc(4096);
        if (block == NULL) return 1;
        compress(block);
        free(block);
    }
    return 0;
}
END
clang-22 -O2 -g bench.c -o bench
