//#Variants: -O2 | -O1 | -O3 -fno-pie -no-pie | -flto
//#Movable: 3
#include "../rounds.h"

typedef uint64_t step(uint64_t left, uint64_t value);
static step one, two, three;
static step *const steps[] = {one, two, three};

#define NEXT __attribute__((musttail)) return
NOINLINE static uint64_t one(uint64_t left, uint64_t value)
{
    if (left == 0)
        return value;
    NEXT two(left - 1, value * 3 + 1);
}
NOINLINE static uint64_t two(uint64_t left, uint64_t value)
{
    if (left == 0)
        return value ^ 5;
    NEXT steps[value % 3](left - 1, value + 7);
}
NOINLINE static uint64_t three(uint64_t left, uint64_t value)
{
    if (left == 0)
        return ~value;
    step *next = left % 2 ? one : two;
    NEXT next(left - 1, value >> 1);
}

int main(void)
{
    FOR_A_WHILE
    {
        SAME_EVERY_ROUND(one(100000, 1));
        SAME_EVERY_ROUND(three(100001, 99));
    }
    return 0;
}
