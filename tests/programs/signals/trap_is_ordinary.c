//#Variants: -O2 | -static | gcc -O2
/* SIGTRAP is a signal like any other: blocked, pending, waited for, ignored, and handled. */
#define _GNU_SOURCE
#include "../rounds.h"
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <string.h>
#include <time.h>

static volatile uint64_t in_handler, handled;
static sigjmp_buf back;
#define FUNCTION(n)                                                                                \
    NOINLINE static uint64_t f##n(uint64_t x)                                                      \
    {                                                                                              \
        __asm__ volatile("" : "+r"(x));                                                            \
        return x * (2 * n + 1) + (x >> n);                                                         \
    }
FUNCTION(1) FUNCTION(2) FUNCTION(3) FUNCTION(4)
static void handler(int signal)
{
    in_handler = f1((unsigned)signal);
    handled++;
}
static void leave(int signal)
{
    in_handler = f4((unsigned)signal);
    siglongjmp(back, 1);
}
NOINLINE static uint64_t with_breakpoint(uint64_t x)
{
    uint64_t before = f2(x);
    __asm__ volatile("int3");
    return before + f3(x);
}

int main(void)
{
    sigset_t trap, pending, old;
    sigemptyset(&trap);
    sigaddset(&trap, SIGTRAP);
    struct sigaction action, now;
    FOR_A_WHILE
    {
        memset(&action, 0, sizeof action);
        action.sa_handler = handler;
        action.sa_flags = SA_RESTART | SA_NODEFER;
        sigfillset(&action.sa_mask);
        CHECK(sigaction(SIGTRAP, &action, NULL) == 0);
        CHECK(sigaction(SIGTRAP, NULL, &now) == 0 && now.sa_handler == handler);
        SAME_EVERY_ROUND(now.sa_flags);
        CHECK(sigismember(&now.sa_mask, SIGTERM));

        CHECK(sigprocmask(SIG_BLOCK, &trap, &old) == 0 && !sigismember(&old, SIGTRAP));
        handled = 0;
        raise(SIGTRAP);
        CHECK(handled == 0);
        CHECK(sigpending(&pending) == 0 && sigismember(&pending, SIGTRAP));
        SAME_EVERY_ROUND(f2(5));
        CHECK(sigtimedwait(&trap, NULL, &(struct timespec){0, 0}) == SIGTRAP);
        CHECK(sigtimedwait(&trap, NULL, &(struct timespec){0, 0}) == -1 && errno == EAGAIN);
        CHECK(sigprocmask(SIG_SETMASK, &old, &pending) == 0 && sigismember(&pending, SIGTRAP));

        SAME_EVERY_ROUND(with_breakpoint(11));
        SAME_EVERY_ROUND(in_handler);
        CHECK(handled == 1);

        action.sa_flags = SA_RESETHAND;
        CHECK(sigaction(SIGTRAP, &action, NULL) == 0);
        raise(SIGTRAP);
        CHECK(handled == 2 && sigaction(SIGTRAP, NULL, &now) == 0 && now.sa_handler == SIG_DFL);

        signal(SIGTRAP, leave);
        if (sigsetjmp(back, 1) == 0) {
            with_breakpoint(12);
            CHECK(!"reached");
        }
        SAME_EVERY_ROUND(in_handler * 1);
        signal(SIGTRAP, SIG_IGN);
        raise(SIGTRAP);
        CHECK(signal(SIGTRAP, SIG_DFL) == SIG_IGN);
    }
    puts("done");
    return 0;
}
