//#Flags: -pthread
/* Many threads are created before the first of them runs, and each by a thread of another number.
 * */
#include "../rounds.h"
#include <pthread.h>

enum { THREADS = 300, TREE = 6 };

NOINLINE static uint64_t down(uint64_t depth)
{
    volatile uint64_t own = depth;
    return depth == 0 ? 0 : down(depth - 1) + own;
}
static void *count(void *depth) { return (void *)down((uint64_t)depth); }

static void *branch(void *depth)
{
    if (depth == NULL)
        return (void *)1;
    pthread_t left, right;
    void *results[2];
    void *next = (void *)((uint64_t)depth - 1);
    CHECK(pthread_create(&left, NULL, branch, next) == 0);
    CHECK(pthread_create(&right, NULL, branch, next) == 0);
    CHECK(pthread_join(left, &results[0]) == 0 && pthread_join(right, &results[1]) == 0);
    return (void *)((uint64_t)results[0] + (uint64_t)results[1]);
}

int main(void)
{
    FOR_A_WHILE
    {
        static pthread_t threads[THREADS];
        uint64_t sum = 0;
        for (uint64_t i = 0; i < THREADS; i++)
            CHECK(pthread_create(&threads[i], NULL, count, (void *)i) == 0);
        for (uint64_t i = 0; i < THREADS; i++) {
            void *result;
            CHECK(pthread_join(threads[i], &result) == 0);
            sum += (uint64_t)result;
        }
        SAME_EVERY_ROUND(sum);
        SAME_EVERY_ROUND((uint64_t)branch((void *)TREE));
    }
    return 0;
}
