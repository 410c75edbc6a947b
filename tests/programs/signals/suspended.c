//#Variants: -O2
//#Epochs: 0
/* A handler that runs inside sigsuspend or ppoll, with every other signal blocked by their mask,
 * calls functions that were never called before. */
#define _GNU_SOURCE
#include "../rounds.h"
#include <errno.h>
#include <poll.h>
#include <signal.h>

static volatile uint64_t result;
#define FUNCTION(n)                                                                                \
    NOINLINE static uint64_t f##n(uint64_t x)                                                      \
    {                                                                                              \
        __asm__ volatile("" : "+r"(x));                                                            \
        return x * (2 * n + 1) + (x >> n);                                                         \
    }
FUNCTION(1) FUNCTION(2)
static void in_suspend(int signal) { result = f1((unsigned)signal); }
static void in_poll(int signal) { result = f2((unsigned)signal); }

int main(void)
{
    sigset_t mask;
    struct sigaction action = {.sa_handler = in_suspend};
    sigfillset(&action.sa_mask);
    sigaction(SIGUSR1, &action, NULL);
    action.sa_handler = in_poll;
    sigaction(SIGUSR2, &action, NULL);
    sigfillset(&mask);
    sigprocmask(SIG_BLOCK, &mask, NULL);
    raise(SIGUSR1);
    raise(SIGUSR2);
    sigdelset(&mask, SIGUSR1);
    CHECK(sigsuspend(&mask) == -1 && errno == EINTR);
    SAME_EVERY_ROUND(result);
    sigdelset(&mask, SIGUSR2);
    struct timespec second = {1, 0};
    CHECK(ppoll(NULL, 0, &second, &mask) == -1 && errno == EINTR);
    SAME_EVERY_ROUND(result * 1);
    FOR_MS(10) f1(1);
    return 0;
}
