//#Variants: -O2 | -static
//#Signal: 11
//#Epochs: 0
/* A fault that no instruction caused: SIGSEGV sent by the program to itself. */
#include "../rounds.h"
#include <signal.h>
NOINLINE static uint64_t work(uint64_t x)
{
    __asm__ volatile("" : "+r"(x));
    return x * 3 + 1;
}
int main(void)
{
    FOR_MS(15) SAME_EVERY_ROUND(work(3));
    fflush(stdout);
    raise(SIGSEGV);
    puts("survived");
    return 0;
}
