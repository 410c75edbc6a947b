//#Variants: -O2 | -O2 -static
/* Recursion down to where the plain program has used 7.5 of the usual 8 MiB, by frames of several
 * shapes: what fits without pads fits with them. */
#include "../rounds.h"
#include <sys/resource.h>

/* Bytes of a plain frame at -O2, and of all of them. */
enum { LEAST = 16, TINY = 48, MIDDLE = 240, BIG = 20032, ALL = 15 << 19 };

/* A return address and one register. */
NOINLINE static uint64_t least(uint64_t depth)
{
    if (depth == 0)
        return 0;
    uint64_t below = least(depth - 1);
    __asm__ volatile("" : "+r"(below), "+r"(depth));
    return below ^ depth;
}

NOINLINE static uint64_t tiny(uint64_t depth)
{
    volatile uint64_t own[2] = {depth, depth + 1};
    return depth == 0 ? 0 : tiny(depth - 1) + own[0] - own[1];
}

NOINLINE static uint64_t middle(uint64_t depth)
{
    volatile char own[200];
    own[depth % 200] = (char)depth;
    return depth == 0 ? 0 : middle(depth - 1) + (unsigned char)own[depth % 200];
}

NOINLINE static uint64_t big(uint64_t depth)
{
    volatile char own[20000];
    own[depth % 20000] = (char)depth;
    return depth == 0 ? 0 : big(depth - 1) + (unsigned char)own[depth % 20000];
}

/* Two functions in turn, one with an array whose size is only known here. */
static uint64_t even(uint64_t depth, uint64_t bytes);
NOINLINE static uint64_t odd(uint64_t depth, uint64_t bytes)
{
    volatile char own[bytes];
    own[depth % bytes] = 1;
    return even(depth - 1, bytes) + (unsigned char)own[depth % bytes];
}
NOINLINE static uint64_t even(uint64_t depth, uint64_t bytes)
{
    volatile uint64_t own = depth;
    return depth == 0 ? 0 : odd(depth - 1, bytes) + own;
}

int main(void)
{
    struct rlimit limit;
    CHECK(getrlimit(RLIMIT_STACK, &limit) == 0);
    /* Where the limit is another one, the test is no less right, but says less. */
    uint64_t all = limit.rlim_cur < 8 << 20 ? limit.rlim_cur / 16 * 15 : ALL;
    printf("%llu\n", (unsigned long long)least(all / LEAST));
    printf("%llu\n", (unsigned long long)tiny(all / TINY));
    printf("%llu\n", (unsigned long long)middle(all / MIDDLE));
    printf("%llu\n", (unsigned long long)big(all / BIG));
    printf("%llu\n", (unsigned long long)even(all / 300 * 2, 176));
    FOR_A_WHILE { SAME_EVERY_ROUND(big(20)); }
    puts("done");
    return 0;
}
