/* Works for as many milliseconds of CPU time as it is told, and calls all its functions all the
 * time. */
#include "../rounds.h"
#include <string.h>
#include <unistd.h>

#define FUNCTION(n)                                                                                \
    NOINLINE uint64_t f##n(uint64_t x)                                                             \
    {                                                                                              \
        __asm__ volatile("" : "+r"(x));                                                            \
        return x * (2 * n + 1) + (x >> n);                                                         \
    }
FUNCTION(1) FUNCTION(2) FUNCTION(3) FUNCTION(4) FUNCTION(5) FUNCTION(6) FUNCTION(7) FUNCTION(8)

int main(int count, char **arguments)
{
    int ms = count > 1 ? atoi(arguments[1]) : 30;
    if (count > 2 && strcmp(arguments[2], "chdir") == 0 && chdir("/") != 0)
        return 1;
    if (count > 2 && strcmp(arguments[2], "sleep") == 0) {
        puts("ready");
        fflush(stdout);
        FOR_MS(20) f1(1);
        usleep((useconds_t)ms * 1000);
    }
    FOR_CPU_MS(ms)
    SAME_EVERY_ROUND(f1(f2(f3(f4(f5(f6(f7(f8(77)))))))));
    return 0;
}
