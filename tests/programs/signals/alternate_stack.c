//#Variants: -O2 | -static | gcc -O2
/* A handler on an alternate stack, also after the main stack has overflowed. */
#include "../rounds.h"
#include <setjmp.h>
#include <signal.h>
#include <sys/resource.h>

static char stack[64 << 10];
static sigjmp_buf back;
static volatile uint64_t overflows;
NOINLINE static uint64_t work(uint64_t x)
{
    __asm__ volatile("" : "+r"(x));
    return x * 6364136223846793005u + 11;
}
static void on_segv(int signal)
{
    char here;
    CHECK(signal == SIGSEGV && &here >= stack && &here < stack + sizeof stack);
    overflows++;
    SAME_EVERY_ROUND(work(8));
    siglongjmp(back, 1);
}
NOINLINE static uint64_t overflow(uint64_t depth)
{
    volatile char space[3000];
    space[depth % 3000] = 1;
    return overflow(depth + 1) + (unsigned)space[(depth + 1) % 3000];
}

int main(void)
{
    struct rlimit limit = {256 << 10, RLIM_INFINITY};
    CHECK(setrlimit(RLIMIT_STACK, &limit) == 0);
    stack_t alternate = {.ss_sp = stack, .ss_size = sizeof stack}, now;
    CHECK(sigaltstack(&alternate, NULL) == 0);
    struct sigaction action = {.sa_handler = on_segv, .sa_flags = SA_ONSTACK};
    sigemptyset(&action.sa_mask);
    CHECK(sigaction(SIGSEGV, &action, NULL) == 0);
    volatile uint64_t rounds = 0;
    volatile double end = rounds_now_ms() + 40;
    while (rounds_now_ms() < end) {
        rounds++;
        if (sigsetjmp(back, 1) == 0)
            overflow(0);
        CHECK(sigaltstack(NULL, &now) == 0 && now.ss_sp == stack);
    }
    CHECK(rounds == overflows);
    puts("returned from every overflow");
    return 0;
}
