//#Variants: -O2 | -O0 | -static | -O2 -no-pie | gcc -O2
//#Flags: -pthread
//#Movable: 40
/* Eight threads reach the entry of the same function at the same time, so that they resolve it
 * together, while epochs begin between and during their calls. */
#include "../rounds.h"
#include <pthread.h>
#include <stdatomic.h>

#define FUNCTION(n)                                                                                \
    NOINLINE static uint64_t f##n(uint64_t x)                                                      \
    {                                                                                              \
        __asm__ volatile("" : "+r"(x));                                                            \
        return x * (2 * n + 1) + (x >> 3);                                                         \
    }
#define TEN(n) FUNCTION(n##0) FUNCTION(n##1) FUNCTION(n##2) FUNCTION(n##3) FUNCTION(n##4) \
    FUNCTION(n##5) FUNCTION(n##6) FUNCTION(n##7) FUNCTION(n##8) FUNCTION(n##9)
TEN(1)
TEN(2) TEN(3) TEN(4)
#define NAMES(n)                                                                                   \
    f##n##0, f##n##1, f##n##2, f##n##3, f##n##4, f##n##5, f##n##6, f##n##7, f##n##8, f##n##9
    static uint64_t (*const functions[40])(uint64_t) = {NAMES(1), NAMES(2), NAMES(3), NAMES(4)};

enum { THREADS = 8 };
static atomic_int arrived;
static atomic_int turn;

/* A barrier that spins: it lets all threads go within nanoseconds. */
static void meet(int my_turn)
{
    if (atomic_fetch_add(&arrived, 1) == THREADS - 1) {
        atomic_store(&arrived, 0);
        atomic_store(&turn, my_turn + 1);
    } else {
        for (int spins = 0; atomic_load(&turn) == my_turn; spins++)
            if (spins > 200)
                sched_yield();
    }
}

static void *thread(void *argument)
{
    (void)argument;
    uint64_t sum = 1;
    for (int round = 0; round < 300; round++) {
        if (round % 8 == 0)
            meet(round / 8);
        for (int i = 0; i < 40; i++)
            sum = functions[(i * 7 + round) % 40](sum) + f13(sum) + f27(sum);
    }
    return (void *)(uintptr_t)sum;
}

int main(void)
{
    FOR_A_WHILE
    {
        pthread_t threads[THREADS];
        uint64_t sums[THREADS];
        atomic_store(&turn, 0);
        for (int i = 0; i < THREADS; i++)
            CHECK(pthread_create(&threads[i], NULL, thread, NULL) == 0);
        for (int i = 0; i < THREADS; i++) {
            void *result;
            pthread_join(threads[i], &result);
            sums[i] = (uintptr_t)result;
            CHECK(sums[i] == sums[0]);
        }
        SAME_EVERY_ROUND(sums[0]);
    }
    return 0;
}
