//#Variants: -O2 | -static
//#Signal: 8
//#Epochs: 0
#include "../rounds.h"
#include <signal.h>
NOINLINE static uint64_t work(uint64_t x)
{
    __asm__ volatile("" : "+r"(x));
    return x * 6364136223846793005u + 11;
}
int main(void)
{
    FOR_MS(15) SAME_EVERY_ROUND(work(3));
    fflush(stdout);
    __asm__ volatile("xorl %%ecx, %%ecx; xorl %%edx, %%edx; movl $1, %%eax; divl %%ecx" ::
                         : "eax", "ecx", "edx");
    puts("survived");
    return 0;
}
