//#Variants: -O2 | -O2 -no-pie | gcc -O2
/* A function in assembly ends in a call, which returns into the function behind it. */
#include "../rounds.h"

__asm__(
    ".text\n.globl first_half\n.type first_half, @function\n"
    "first_half: subq $8, %rsp\n call nine\n.size first_half, . - first_half\n"
    ".globl second_half\n.type second_half, @function\n"
    "second_half: addq $8, %rsp\n addl $1, %eax\n ret\n nop\n.size second_half, . - second_half\n");

int first_half(void);
volatile int calls;
__attribute__((noinline, used)) int nine(void)
{
    calls++;
    return 9;
}
NOINLINE static int sum(int rounds)
{
    int result = 0;
    while (rounds-- > 0)
        result += first_half();
    return result;
}

int main(void)
{
    FOR_A_WHILE
    {
        SAME_EVERY_ROUND(sum(10));
        CHECK(sum(3) == 30);
    }
    return 0;
}
