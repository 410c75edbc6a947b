#include "fibers.h"

static uint64_t step(uint64_t value)
{
    __asm__ volatile("" : "+r"(value));
    return value;
}

uint64_t mixed(uint64_t value) { return step(value); }
