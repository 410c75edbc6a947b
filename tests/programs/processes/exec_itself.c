//#Variants: -O2 | -static | -O2 -no-pie
//#Epochs: 0
/* The program replaces itself by a new start of itself; then a new runtime starts. */
#include "../rounds.h"
#include <unistd.h>

NOINLINE static uint64_t work(uint64_t x)
{
    __asm__ volatile("" : "+r"(x));
    return x * 6364136223846793005u + 11;
}
int main(int count, char **arguments)
{
    int left = count > 1 ? atoi(arguments[1]) : 3;
    FOR_MS(10) SAME_EVERY_ROUND(work(9));
    fflush(stdout);
    if (left > 0) {
        char text[12];
        snprintf(text, sizeof text, "%d", left - 1);
        execl("/proc/self/exe", arguments[0], text, (char *)NULL);
        return 1;
    }
    puts("last start");
    return 0;
}
