//#Variants: -O2 | -O0 | gcc -O2
//#Library: fibers_b.c
//#PlainLibrary: fibers_a.c
//#Attached: 1
//#Movable: 4
//#Epochs: 10
/* Fibers of a library that was not built by szc: it switches the stacks, and calls functions that
 * run on the thread's own stack as well, so that none of their calls is the first one in a layout.
 * */
#include "../rounds.h"
#include "fibers.h"

static int on_fiber;

NOINLINE static uint64_t deep(uint64_t value)
{
    if (value % 32 == 0) {
        if (on_fiber)
            fiber_rest();
    } else {
        value += deep(mixed(value - 1));
    }
    __asm__ volatile("" : "+r"(value));
    return value * 3;
}

static uint64_t resume(void)
{
    on_fiber = 1;
    uint64_t result = fiber_resume();
    on_fiber = 0;
    return result;
}

int main(void)
{
    FOR_MS(20) { SAME_EVERY_ROUND(deep(21)); }
    for (uint64_t turn = 0; turn < 3; turn++) {
        uint64_t expected = deep(turn * 32 + 21);
        fiber_make(deep, turn * 32 + 21);
        CHECK(resume() == 0);
        FOR_MS(60) { CHECK(deep(turn * 32 + 21) == expected); }
        CHECK(resume() == expected);
    }
    puts("all came back");
    return 0;
}
