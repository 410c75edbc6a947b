//#Variants: -O2 | -O2 -no-pie | gcc -O2
//#Library: own_unwinder_steps_moving.c
//#PlainLibrary: own_unwinder_steps_plain.c -static-libgcc
//#Adopted: 1
/* The program runs itself in single steps, through first calls in itself and in a library that moves, and
 * another library's own unwinder walks the stack at every step: main is found from each instruction. */
#define _GNU_SOURCE
#include "../rounds.h"
#include <signal.h>
#include <string.h>

#define TRAP_FLAG "0x100"
int finds(void *cfa);
uint64_t in_library(uint64_t (*back)(uint64_t), uint64_t x);
/* Not by a stub of the linker's, which has no unwind rules. */
static uint64_t (*volatile by_pointer)(uint64_t (*)(uint64_t), uint64_t) = in_library;
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
FUNCTION(1) FUNCTION(2) FUNCTION(3)
NOINLINE static uint64_t with_a_frame(uint64_t x)
{
    volatile uint64_t kept[5] = {x, f1(x), f2(x)};
    return f3(kept[0] + kept[2]) + kept[1];
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
NOINLINE static uint64_t stepped(uint64_t x)
{
    step_on();
    x = with_a_frame(x) + by_pointer(with_a_frame, x);
    step_off();
    return x;
}

int main(void)
{
    frame_of_main = __builtin_dwarf_cfa();
    CHECK(finds(frame_of_main));
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
