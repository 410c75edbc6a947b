/* Recursive Fibonacci through two functions that call each other: almost nothing
 * but calls, the worst case for code that moves. Usage: fib N */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

__attribute__((noinline)) static uint64_t fib_odd(unsigned n);

/* The empty asm keeps compilers from turning one of the two calls into a loop. */
__attribute__((noinline)) static uint64_t fib_even(unsigned n)
{
    if (n < 2)
        return n;
    uint64_t before = fib_odd(n - 1);
    __asm__ volatile("" : "+r"(before));
    uint64_t result = fib_odd(n - 2);
    __asm__ volatile("" : "+r"(result));
    return before + result;
}

__attribute__((noinline)) static uint64_t fib_odd(unsigned n)
{
    if (n < 2)
        return n;
    uint64_t before = fib_even(n - 1);
    __asm__ volatile("" : "+r"(before));
    uint64_t result = fib_even(n - 2);
    __asm__ volatile("" : "+r"(result));
    return before + result;
}

int main(int argc, char **argv)
{
    unsigned n = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : 42;
    printf("%llu\n", (unsigned long long)fib_even(n));
    return 0;
}
