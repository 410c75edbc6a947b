//#Variants: -O2 | -O0 | -O2 -no-pie | gcc -O2 | gcc -O2 -fno-plt | gcc -O2 -no-pie |
//#    -O2 -fuse-ld=bfd | gcc -O2 -fuse-ld=bfd
//#Flags: -ldl
//#With: next_symbol_by_jump_wrapper.c
/* A function that only passes its argument on to the loader, by a jump: the loader looks at the
 * address in its caller. */
#include "../rounds.h"
#include <string.h>

void *next_symbol(const char *name);

NOINLINE static size_t length(const char *text)
{
    size_t (*real)(const char *) = (size_t (*)(const char *))next_symbol("strlen");
    CHECK(real != NULL);
    return real(text);
}
NOINLINE static long sum(long rounds)
{
    long result = 0;
    for (long i = 0; i < rounds; i++)
        result += (long)length("hello") * i;
    return result;
}

int main(void)
{
    FOR_A_WHILE
    {
        SAME_EVERY_ROUND(sum(10));
    }
    return 0;
}
