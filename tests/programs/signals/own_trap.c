//#Variants: -O2 | -O0 | -static | -O2 -no-pie
/* The program has a SIGTRAP handler of its own, and gets all of its traps and no others. */
#include "../rounds.h"
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static volatile int raised, traps;
NOINLINE static uint64_t work(uint64_t x)
{
    __asm__ volatile("" : "+r"(x));
    return x * 6364136223846793005u + 11;
}
NOINLINE static uint64_t in_handler(uint64_t x) { return work(x) + 5; }
static void on_trap(int signal, siginfo_t *info, void *context)
{
    CHECK(signal == SIGTRAP && context != NULL);
    CHECK(in_handler(4) == work(4) + 5);
    if (info->si_code == SI_TKILL || info->si_code == SI_USER)
        raised++;
    else
        traps++;
}
static void simple(int signal) { raised += 100 * (signal == SIGTRAP); }

int main(void)
{
    struct sigaction action, old;
    memset(&action, 0, sizeof action);
    action.sa_sigaction = on_trap;
    action.sa_flags = SA_SIGINFO;
    CHECK(sigaction(SIGTRAP, &action, &old) == 0);
    CHECK(old.sa_handler == SIG_DFL);
    int rounds = 0;
    FOR_A_WHILE
    {
        work(1);
        raise(SIGTRAP);
        kill(getpid(), SIGTRAP);
        __builtin_debugtrap();
        rounds++;
    }
    CHECK(raised == 2 * rounds && traps == rounds);
    CHECK(sigaction(SIGTRAP, NULL, &old) == 0 && old.sa_sigaction == on_trap);
    CHECK(old.sa_flags & SA_SIGINFO);
    raised = 0;
    CHECK(signal(SIGTRAP, simple) == (void (*)(int))on_trap);
    raise(SIGTRAP);
    CHECK(raised == 100);
    signal(SIGTRAP, SIG_IGN);
    raise(SIGTRAP);
    CHECK(signal(SIGTRAP, SIG_DFL) == SIG_IGN);
    CHECK(raised == 100);
    puts("told apart");
    return 0;
}
