//#Variants: -O2 | -O0 | -static | -O2 -no-pie | gcc -O2
//#Movable: 8
/* SIGALRM and SIGPROF every millisecond, some with all signals blocked in the handler; handlers
 * call functions for the first time, and interrupt functions that have just been copied. */
#include "../rounds.h"
#include <errno.h>
#include <signal.h>
#include <sys/time.h>

static volatile uint64_t alarms, profs, from_handler;
#define FUNCTION(n)                                                                                \
    NOINLINE static uint64_t f##n(uint64_t x)                                                      \
    {                                                                                              \
        __asm__ volatile("" : "+r"(x));                                                            \
        return x * (2 * n + 1) + (x >> n);                                                         \
    }
FUNCTION(1) FUNCTION(2) FUNCTION(3) FUNCTION(4) FUNCTION(5) FUNCTION(6)
NOINLINE static uint64_t all(uint64_t x) { return f1(f2(f3(f4(f5(f6(x)))))); }

static void on_alarm(int signal)
{
    errno = 77;
    alarms += signal == SIGALRM;
    from_handler = all(3);
}
static void on_prof(int signal, siginfo_t *info, void *context)
{
    profs += signal == SIGPROF && info->si_signo == SIGPROF && context != NULL;
    from_handler = all(3) ^ f2(alarms) ^ f2(alarms);
}

int main(void)
{
    struct sigaction action = {.sa_handler = on_alarm}, old;
    sigfillset(&action.sa_mask);
    CHECK(sigaction(SIGALRM, &action, NULL) == 0);
    struct sigaction with_info = {.sa_sigaction = on_prof, .sa_flags = SA_SIGINFO | SA_RESTART};
    sigemptyset(&with_info.sa_mask);
    CHECK(sigaction(SIGPROF, &with_info, NULL) == 0);
    CHECK(sigaction(SIGPROF, NULL, &old) == 0 && old.sa_sigaction == on_prof);
    CHECK((old.sa_flags & (SA_SIGINFO | SA_RESTART)) == (SA_SIGINFO | SA_RESTART));
    struct itimerval every = {{0, 1000}, {0, 1000}};
    CHECK(setitimer(ITIMER_REAL, &every, NULL) == 0);
    CHECK(setitimer(ITIMER_PROF, &every, NULL) == 0);
    FOR_A_WHILE
    {
        uint64_t x = 1;
        for (int i = 0; i < 1000; i++)
            x = all(x + (unsigned)i);
        SAME_EVERY_ROUND(x);
    }
    while (profs < 3 || alarms < 5)
        all(1);
    CHECK(from_handler == all(3));
    puts("handlers ran");
    return 0;
}
