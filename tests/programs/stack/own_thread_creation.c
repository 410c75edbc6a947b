//#Flags: -pthread
/* A program that defines pthread_create itself keeps its own. */
#define _GNU_SOURCE
#include "../rounds.h"
#include <dlfcn.h>
#include <pthread.h>

typedef void *(*start_routine)(void *);
static int created;

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, start_routine start,
                   void *argument)
{
    int (*next)(pthread_t *, const pthread_attr_t *, start_routine, void *) =
        (int (*)(pthread_t *, const pthread_attr_t *, start_routine, void *))dlsym(
            RTLD_NEXT, "pthread_create");
    created++;
    return next(thread, attributes, start, argument);
}

NOINLINE static uint64_t down(uint64_t depth)
{
    volatile uint64_t own = depth;
    return depth == 0 ? 0 : down(depth - 1) + own;
}
static void *use(void *unused) { return (void *)(down(50000) + (uint64_t)unused); }

int main(void)
{
    FOR_A_WHILE
    {
        pthread_t thread;
        void *result;
        int before = created;
        CHECK(pthread_create(&thread, NULL, use, NULL) == 0 && created == before + 1);
        CHECK(pthread_join(thread, &result) == 0);
        SAME_EVERY_ROUND((uint64_t)result);
    }
    return 0;
}
