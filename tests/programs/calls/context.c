//#Variants: -O2 | -static
/* Stacks that the C library made for makecontext: frames stay suspended over many epochs. */
#include "../rounds.h"
#include <ucontext.h>

enum { TASKS = 4 };
static ucontext_t back, contexts[TASKS];
static char stacks[TASKS][64 << 10];
static uint64_t produced[TASKS];

NOINLINE static uint64_t mix(uint64_t x) { return (x ^ x >> 7) * 0x9e3779b97f4a7c15u; }

static void produce(int task)
{
    for (uint64_t i = 0;; i++) {
        produced[task] = mix(i * (unsigned)task + 1);
        swapcontext(&contexts[task], &back);
    }
}

int main(void)
{
    for (int i = 0; i < TASKS; i++) {
        getcontext(&contexts[i]);
        contexts[i].uc_stack.ss_sp = stacks[i];
        contexts[i].uc_stack.ss_size = sizeof stacks[i];
        makecontext(&contexts[i], (void (*)(void))produce, 1, i);
    }
    uint64_t round = 0;
    FOR_A_WHILE
    {
        for (int i = 0; i < TASKS; i++) {
            swapcontext(&back, &contexts[i]);
            CHECK(produced[i] == mix(round * (unsigned)i + 1));
        }
        round++;
    }
    puts("done");
    return 0;
}
