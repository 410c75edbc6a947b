//#Variants: -O2 | -Os | -O2 -ffunction-sections -Wl,--gc-sections | gcc -O2 | -O2 -no-pie
//#Epochs: 5
/* Functions of 1 to 12 bytes: those with no room for the jump at their entry stay. */
#include "../rounds.h"

NOINLINE void nothing(void) { __asm__ volatile(""); }
NOINLINE int zero(void) { return 0; }
NOINLINE int five(void) { return 5; }
NOINLINE long same(long x) { return x; }
NOINLINE long twice(long x) { return 2 * x; }
NOINLINE long plus_seven(long x) { return x + 7; }
NOINLINE long negative(long x) { return -x; }
NOINLINE double half(double x) { return x / 2; }
NOINLINE long jumps(long x) { return twice(x); }
NOINLINE long through(long (*f)(long), long x) { return f(x); }

int main(void)
{
    long (*const all[])(long) = {same, twice, plus_seven, negative, jumps};
    FOR_A_WHILE
    {
        long sum = 0;
        for (int i = 0; i < 1000; i++) {
            nothing();
            sum += zero() + five() + (long)half(i);
            for (unsigned f = 0; f < sizeof all / sizeof *all; f++)
                sum = (sum + through(all[f], sum)) % 1000003;
        }
        SAME_EVERY_ROUND(sum);
    }
    return 0;
}
