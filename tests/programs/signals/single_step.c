//#Variants: -O2 | -O2 -no-pie | -static
//#Movable: 7
/* The program runs itself in single steps, through first calls, and unwinds the stack at every step:
 * main is found from each instruction. */
#define _GNU_SOURCE
#include "../rounds.h"
#include <signal.h>
#include <string.h>
#include <unwind.h>

#define TRAP_FLAG "0x100"
static void *frame_of_main;
static volatile uint64_t steps, lost;
struct search {
    int found, frames;
};
static _Unwind_Reason_Code look(struct _Unwind_Context *context, void *argument)
{
    struct search *search = argument;
    search->frames++;
    if ((void *)_Unwind_GetCFA(context) == frame_of_main)
        search->found = 1;
    return _URC_NO_REASON;
}
static void on_step(int signal)
{
    struct search search = {0, 0};
    (void)signal;
    _Unwind_Backtrace(look, &search);
    steps++;
    if (!search.found)
        lost++;
}
#define FUNCTION(n)                                                                                \
    NOINLINE static uint64_t f##n(uint64_t x)                                                      \
    {                                                                                              \
        __asm__ volatile("" : "+r"(x));                                                            \
        return x * (2 * n + 1) + (x >> n);                                                         \
    }
FUNCTION(1) FUNCTION(2) FUNCTION(3) FUNCTION(4)
static uint64_t (*volatile by_pointer)(uint64_t) = f4;
void step_on(void), step_off(void);
__asm__(".text\n"
        ".type step_on, @function\n.globl step_on\n"
        "step_on: .cfi_startproc\n"
        "pushf\n.cfi_adjust_cfa_offset 8\n"
        "orq $" TRAP_FLAG ", (%rsp)\n"
        "popf\n.cfi_adjust_cfa_offset -8\n"
        "ret\n.cfi_endproc\n.size step_on, . - step_on\n"
        ".type step_off, @function\n.globl step_off\n"
        "step_off: .cfi_startproc\n"
        "pushf\n.cfi_adjust_cfa_offset 8\n"
        "andq $~" TRAP_FLAG ", (%rsp)\n"
        "popf\n.cfi_adjust_cfa_offset -8\n"
        "ret\n.cfi_endproc\n.size step_off, . - step_off\n");
NOINLINE static uint64_t stepped(uint64_t x)
{
    step_on();
    x = f1(f2(f3(x))) + by_pointer(x);
    step_off();
    return x;
}

int main(void)
{
    frame_of_main = __builtin_dwarf_cfa();
    struct search search = {0, 0};
    _Unwind_Backtrace(look, &search); /* libgcc is loaded before the first step. */
    CHECK(search.found);
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = on_step;
    CHECK(sigaction(SIGTRAP, &action, NULL) == 0);
    FOR_A_WHILE
    {
        SAME_EVERY_ROUND(stepped(9));
        CHECK(steps > 16);
        steps = 0;
        CHECK(lost == 0);
    }
    puts("main was found from everywhere");
    return 0;
}
