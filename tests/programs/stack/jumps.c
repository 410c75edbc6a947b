//#Variants: -O0 | -O1 | -O2 | -O3 | -Os | -Oz | -O2 -g | -O2 -fno-omit-frame-pointer |
//#    -O2 -fstack-protector-strong | -O2 -fstack-protector-all | -O2 -fstack-clash-protection |
//#    -O0 -fstack-clash-protection | -O2 -fPIC | -O2 -no-pie -fno-pie | -O2 -flto |
//#    -O2 -flto=thin | -O2 -fcf-protection=full
//#Movable: 3
/* Jumps out of padded frames and back into them, among arrays of variable length. */
#include "../rounds.h"
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

static jmp_buf back;

__attribute__((noreturn, noinline)) static void leave(int value)
{
    unsigned char bytes[64];
    memset(bytes, value, sizeof bytes);
    longjmp(back, 1 + bytes[value % 64] % 5);
}

NOINLINE static void descend(int depth)
{
    unsigned char bytes[depth * 3 + 1];
    memset(bytes, depth, sizeof bytes);
    if (depth == 0)
        leave(bytes[0] + 9);
    descend(depth - 1);
    __asm__ volatile("" ::"r"(bytes) : "memory");
}

NOINLINE static uint64_t in_a_loop(int turns)
{
    volatile uint64_t sum = 0;
    for (volatile int i = 0; i < turns; i++) {
        unsigned char bytes[i % 17 + 1];
        memset(bytes, i, sizeof bytes);
        unsigned char *volatile kept = bytes;
        int value = setjmp(back);
        if (value == 0)
            descend(i % 9);
        sum = sum * 5 + (unsigned)value + kept[i % 17];
    }
    return sum;
}

NOINLINE static uint64_t returned_twice(int times)
{
    volatile int left = times;
    volatile uint64_t sum = 0;
    int value = setjmp(back);
    sum += (unsigned)value * 3 + 1;
    if (left-- > 0)
        leave(left);
    return sum;
}

NOINLINE static int compared(const void *a, const void *b)
{
    int difference = *(const int *)a - *(const int *)b;
    if (difference == -1000)
        longjmp(back, 4);
    return difference;
}

NOINLINE static uint64_t out_of_a_callback(void)
{
    int numbers[] = {5, 3, 9, 1000, 0, 2};
    if (setjmp(back) != 0)
        return 77;
    qsort(numbers, 6, sizeof numbers[0], compared);
    return (uint64_t)numbers[5];
}

int main(void)
{
    FOR_A_WHILE
    {
        SAME_EVERY_ROUND(in_a_loop(50));
        SAME_EVERY_ROUND(returned_twice(20));
        SAME_EVERY_ROUND(out_of_a_callback());
    }
    return 0;
}
