//#Variants: -O2 | -static
//#Signal: 27
//#Epochs: 0
/* A signal that few know to end a program. */
#include "../rounds.h"
#include <sys/time.h>

NOINLINE static uint64_t work(uint64_t x)
{
    __asm__ volatile("" : "+r"(x));
    return x * 6364136223846793005u + 11;
}

int main(void)
{
    struct itimerval timer = {{0, 0}, {0, 20000}};
    FOR_MS(15) SAME_EVERY_ROUND(work(3));
    fflush(stdout);
    CHECK(setitimer(ITIMER_PROF, &timer, NULL) == 0);
    for (;;) work(4);
}
