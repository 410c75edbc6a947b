//#Variants: -O2 | -static
//#Flags: -pthread
//#Movable: 11
/* libc calls back from threads of its own making, which run with signals blocked: timers that
 * expire in a thread, while other functions run for the first time on the main one. */
#include "../rounds.h"
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>

#define FUNCTION(n)                                                                                \
    NOINLINE static uint64_t f##n(uint64_t x)                                                      \
    {                                                                                              \
        __asm__ volatile("" : "+r"(x));                                                            \
        return x * (2 * n + 1) + (x >> 3);                                                         \
    }
FUNCTION(1) FUNCTION(2) FUNCTION(3) FUNCTION(4) FUNCTION(5)
FUNCTION(6) FUNCTION(7) FUNCTION(8) FUNCTION(9)
static sem_t expired;
static _Atomic uint64_t result;
static void on_timer(union sigval value)
{
    atomic_store(&result, f1(f2(f3(f4(f5((unsigned)value.sival_int))))));
    sem_post(&expired);
}

int main(void)
{
    struct sigevent event;
    memset(&event, 0, sizeof event);
    event.sigev_notify = SIGEV_THREAD;
    event.sigev_notify_function = on_timer;
    event.sigev_value.sival_int = 7;
    sem_init(&expired, 0, 0);
    timer_t timer;
    CHECK(timer_create(CLOCK_MONOTONIC, &event, &timer) == 0);
    FOR_A_WHILE
    {
        struct itimerspec soon = {{0, 0}, {0, 200000}};
        CHECK(timer_settime(timer, 0, &soon, NULL) == 0);
        SAME_EVERY_ROUND(f6(f7(f8(f9(3)))));
        while (sem_wait(&expired) != 0)
            continue;
        SAME_EVERY_ROUND(atomic_load(&result));
    }
    CHECK(timer_delete(timer) == 0);
    puts("done");
    return 0;
}
