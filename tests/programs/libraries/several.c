//#Variants: -O2 | -O0 | gcc -O2 | -O2 then-strip |
//#    -O2 -ffunction-sections -Wl,--gc-sections,--icf=all -fuse-ld=lld | -O2 -fuse-ld=mold |
//#    -O2 -no-pie -fno-pie | -O3 -flto | -Rstack=per-function -Rcode -Rheap -O2
//#Library: several_a.c
//#Library: several_b.c -Wl,-z,now
//#Attached: 2
//#Movable: 2
/* Two libraries and a program call each other, by name and through pointers, also back into frames
 * that are already on the stack. */
#include "several.h"
#include "../rounds.h"

NOINLINE uint64_t in_program(uint64_t x)
{
    return x * 31 + 7;
}
NOINLINE static uint64_t through(function_type *call, uint64_t x)
{
    return call(x) ^ x;
}
static int compare(const void *a, const void *b)
{
    return *(const int *)a - *(const int *)b;
}

int main(void)
{
    /* A function has one address, wherever that is asked for. */
    CHECK(address_of_a() == first_a && address_of_b_in_a() == first_b);
    CHECK(address_of_program_in_b() == in_program);
    FOR_A_WHILE
    {
        uint64_t sum = 0;
        for (uint64_t i = 0; i < 12; i++) {
            sum = sum * 3 + first_a(i) + first_b(i);
            sum += chain_a(in_program, i) + through(first_b, i) + through(switch_a(i), i);
        }
        int values[7] = {5, 3, 9, 1, 2, 8, 7};
        sort_in_b(values, 7, compare);
        for (int i = 0; i < 7; i++)
            sum = sum * 5 + (uint64_t)values[i];
        SAME_EVERY_ROUND(sum);
        SAME_EVERY_ROUND(computed_b(9));
    }
    return 0;
}
