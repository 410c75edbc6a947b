/* Calls a function in single steps, and unwinds the stack at every step; says how many steps the
 * last call took. The function has all kinds of arguments, and room for a computation. */
#include "../steps.h"
#include "../finds.h"
#include <stdarg.h>

NOINLINE double computed(int count, long a, long b, long c, ...)
{
    va_list arguments;
    va_start(arguments, c);
    __asm__ volatile(".skip 80, 0x90"); /* Room. */
    double sum = (double)(a + 10 * b + 100 * c);
    while (count-- > 0)
        sum += va_arg(arguments, double);
    va_end(arguments);
    return sum;
}
static volatile long number = 1;
static uint64_t last_steps;
NOINLINE static uint64_t stepped(uint64_t x)
{
    long one = number;
    double sum = 0;
    step_on();
    sum = computed(2, one, 2 * one, 3 * one, 0.5, 0.25);
    step_off();
    CHECK(sum == 321.75);
    last_steps = steps;
    return x;
}
__attribute__((destructor)) static void say(void)
{
    printf("%llu steps\n", (unsigned long long)last_steps);
}
