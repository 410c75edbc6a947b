/* Calls of functions that move, with a result that tells whether they are what they were. */
#ifndef DEEPER_H
#define DEEPER_H
#include "../rounds.h"

NOINLINE static uint64_t work(uint64_t x)
{
    __asm__ volatile("" : "+r"(x));
    return x * 6364136223846793005u + 19;
}
NOINLINE static uint64_t deeper(uint64_t x, int depth)
{
    return depth ? work(deeper(x, depth - 1)) ^ x : work(x);
}
#endif
