//#Variants: -O2 | -static
//#Epochs: 0
/* A handler that runs inside pselect or epoll_pwait, with every other signal blocked by their mask,
 * calls functions that were never called before. */
#define _GNU_SOURCE
#include "../rounds.h"
#include <errno.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/select.h>

static volatile uint64_t result;
#define FUNCTION(n)                                                                                \
    NOINLINE static uint64_t f##n(uint64_t x)                                                      \
    {                                                                                              \
        __asm__ volatile("" : "+r"(x));                                                            \
        return x * (2 * n + 1) + (x >> n);                                                         \
    }
FUNCTION(1) FUNCTION(2)
static void in_select(int signal) { result = f1((unsigned)signal); }
static void in_epoll(int signal) { result = f2((unsigned)signal); }

int main(void)
{
    sigset_t all, but_one;
    sigfillset(&all);
    signal(SIGUSR1, in_select);
    signal(SIGUSR2, in_epoll);
    sigprocmask(SIG_BLOCK, &all, NULL);
    raise(SIGUSR1);
    raise(SIGUSR2);
    but_one = all;
    sigdelset(&but_one, SIGUSR1);
    struct timespec second = {1, 0};
    CHECK(pselect(0, NULL, NULL, NULL, &second, &but_one) == -1 && errno == EINTR);
    SAME_EVERY_ROUND(result);
    but_one = all;
    sigdelset(&but_one, SIGUSR2);
    int queue = epoll_create1(0);
    struct epoll_event event;
    CHECK(epoll_pwait(queue, &event, 1, 1000, &but_one) == -1 && errno == EINTR);
    SAME_EVERY_ROUND(result * 1);
    FOR_MS(10) f1(1);
    return 0;
}
