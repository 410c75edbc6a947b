//#Variants: -O0 | -O2 | -O3 | -O2 -fno-omit-frame-pointer | -O2 -static | -O2 -flto
//#Movable: 30
/* Long ways of calls from frame to frame, which need no check for room once one was made: on the
 * main stack down to where the plain program has used 7.5 of the usual 8 MiB, on the smallest
 * stacks of others, where nothing may get a pad, and across jumps back. */
#define _GNU_SOURCE
#include "../rounds.h"
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <ucontext.h>

enum { SMALL = 24 << 10, MARK = 0x5a };

static volatile uint64_t kept;
static jmp_buf back;
static int jumps;

NOINLINE static uint64_t bottom(uint64_t x)
{
    kept = x;
    if (jumps)
        longjmp(back, 1);
    return x * 0x9e3779b97f4a7c15u >> 9;
}

/* Each calls the next one, and every third also the one after that. */
#define WAY(n, next, other)                                                                        \
    NOINLINE static uint64_t way##n(uint64_t x)                                                    \
    {                                                                                              \
        volatile uint64_t own = x + n;                                                             \
        uint64_t below = next(own);                                                                \
        if (n % 3 == 0)                                                                            \
            below ^= other(below);                                                                 \
        return below + own;                                                                        \
    }
WAY(1, bottom, bottom) WAY(2, way1, bottom) WAY(3, way2, way1) WAY(4, way3, way2)
WAY(5, way4, way3) WAY(6, way5, way4) WAY(7, way6, way5) WAY(8, way7, way6) WAY(9, way8, way7)
WAY(10, way9, way8) WAY(11, way10, way9) WAY(12, way11, way10) WAY(13, way12, way11)
WAY(14, way13, way12) WAY(15, way14, way13) WAY(16, way15, way14) WAY(17, way16, way15)
WAY(18, way17, way16) WAY(19, way18, way17) WAY(20, way19, way18)

/* Circles: one call of each is the one that is checked, wherever it is entered. */
NOINLINE static uint64_t third(uint64_t depth);
NOINLINE static uint64_t first(uint64_t depth)
{
    volatile uint64_t own = depth;
    return depth == 0 ? way20(1) : third(depth - 1) + own;
}
NOINLINE static uint64_t second(uint64_t depth)
{
    volatile uint64_t own = depth;
    return depth == 0 ? way7(2) : first(depth - 1) ^ own;
}
NOINLINE static uint64_t third(uint64_t depth)
{
    volatile uint64_t own = depth;
    return depth == 0 ? way19(3) : depth % 2 ? second(depth - 1) + own : first(depth - 1) - own;
}

static _Alignas(64) unsigned char memory[3][2 * SMALL];
static uint64_t results[3];

static void handler(int signal) { results[0] = way20((unsigned)signal); }
static void *thread(void *argument)
{
    results[1] = way20(*(uint64_t *)argument);
    return NULL;
}
static void context(void) { results[2] = way20(5); }

/* The lower half of each belongs to nobody. */
static void check_memory(void)
{
    for (int stack = 0; stack < 3; stack++)
        for (int i = 0; i < SMALL; i++)
            CHECK(memory[stack][i] == MARK);
}

static void on_other_stacks(uint64_t argument)
{
    raise(SIGUSR1);
    pthread_attr_t attributes;
    pthread_t id;
    CHECK(pthread_attr_init(&attributes) == 0);
    CHECK(pthread_attr_setstack(&attributes, memory[1] + SMALL, SMALL) == 0);
    CHECK(pthread_create(&id, &attributes, thread, &argument) == 0);
    CHECK(pthread_join(id, NULL) == 0);
    CHECK(pthread_attr_destroy(&attributes) == 0);
    ucontext_t here, there;
    CHECK(getcontext(&there) == 0);
    there.uc_stack.ss_sp = memory[2] + SMALL;
    there.uc_stack.ss_size = SMALL;
    there.uc_link = &here;
    makecontext(&there, context, 0);
    CHECK(swapcontext(&here, &there) == 0);
}

static uint64_t jumped(void)
{
    jumps = 1;
    volatile uint64_t count = 0;
    if (setjmp(back) == 0 || ++count < 3)
        way15(count);
    jumps = 0;
    return way16(count);
}

int main(void)
{
    memset(memory, MARK, sizeof memory);
    stack_t stack = {.ss_sp = memory[0] + SMALL, .ss_size = SMALL};
    CHECK(sigaltstack(&stack, NULL) == 0);
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = handler;
    action.sa_flags = SA_ONSTACK;
    CHECK(sigaction(SIGUSR1, &action, NULL) == 0);
    struct rlimit limit;
    CHECK(getrlimit(RLIMIT_STACK, &limit) == 0);
    uint64_t bytes = limit.rlim_cur < 8 << 20 ? limit.rlim_cur / 16 * 15 : 15 << 19;
    FOR_A_WHILE
    {
        /* 32 to 64 bytes a frame. */
        SAME_EVERY_ROUND(third(bytes / 64));
        for (uint64_t depth = 0; depth < 40; depth++)
            kept = first(depth);
        on_other_stacks(11);
        SAME_EVERY_ROUND(results[0]);
        SAME_EVERY_ROUND(results[1]);
        SAME_EVERY_ROUND(results[2]);
        SAME_EVERY_ROUND(jumped());
        check_memory();
    }
    puts("done");
    return 0;
}
