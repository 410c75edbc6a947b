//#Variants: -O2 | -O2 -no-pie | gcc -O2
//#Library: own_unwinder_steps_moving.c
//#PlainLibrary: own_unwinder_steps_plain.c -static-libgcc
//#Attached: 1
/* The program runs itself in single steps, through first calls in itself and in a library that
 * moves, and another library's own unwinder walks the stack at every step: main is found from each
 * instruction. */
#include "../steps.h"

uint64_t in_library(uint64_t (*back)(uint64_t), uint64_t x);
/* Not by a stub of the linker's, which has no unwind rules. */
static uint64_t (*volatile by_pointer)(uint64_t (*)(uint64_t), uint64_t) = in_library;
FUNCTION(1) FUNCTION(2) FUNCTION(3)
NOINLINE static uint64_t with_a_frame(uint64_t x)
{
    volatile uint64_t kept[5] = {x, f1(x), f2(x)};
    return f3(kept[0] + kept[2]) + kept[1];
}
NOINLINE static uint64_t stepped(uint64_t x)
{
    step_on();
    x = with_a_frame(x) + by_pointer(with_a_frame, x);
    step_off();
    return x;
}
