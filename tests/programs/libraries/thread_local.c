//#Variants: -O2 | -O0 | gcc -O2 | gcc -O2 -mtls-dialect=gnu2
//#Flags: -pthread -ldl
//#Library: thread_local_a.c
//#Plugin: thread_local_b.c
//#Attached: 2
/* Thread-local variables of libraries, in every model that a library can use. */
#define _GNU_SOURCE
#include "../rounds.h"
#include <dlfcn.h>
#include <pthread.h>

extern __thread int shared_counter;
int count_general(int), count_local(int), count_initial(int);
static int (*count_opened)(int);

static uint64_t counted(int steps)
{
    uint64_t sum = 0;
    shared_counter = 0;
    for (int i = 0; i < steps; i++)
        sum = sum * 3 +
              (uint64_t)(count_general(i) + count_local(i) + count_initial(i) + count_opened(i));
    return sum + (uint64_t)shared_counter;
}
static void *thread(void *argument)
{
    return (void *)(uintptr_t)counted((int)(uintptr_t)argument);
}

int main(void)
{
    void *library = dlopen("thread_local_b.so", RTLD_NOW);
    CHECK(library != NULL);
    count_opened = (int (*)(int))dlsym(library, "count_opened");
    FOR_A_WHILE
    {
        pthread_t ids[3];
        void *results[3];
        for (int i = 0; i < 3; i++)
            CHECK(pthread_create(&ids[i], NULL, thread, (void *)20) == 0);
        for (int i = 0; i < 3; i++)
            pthread_join(ids[i], &results[i]);
        CHECK(results[0] == results[1] && results[1] == results[2]);
        SAME_EVERY_ROUND((uintptr_t)results[0]);
    }
    return 0;
}
