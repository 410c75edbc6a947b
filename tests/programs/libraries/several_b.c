#include "several.h"
#include <stdlib.h>

/* Defined in the program, or in the library that is loaded before this one. */
__attribute__((noinline)) static uint64_t helper(uint64_t x)
{
    __asm__ volatile("" : "+r"(x));
    switch (x % 8) {
    case 0: return x + 11;
    case 1: return x * 5;
    case 2: return x ^ 99;
    case 3: return in_program(x);
    case 4: return x - 1;
    case 5: return x * x;
    case 6: return ~x;
    default: return x << 3;
    }
}
uint64_t first_b(uint64_t x)
{
    return helper(x) + helper(x + 1) * 7;
}
uint64_t chain_b(function_type *back, uint64_t x)
{
    return helper(x) + chain_a(back, x);
}
function_type *address_of_program_in_b(void)
{
    return in_program;
}
void sort_in_b(int *values, size_t count, compare_type *compare)
{
    qsort(values, count, sizeof *values, compare);
}
/* Labels as values, whose array holds addresses of this function. */
uint64_t computed_b(uint64_t x)
{
    static const void *const steps[] = {&&add, &&multiply, &&mix, &&end};
    uint64_t sum = 1;
    unsigned step = 0;
    goto *steps[step];
add:
    sum += x;
    goto *steps[++step];
multiply:
    sum *= helper(x);
    goto *steps[++step];
mix:
    sum ^= sum >> 7;
    if (x--)
        goto *steps[step = 0];
    goto *steps[++step];
end:
    return sum;
}
