//#Variants: -O2 | -static | gcc -O2
//#Flags: -pthread
//#Movable: 39
/* Signals are blocked in the ways that go around sigprocmask, and in each of them functions are
 * called for the first time. */
#define _GNU_SOURCE
#include "../rounds.h"
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#define FUNCTION(n)                                                                                \
    NOINLINE static uint64_t f##n(uint64_t x)                                                      \
    {                                                                                              \
        __asm__ volatile("" : "+r"(x));                                                            \
        return x * (2 * n + 1) + (x >> 3);                                                         \
    }
#define FIVE(n) FUNCTION(n##0) FUNCTION(n##1) FUNCTION(n##2) FUNCTION(n##3) FUNCTION(n##4)
FIVE(1) FIVE(2) FIVE(3) FIVE(4) FIVE(5) FIVE(6) FIVE(7)
#define CALL(n) f##n##0(f##n##1(f##n##2(f##n##3(f##n##4(n)))))

static int is_blocked(int signal)
{
    sigset_t now;
    pthread_sigmask(SIG_BLOCK, NULL, &now);
    return sigismember(&now, signal);
}

static volatile uint64_t in_handler;
static volatile int handled;
static void handler(int signal)
{
    CHECK(is_blocked(SIGTRAP) && is_blocked(SIGTERM));
    in_handler = CALL(1);
    handled = signal;
}

static void *thread(void *argument)
{
    CHECK(is_blocked(SIGTRAP) && is_blocked(SIGUSR1));
    for (int i = 0; i < 100; i++)
        CHECK(CALL(2) == CALL(2));
    return argument;
}

static ucontext_t back, side;
static volatile uint64_t in_context;
static void context(void)
{
    CHECK(is_blocked(SIGTRAP));
    in_context = CALL(3);
}

int main(void)
{
    static char stack[64 << 10];
    sigset_t all, none, now;
    sigfillset(&all);
    sigemptyset(&none);
    struct sigaction action = {.sa_handler = handler, .sa_mask = all};
    CHECK(sigaction(SIGUSR1, &action, &action) == 0 && action.sa_handler == SIG_DFL);
    FOR_A_WHILE
    {
        uint64_t raw_mask = ~0ull;
        CHECK(syscall(SYS_rt_sigprocmask, SIG_SETMASK, &raw_mask, NULL, 8) == 0);
        SAME_EVERY_ROUND(CALL(4));
        pthread_sigmask(SIG_SETMASK, &none, &now);
        CHECK(sigismember(&now, SIGTRAP) && sigismember(&now, SIGSEGV));

        raise(SIGUSR1);
        CHECK(handled == SIGUSR1);
        SAME_EVERY_ROUND(in_handler);
        handled = 0;

        CHECK(getcontext(&side) == 0);
        side.uc_stack.ss_sp = stack;
        side.uc_stack.ss_size = sizeof stack;
        side.uc_link = &back;
        side.uc_sigmask = all;
        makecontext(&side, context, 0);
        CHECK(swapcontext(&back, &side) == 0);
        SAME_EVERY_ROUND(in_context);
        CHECK(!is_blocked(SIGTRAP));

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
        CHECK(sighold(SIGTRAP) == 0 && is_blocked(SIGTRAP));
        SAME_EVERY_ROUND(CALL(5));
        CHECK(sigset(SIGTRAP, SIG_HOLD) == SIG_HOLD && is_blocked(SIGTRAP));
        SAME_EVERY_ROUND(CALL(6));
        CHECK(sigrelse(SIGTRAP) == 0 && !is_blocked(SIGTRAP));
#pragma GCC diagnostic pop

        pthread_attr_t attributes;
        pthread_t id;
        pthread_attr_init(&attributes);
        CHECK(pthread_attr_setsigmask_np(&attributes, &all) == 0);
        CHECK(pthread_create(&id, &attributes, thread, NULL) == 0);
        CHECK(pthread_join(id, NULL) == 0);
        pthread_attr_destroy(&attributes);

        sigset_t but_one = all;
        sigdelset(&but_one, SIGUSR1);
        pthread_sigmask(SIG_SETMASK, &all, NULL);
        raise(SIGUSR1);
        int queue = epoll_create1(0);
        struct epoll_event event;
        struct timespec second = {1, 0};
        CHECK(epoll_pwait2(queue, &event, 1, &second, &but_one) == -1);
        CHECK(errno == EINTR || errno == ENOSYS);
        if (errno == EINTR)
            CHECK(handled == SIGUSR1);
        SAME_EVERY_ROUND(CALL(7));
        close(queue);
        pthread_sigmask(SIG_SETMASK, &none, NULL);
        CHECK(handled == SIGUSR1);
        handled = 0;
    }
    puts("done");
    return 0;
}
