//#Variants: -O2 | -O0 | -O2 -no-pie | gcc -O2
/* Code that jumps over a byte of data, which looks like the beginning of an instruction and hides
 * the one behind it. */
#include "../rounds.h"

volatile int calls;

NOINLINE static int add_hidden(int value)
{
    int result;
    __asm__ volatile("jmp 1f\n\t.byte 0xe8\n1:\tmovl $0x12345678, %0\n\taddl %1, %0"
                     : "=&r"(result)
                     : "r"(value));
    calls++;
    return result;
}

NOINLINE static int counted(int value)
{
    calls++;
    return add_hidden(value) - 0x12345678;
}

int main(void)
{
    FOR_A_WHILE
    {
        SAME_EVERY_ROUND(counted(77));
        CHECK(counted(-3) == -3);
    }
    return 0;
}
