//#Signal: 11
//#LogLost
//#Variants: -O2 | -O0
/* Recursion without end: a signal, as ever, and not all the memory there is. */
#include "../rounds.h"

NOINLINE static uint64_t without_end(uint64_t depth)
{
    volatile char own[100];
    own[depth % 100] = 1;
    return without_end(depth + 1) + (unsigned char)own[depth % 100];
}

int main(void)
{
    FOR_A_WHILE { SAME_EVERY_ROUND(rounds_now_ms() > 0); }
    fflush(stdout);
    return (int)without_end(0);
}
