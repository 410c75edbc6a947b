//#Variants: -O2 | -O2 -static
//#Movable: 0
//#Epochs: 0
/* Sizes beyond all memory and swap, of which the kernel's policy decides
 * (/proc/sys/vm/overcommit_memory), and a block that grows to what there is room for. */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

static void say(const char *what, size_t bytes, char *block)
{
    printf("%s of 2^%d: %s\n", what, 63 - __builtin_clzl(bytes),
           block             ? "a block"
           : errno == ENOMEM ? "ENOMEM"
                             : "?");
    if (block)
        block[bytes - 1] = 1;
    free(block);
}

int main(void)
{
    for (int power = 38; power <= 46; power += 2) {
        volatile size_t bytes = (size_t)1 << power;
        errno = 0;
        say("malloc", bytes, malloc(bytes));
        errno = 0;
        say("calloc", bytes, calloc(bytes / 16, 16));
        errno = 0;
        char *small = malloc(1 << 20), *large = realloc(small, bytes);
        if (!large) {
            small[(1 << 20) - 1] = 1;
            free(small);
        }
        say("realloc", bytes, large);
    }
    return 0;
}
