//#Variants: -O2 | -static
//#Flags: -pthread
/* Sixteen threads, the maintenance of layouts among them, share one core: whoever waits for
 * somebody else by spinning would wait for a whole time slice. */
#define _GNU_SOURCE
#include "../rounds.h"
#include <pthread.h>
#include <sched.h>

enum { THREADS = 16 };

NOINLINE static uint64_t leaf(uint64_t x)
{
    __asm__ volatile("" : "+r"(x));
    return x ^ (x << 13) ^ 0x9e3779b97f4a7c15u;
}
NOINLINE static uint64_t middle(uint64_t x) { return leaf(x) + leaf(x + 1); }
NOINLINE static uint64_t outer(uint64_t x) { return middle(x) * 3 + middle(x ^ 5); }

static void *thread(void *argument)
{
    uint64_t number = (uint64_t)(uintptr_t)argument, expected = outer(number);
    FOR_A_WHILE CHECK(outer(number) == expected);
    return NULL;
}

int main(void)
{
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(sched_getcpu(), &one);
    CHECK(sched_setaffinity(0, sizeof one, &one) == 0);
    pthread_t threads[THREADS];
    for (uintptr_t i = 0; i < THREADS; i++)
        CHECK(pthread_create(&threads[i], NULL, thread, (void *)i) == 0);
    FOR_A_WHILE SAME_EVERY_ROUND(outer(77));
    for (int i = 0; i < THREADS; i++)
        CHECK(pthread_join(threads[i], NULL) == 0);
    puts("done");
    return 0;
}
