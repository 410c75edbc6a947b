//#Variants: -O2 | -O0 | -flto | -static | -no-pie | gcc -O2 | gcc -O0 -no-pie
//#Movable: 4
//#Epochs: 5
#include "../rounds.h"

NOINLINE static unsigned ackermann(unsigned m, unsigned n)
{
    return m == 0 ? n + 1 : n == 0 ? ackermann(m - 1, 1) : ackermann(m - 1, ackermann(m, n - 1));
}

static int is_odd(unsigned n);
NOINLINE static int is_even(unsigned n) { return n == 0 ? 1 : is_odd(n - 1); }
NOINLINE static int is_odd(unsigned n) { return n == 0 ? 0 : is_even(n - 1); }

NOINLINE static uint64_t hofstadter_male(uint64_t n);
NOINLINE static uint64_t hofstadter_female(uint64_t n)
{
    return n == 0 ? 1 : n - hofstadter_male(hofstadter_female(n - 1));
}
NOINLINE static uint64_t hofstadter_male(uint64_t n)
{
    return n == 0 ? 0 : n - hofstadter_female(hofstadter_male(n - 1));
}

NOINLINE static uint64_t deep(uint64_t n, volatile uint64_t *sum)
{
    *sum += n;
    uint64_t below = n == 0 ? 0 : deep(n - 1, sum);
    return below + *sum % 3;
}

int main(void)
{
    FOR_A_WHILE
    {
        volatile uint64_t sum = 0;
        SAME_EVERY_ROUND(ackermann(2, 50));
        SAME_EVERY_ROUND(is_even(1001));
        SAME_EVERY_ROUND(hofstadter_female(14));
        SAME_EVERY_ROUND(deep(50000, &sum));
    }
    return 0;
}
