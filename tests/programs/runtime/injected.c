/* Calls a function in single steps, and unwinds the stack at every step; says how many steps the
 * last call took. The function has all kinds of arguments, and room for a computation. */
#include "../steps.h"
#include <stdarg.h>
#include <unwind.h>

struct search {
    void *frame;
    int found;
};
static _Unwind_Reason_Code look(struct _Unwind_Context *context, void *argument)
{
    struct search *search = argument;
    if ((void *)_Unwind_GetCFA(context) == search->frame)
        search->found = 1;
    return _URC_NO_REASON;
}
int finds(void *cfa)
{
    struct search search = {cfa, 0};
    _Unwind_Backtrace(look, &search);
    return search.found;
}
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
