//#Variants: -O0 | -O1 | -O2 | -O3 | -Os | -Oz | -O2 -g | -O2 -fno-omit-frame-pointer |
//#    -O2 -fstack-protector-strong | -O2 -fstack-protector-all | -O2 -fstack-clash-protection |
//#    -O0 -fstack-clash-protection | -O2 -fPIC | -O2 -no-pie -fno-pie | -O2 -flto |
//#    -O2 -flto=thin
//#Movable: 2
/* Calls that must be jumps, and some that only may: the stack must not grow with them. */
#include "../rounds.h"

typedef uint64_t step(uint64_t left, uint64_t sum);

NOINLINE static uint64_t finish(uint64_t left, uint64_t sum) { return left + sum; }

NOINLINE static uint64_t note(uint64_t value)
{
    __asm__ volatile("" : "+r"(value));
    return value % 7;
}

static step even, odd;

NOINLINE static uint64_t even(uint64_t left, uint64_t sum)
{
    sum += note(left);
    step *next = left == 0 ? finish : odd;
    __attribute__((musttail)) return next(left - (left != 0), sum);
}

NOINLINE static uint64_t odd(uint64_t left, uint64_t sum)
{
    sum ^= note(sum);
    __attribute__((musttail)) return even(left - 1, sum);
}

/* Calls something first, so that it has a frame and a pad to give back. */
NOINLINE static uint64_t maybe(uint64_t left, uint64_t sum)
{
    if (left == 0)
        return note(sum);
    sum += note(left);
    step *volatile again = maybe;
#if __OPTIMIZE__ && !__SANITIZE_ADDRESS__
    return again(left - 1, sum);
#else
    return left % 512 ? again(left - 1, sum) : sum;
#endif
}

int main(void)
{
    FOR_A_WHILE
    {
        SAME_EVERY_ROUND(even(100000, 1));
        SAME_EVERY_ROUND(maybe(1000, 1));
    }
    return 0;
}
