//#Variants: -O2 | -O2 -no-pie | -static
//#Movable: 8
/* The program runs itself in single steps, through first calls, and unwinds the stack at every
 * step: main is found from each instruction. */
#include "../steps.h"
#include "../finds.h"

FUNCTION(1) FUNCTION(2) FUNCTION(3) FUNCTION(4)
static uint64_t (*volatile by_pointer)(uint64_t) = f4;
NOINLINE static uint64_t stepped(uint64_t x)
{
    step_on();
    x = f1(f2(f3(x))) + by_pointer(x);
    step_off();
    return x;
}
