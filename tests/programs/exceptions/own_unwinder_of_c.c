//#Variants: -O2 | gcc -O2 | -O2 -static-libgcc
//#PlainLibrary: from_a_library_throws.cpp -static-libgcc -Wl,--push-state,-Bstatic -lstdc++
//#    -Wl,--pop-state,--exclude-libs,ALL
/* A C program and a C++ library that brings everything it needs: exceptions pass the program's
 * frames. */
#include "../rounds.h"

int guarded(int (*call)(int), int argument);
void throws(int what);

NOINLINE static uint64_t work(uint64_t x)
{
    __asm__ volatile("" : "+r"(x));
    return x * 3 + 1;
}
NOINLINE static int throws_below(int depth)
{
    if (depth == 0)
        throws(7);
    return throws_below(depth - 1) + (int)work(1);
}

int main(void)
{
    FOR_A_WHILE
    {
        SAME_EVERY_ROUND(guarded(throws_below, 0));
        SAME_EVERY_ROUND(guarded(throws_below, 10));
        SAME_EVERY_ROUND(work(5));
    }
    return 0;
}
