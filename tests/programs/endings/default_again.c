//#Variants: -O2 | -static
//#Signal: 15
//#Epochs: 0
/* A handler that cleans up, sets the default action again and lets the signal end the program after
 * all. What the program is told of its actions is what it set. */
#include "../rounds.h"
#include <signal.h>
#include <string.h>

NOINLINE static uint64_t work(uint64_t x)
{
    __asm__ volatile("" : "+r"(x));
    return x * 6364136223846793005u + 11;
}

static void clean_up(int signal_)
{
    struct sigaction action, told;
    memset(&action, 0, sizeof action);
    action.sa_handler = SIG_DFL;
    action.sa_flags = SA_NODEFER;
    sigaddset(&action.sa_mask, SIGUSR1);
    CHECK(sigaction(SIGUSR2, &action, NULL) == 0);
    CHECK(sigaction(SIGUSR2, NULL, &told) == 0);
    CHECK(told.sa_handler == SIG_DFL && told.sa_flags & SA_NODEFER);
    CHECK(sigismember(&told.sa_mask, SIGUSR1) && !sigismember(&told.sa_mask, SIGHUP));
    CHECK(signal(SIGUSR2, SIG_DFL) == SIG_DFL);
    CHECK(signal(signal_, SIG_DFL) == clean_up);
    CHECK(signal(signal_, SIG_DFL) == SIG_DFL);
    raise(signal_);
}

int main(void)
{
    CHECK(signal(SIGTERM, clean_up) == SIG_DFL);
    FOR_MS(15) SAME_EVERY_ROUND(work(3));
    fflush(stdout);
    raise(SIGTERM);
    puts("survived");
    return 0;
}
