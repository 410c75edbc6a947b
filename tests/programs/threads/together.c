//#Variants: -O2 | -static | gcc -O2
//#Flags: -pthread
//#Movable: 500
/* Eight threads wait for each other before every call, so that all of them enter the same function,
 * which often has no copy yet, within nanoseconds. */
#include "../rounds.h"
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

#define FUNCTION(n)                                                                                \
    NOINLINE static uint64_t f##n(uint64_t x)                                                      \
    {                                                                                              \
        __asm__ volatile("" : "+r"(x));                                                            \
        return x * (2 * (n - 1000) + 1) + (x >> 3);                                                \
    }
#define TEN(n) FUNCTION(n##0) FUNCTION(n##1) FUNCTION(n##2) FUNCTION(n##3) FUNCTION(n##4) \
    FUNCTION(n##5) FUNCTION(n##6) FUNCTION(n##7) FUNCTION(n##8) FUNCTION(n##9)
#define HUNDRED(n) TEN(n##0) TEN(n##1) TEN(n##2) TEN(n##3) TEN(n##4) TEN(n##5) TEN(n##6) TEN(n##7) \
    TEN(n##8) TEN(n##9)
HUNDRED(10) HUNDRED(11) HUNDRED(12) HUNDRED(13) HUNDRED(14)
#define NAMES(n)                                                                                   \
    f##n##0, f##n##1, f##n##2, f##n##3, f##n##4, f##n##5, f##n##6, f##n##7, f##n##8, f##n##9
#define MORE_NAMES(n)                                                                              \
    NAMES(n##0), NAMES(n##1), NAMES(n##2), NAMES(n##3), NAMES(n##4), NAMES(n##5), NAMES(n##6),     \
        NAMES(n##7), NAMES(n##8), NAMES(n##9)
enum { THREADS = 8, FUNCTIONS = 500 };
static uint64_t (*const functions[FUNCTIONS])(uint64_t) = {
    MORE_NAMES(10), MORE_NAMES(11), MORE_NAMES(12), MORE_NAMES(13), MORE_NAMES(14)};
static atomic_int arrived, turn, ended;
static double end;

/* The last one to arrive lets all go, or ends it for all. */
static int meet(int my_turn)
{
    if (atomic_fetch_add(&arrived, 1) == THREADS - 1) {
        atomic_store(&arrived, 0);
        if (rounds_now_ms() > end)
            atomic_store(&ended, 1);
        atomic_store(&turn, my_turn + 1);
    } else {
        for (int spins = 0; atomic_load(&turn) == my_turn; spins++)
            if (spins > 50)
                sched_yield();
    }
    return !atomic_load(&ended);
}

struct sum {
    uint64_t value;
    int rounds;
};

static void *thread(void *argument)
{
    struct sum *sum = argument;
    for (; meet(sum->rounds); sum->rounds++)
        sum->value = functions[sum->rounds * 7 % FUNCTIONS](sum->value);
    return NULL;
}

int main(void)
{
    pthread_t threads[THREADS];
    struct sum sums[THREADS] = {0}, alone = {0};
    end = rounds_now_ms() + 200;
    for (int i = 0; i < THREADS; i++)
        CHECK(pthread_create(&threads[i], NULL, thread, &sums[i]) == 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    for (; alone.rounds < sums[0].rounds; alone.rounds++)
        alone.value = functions[alone.rounds * 7 % FUNCTIONS](alone.value);
    for (int i = 0; i < THREADS; i++)
        CHECK(sums[i].value == alone.value && sums[i].rounds == alone.rounds);
    puts("all alike");
    return 0;
}
