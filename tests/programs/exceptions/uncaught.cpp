//#Variants: -O2 | -O2 -static | gcc -O2 | -O2 -lunwind
//#Signal: 6
//#Epochs: 0
#include "../rounds.h"
#include <stdexcept>

NOINLINE static void descend(int depth)
{
    if (depth == 0)
        throw std::runtime_error("nobody catches this");
    descend(depth - 1);
    __asm__ volatile("");
}
NOINLINE static long work(long x) { return (x * 7 + 1) % 1009; }

int main()
{
    long x = 1;
    FOR_MS(20) x = work(x);
    puts("now");
    fflush(stdout);
    descend(5 + (x > 2000));
    return 0;
}
