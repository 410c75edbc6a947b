//#Variants: -O2 | -static
//#Flags: -pthread
//#Epochs: 0
/* A process forks on a stack on which frames get no pads, inside of functions that are called there
 * and others that never were, while a thread calls the same functions on a stack of that kind for
 * the first time in a layout. The child returns through all of them and calls the rest. */
#include "../rounds.h"
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MAIN = 0x5a5a, CHILD = 5 };

static atomic_int stop;
static volatile sig_atomic_t is_child;
static char stacks[2][64 << 10];

NOINLINE static uint64_t leaf(uint64_t x)
{
    __asm__ volatile("" : "+r"(x));
    return x * 6364136223846793005u + 11;
}

/* A frame with registers to give back, and a call on both sides of the inner one. */
#define LEVEL(name, inner)                                                                         \
    NOINLINE static uint64_t name(uint64_t x, int forks)                                           \
    {                                                                                              \
        uint64_t before = leaf(x + sizeof #name);                                                  \
        uint64_t within = inner(before, forks);                                                    \
        return leaf(before ^ within) + x;                                                          \
    }

NOINLINE static uint64_t bottom(uint64_t x, int forks)
{
    if (forks) {
        pid_t child = fork();
        CHECK(child >= 0);
        is_child = child == 0;
        if (child > 0) {
            int status;
            CHECK(waitpid(child, &status, 0) == child);
            CHECK(WIFEXITED(status) && WEXITSTATUS(status) == CHILD);
        }
    }
    return leaf(x);
}
LEVEL(first, bottom)
LEVEL(second, first)
LEVEL(third, second)
LEVEL(fourth, third)
LEVEL(other_first, bottom)
LEVEL(other_second, other_first)
LEVEL(other_third, other_second)

static uint64_t expected[2];
static void check_all(int forks)
{
    CHECK(fourth(MAIN, forks) == expected[0]);
    /* By the child alone, and by the thread. */
    if (is_child || !forks)
        CHECK(other_third(MAIN, 0) == expected[1]);
}
static void on_fork(int signal)
{
    (void)signal;
    check_all(1);
}
static void on_work(int signal)
{
    (void)signal;
    check_all(0);
}

static void use_stack(int which)
{
    stack_t alternate = {.ss_sp = stacks[which], .ss_size = sizeof stacks[which]};
    CHECK(sigaltstack(&alternate, NULL) == 0);
}
static void *thread(void *argument)
{
    (void)argument;
    use_stack(1);
    while (!atomic_load(&stop))
        CHECK(pthread_kill(pthread_self(), SIGUSR2) == 0);
    return NULL;
}

int main(void)
{
    expected[0] = fourth(MAIN, 0);
    expected[1] = other_third(MAIN, 0);
    struct sigaction action = {.sa_handler = on_fork, .sa_flags = SA_ONSTACK};
    CHECK(sigaction(SIGUSR1, &action, NULL) == 0);
    action.sa_handler = on_work;
    CHECK(sigaction(SIGUSR2, &action, NULL) == 0);
    use_stack(0);
    pthread_t other;
    CHECK(pthread_create(&other, NULL, thread, NULL) == 0);
    for (int i = 0; i < 20; i++) {
        CHECK(pthread_kill(pthread_self(), SIGUSR1) == 0);
        if (is_child) {
            /* Several layouts, on either stack. */
            FOR_MS(4) {
                CHECK(fourth(MAIN, 0) == expected[0]);
                CHECK(raise(SIGUSR2) == 0);
            }
            _exit(CHILD);
        }
        SAME_EVERY_ROUND(other_third(7, 0));
    }
    atomic_store(&stop, 1);
    CHECK(pthread_join(other, NULL) == 0);
    puts("done");
    return 0;
}
