#include "several.h"

__attribute__((noinline)) static uint64_t helper(uint64_t x)
{
    __asm__ volatile("" : "+r"(x));
    return x + 3;
}
uint64_t first_a(uint64_t x)
{
    return helper(x) * 5 + helper(x + 1);
}
static uint64_t one(uint64_t x)
{
    return helper(x) + 1;
}
static uint64_t two(uint64_t x)
{
    return helper(x) + 2;
}
static uint64_t three(uint64_t x)
{
    return helper(x) * 3;
}
static uint64_t four(uint64_t x)
{
    return helper(x) ^ 4;
}
/* A switch of addresses, and calls through a table in data. */
static function_type *const table[] = {one, two, three, four};
function_type *switch_a(uint64_t x)
{
    switch (x) {
    case 0: return one;
    case 1: return three;
    case 2: return two;
    case 5: return four;
    case 6: return first_a;
    case 7: return first_b;
    case 9: return helper(0) == 3 ? two : one;
    default: return table[x % 4];
    }
}
uint64_t chain_a(function_type *back, uint64_t x)
{
    return x < 2 ? back(x) : chain_b(back, x - 1) + table[x % 4](x);
}
function_type *address_of_a(void)
{
    return first_a;
}
function_type *address_of_b_in_a(void)
{
    return first_b;
}
