//#Variants: -O2 | -O2 -static
/* What the runtime looks for at the start leaves no error for the program to find. */
#include "../rounds.h"
#include <dlfcn.h>
#include <errno.h>

NOINLINE static uint64_t work(uint64_t x)
{
    __asm__ volatile("" : "+r"(x));
    return x * 31 + 7;
}

int main(void)
{
    CHECK(errno == 0);
    const char *error = dlerror();
    if (error != NULL) {
        puts(error);
        return 1;
    }
    FOR_A_WHILE SAME_EVERY_ROUND(work(3));
    puts("done");
    return 0;
}
