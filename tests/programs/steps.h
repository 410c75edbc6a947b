/* A program that runs a part of itself in single steps, through first calls, and looks at every
 * step whether main is found on the stack from the instruction that it stands at.
 *
 * The program has `finds`, which tells whether it finds the frame with this address (finds.h has
 * one), and `stepped`, which runs what is to be seen between `step_on` and `step_off`. */
#ifndef STEPS_H
#define STEPS_H
#define _GNU_SOURCE
#include "rounds.h"
#include <signal.h>
#include <string.h>

#define TRAP_FLAG "0x100"
int finds(void *cfa);
static uint64_t stepped(uint64_t x);

static void *frame_of_main;
static volatile uint64_t steps, lost;

static void on_step(int signal)
{
    (void)signal;
    steps++;
    if (!finds(frame_of_main))
        lost++;
}

#define FUNCTION(n)                                                                                \
    NOINLINE static uint64_t f##n(uint64_t x)                                                      \
    {                                                                                              \
        __asm__ volatile("" : "+r"(x));                                                            \
        return x * (2 * n + 1) + (x >> n);                                                         \
    }

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

int main(void)
{
    frame_of_main = __builtin_dwarf_cfa();
    CHECK(finds(frame_of_main)); /* An unwinder is loaded before the first step. */
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
#endif
