//#Variants: -O2 | -static
//#Movable: 4
/* A handler on the smallest alternate stack there can be calls functions for the first time: they
 * take less than 2 KiB beyond the kernel's own frame. */
#include "../rounds.h"
#include <signal.h>
#include <string.h>
#include <sys/auxv.h>
#ifndef AT_MINSIGSTKSZ
#define AT_MINSIGSTKSZ 51
#endif

enum { BELOW = 8192, BEYOND_FRAME = 2048, MARK = 0x5a };
static _Alignas(64) unsigned char memory[64 << 10];
static volatile uint64_t in_handler;
#define FUNCTION(n)                                                                                \
    NOINLINE static uint64_t f##n(uint64_t x)                                                      \
    {                                                                                              \
        __asm__ volatile("" : "+r"(x));                                                            \
        return x * (2 * n + 1) + (x >> n);                                                         \
    }
FUNCTION(1) FUNCTION(2)
static void handler(int signal) { in_handler = f1(f2((unsigned)signal)); }

int main(void)
{
    size_t smallest = getauxval(AT_MINSIGSTKSZ);
    if (smallest == 0)
        smallest = MINSIGSTKSZ;
    memset(memory, MARK, sizeof memory);
    stack_t stack = {.ss_sp = memory + BELOW, .ss_size = smallest + BEYOND_FRAME};
    CHECK(BELOW + stack.ss_size <= sizeof memory && sigaltstack(&stack, NULL) == 0);
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = handler;
    action.sa_flags = SA_ONSTACK;
    CHECK(sigaction(SIGUSR1, &action, NULL) == 0);
    FOR_A_WHILE
    {
        raise(SIGUSR1);
        SAME_EVERY_ROUND(in_handler);
        for (int i = 0; i < BELOW; i++)
            CHECK(memory[i] == MARK);
    }
    puts("the stack sufficed");
    return 0;
}
