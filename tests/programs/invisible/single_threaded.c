//#Variants: -O2 | -static
//#Epochs: 5
/* The C library goes on taking the paths for programs with one thread. */
#include "../rounds.h"
#include <sys/single_threaded.h>

NOINLINE static int work(int x)
{
    __asm__ volatile("" : "+r"(x));
    return x + 1;
}

int main(void)
{
    FOR_A_WHILE CHECK(work(1) == 2 && __libc_single_threaded);
    puts("single-threaded");
    return 0;
}
