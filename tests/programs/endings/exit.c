//#Variants: -O2 | -static
//#Exit: 3
//#Epochs: 0
#include "../rounds.h"
#include <unistd.h>
NOINLINE static uint64_t work(uint64_t x)
{
    __asm__ volatile("" : "+r"(x));
    return x * 6364136223846793005u + 11;
}
static void last(void) { puts("atexit ran"); fflush(stdout); }
static void quick(void) { puts("at_quick_exit ran"); fflush(stdout); }
int main(void)
{
    atexit(last);
    at_quick_exit(quick);
    FOR_MS(15) SAME_EVERY_ROUND(work(3));
    fflush(stdout);
    exit(3);
}
