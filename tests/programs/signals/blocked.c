//#Variants: -O2 | -static | -O2 -no-pie
//#Flags: -pthread
/* All signals are blocked, by the usual calls, while functions are called for the first time. */
#include "../rounds.h"
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#define FUNCTION(n)                                                                                \
    NOINLINE static uint64_t f##n(uint64_t x)                                                      \
    {                                                                                              \
        __asm__ volatile("" : "+r"(x));                                                            \
        return x * (2 * n + 1) + (x >> n);                                                         \
    }
FUNCTION(1) FUNCTION(2) FUNCTION(3) FUNCTION(4)
static volatile int handled;
static void handler(int signal) { handled += signal; }
static void *thread(void *argument)
{
    sigset_t all, now;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, NULL);
    pthread_sigmask(SIG_BLOCK, NULL, &now);
    CHECK(sigismember(&now, SIGUSR1) && sigismember(&now, SIGTERM));
    FOR_MS(20) SAME_EVERY_ROUND(f3(5));
    return argument;
}

int main(void)
{
    sigset_t all, old, pending;
    sigfillset(&all);
    signal(SIGUSR1, handler);
    CHECK(sigprocmask(SIG_BLOCK, &all, &old) == 0);
    CHECK(!sigismember(&old, SIGUSR1));
    raise(SIGUSR1);
    FOR_MS(20) SAME_EVERY_ROUND(f1(5));
    CHECK(handled == 0);
    CHECK(sigpending(&pending) == 0 && sigismember(&pending, SIGUSR1));
    int taken;
    sigset_t one;
    sigemptyset(&one);
    sigaddset(&one, SIGUSR1);
    CHECK(sigwait(&one, &taken) == 0 && taken == SIGUSR1);
    raise(SIGUSR1);
    CHECK(sigprocmask(SIG_SETMASK, &old, NULL) == 0);
    CHECK(handled == SIGUSR1);
    FOR_MS(10) SAME_EVERY_ROUND(f2(5));
    pthread_t id;
    CHECK(pthread_create(&id, NULL, thread, NULL) == 0);
    pthread_join(id, NULL);
    /* The mask of a whole wait: a handler runs inside. */
    CHECK(sigprocmask(SIG_BLOCK, &one, NULL) == 0);
    raise(SIGUSR1);
    sigset_t all_but_one = all;
    sigdelset(&all_but_one, SIGUSR1);
    sigsuspend(&all_but_one);
    CHECK(handled == 2 * SIGUSR1);
    SAME_EVERY_ROUND(f4(1));
    puts("done");
    return 0;
}
