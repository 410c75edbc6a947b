//#Variants: -O2 | -O0
//#Flags: -pthread
/* Stacks that are arrays in a frame: for signal handlers, contexts and clones. They are as small as
 * the plain program needs them, so there is no place for pads. */
#define _GNU_SOURCE
#include "../rounds.h"
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <ucontext.h>

enum { BYTES = 64 << 10, DEPTH = 300 };

NOINLINE static uint64_t down(uint64_t depth)
{
    volatile uint64_t own = depth;
    return depth == 0 ? 0 : down(depth - 1) + own;
}

/* Another stack between two fields that nobody may overwrite. */
struct inner {
    char below[4096];
    char stack[BYTES];
    char above[4096];
};
static void fill(struct inner *inner)
{
    memset(inner->below, 1, sizeof inner->below);
    memset(inner->above, 2, sizeof inner->above);
}
static int is_whole(const struct inner *inner)
{
    for (size_t i = 0; i < sizeof inner->below; i++)
        if (inner->below[i] != 1 || inner->above[i] != 2)
            return 0;
    return 1;
}

static _Thread_local uint64_t sum;
static void on_signal(int signal) { sum += down(DEPTH) + (unsigned)signal; }

NOINLINE static uint64_t handler(void)
{
    struct inner inner;
    fill(&inner);
    stack_t new = {.ss_sp = inner.stack, .ss_size = BYTES}, old, now;
    CHECK(sigaltstack(&new, &old) == 0);
    CHECK(sigaltstack(NULL, &now) == 0 && now.ss_sp == inner.stack && now.ss_size == BYTES);
    sum = 0;
    for (int i = 0; i < 20; i++)
        pthread_kill(pthread_self(), SIGUSR1);
    CHECK(sigaltstack(&old, NULL) == 0);
    stack_t small = {.ss_sp = inner.stack, .ss_size = 1};
    CHECK(sigaltstack(&small, NULL) == -1);
    CHECK(is_whole(&inner));
    return sum + down(1000);
}

static _Thread_local ucontext_t back, there;
static void in_context(int a, int b, int c, int d, int e, int f, int g)
{
    sum = down(DEPTH) + (unsigned)(a + 2 * b + 3 * c + 4 * d + 5 * e + 6 * f + 7 * g);
    swapcontext(&there, &back);
    sum += down(DEPTH);
}
NOINLINE static uint64_t context(void)
{
    struct inner inner;
    fill(&inner);
    CHECK(getcontext(&there) == 0);
    there.uc_stack.ss_sp = inner.stack;
    there.uc_stack.ss_size = BYTES;
    there.uc_link = &back;
    makecontext(&there, (void (*)(void))in_context, 7, 1, 2, 3, 4, 5, 6, 7);
    CHECK(swapcontext(&back, &there) == 0);
    uint64_t between = down(1000);
    CHECK(swapcontext(&back, &there) == 0);
    CHECK(is_whole(&inner));
    return sum + between;
}

static int in_clone(void *result)
{
    *(uint64_t *)result = down(DEPTH);
    return 3;
}
NOINLINE static uint64_t cloned(void)
{
    struct inner inner;
    fill(&inner);
    uint64_t result = 0;
    int status,
        child = clone(in_clone, inner.stack + BYTES, CLONE_VM | CLONE_VFORK | SIGCHLD, &result);
    CHECK(child > 0 && waitpid(child, &status, 0) == child && WEXITSTATUS(status) == 3);
    CHECK(is_whole(&inner));
    return result;
}

static void *all(void *unused)
{
    uint64_t total = handler();
    total = total * 31 + context();
    return (void *)(total * 31 + cloned() + (uint64_t)unused);
}

int main(void)
{
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_ONSTACK};
    sigemptyset(&action.sa_mask);
    CHECK(sigaction(SIGUSR1, &action, NULL) == 0);
    FOR_A_WHILE
    {
        SAME_EVERY_ROUND((uint64_t)all(NULL));
        pthread_t thread;
        void *result;
        CHECK(pthread_create(&thread, NULL, all, NULL) == 0);
        CHECK(pthread_join(thread, &result) == 0);
        SAME_EVERY_ROUND((uint64_t)result);
    }
    return 0;
}
