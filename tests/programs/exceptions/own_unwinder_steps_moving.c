#include <stdint.h>

__attribute__((noinline)) static uint64_t plain(uint64_t x)
{
    __asm__ volatile("" : "+r"(x));
    return x ^ 0x55;
}

uint64_t in_library(uint64_t (*back)(uint64_t), uint64_t x)
{
    volatile uint64_t kept[3] = {x, plain(x), 1};
    return back(kept[1]) + kept[0];
}
