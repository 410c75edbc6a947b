#include "../rounds.h"

NOINLINE static uint64_t step(uint64_t x)
{
    __asm__ volatile("" : "+r"(x));
    return x * 6364136223846793005u + 11;
}

uint64_t of_library(uint64_t x) { return step(step(x)) ^ x; }
