//#Variants: gcc -O2 | gcc -O0 | gcc -O2 -no-pie
//#Movable: 2
/* gcc's nested functions get their frame in a register that no other call uses. */
#include "../rounds.h"

NOINLINE static uint64_t outer(uint64_t x, uint64_t rounds)
{
    uint64_t sum = 1;
    NOINLINE uint64_t inner(uint64_t y)
    {
        sum = sum * 3 + y;
        return sum ^ x;
    }
    NOINLINE uint64_t twice(uint64_t y) { return inner(y) + inner(y + 1); }
    for (uint64_t i = 0; i < rounds; i++)
        x += twice(i) >> 7;
    return sum;
}

int main(void)
{
    FOR_A_WHILE SAME_EVERY_ROUND(outer(12345, 20));
    return 0;
}
