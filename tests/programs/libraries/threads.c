//#Variants: -O2 | gcc -O2
//#Flags: -pthread -ldl -rdynamic
//#Library: threads_a.c
//#Plugin: opened_inner.c
//#Attached: 2
/* Threads stay in functions of a library across epochs, sleep there, and start from there, while
 * others open and close another library. */
#define _GNU_SOURCE
#include "../rounds.h"
#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>

uint64_t work_in_a(uint64_t x);
uint64_t sleep_in_a(uint64_t x, uint64_t (*back)(uint64_t));
pthread_t start_in_a(uint64_t x);

static atomic_int stop;
NOINLINE void say(const char *word)
{
    __asm__ volatile("" : : "r"(word));
}
NOINLINE static uint64_t back(uint64_t x)
{
    return work_in_a(x) + 1;
}
static void *worker(void *argument)
{
    uint64_t x = (uint64_t)(uintptr_t)argument, expected = work_in_a(x), slow = sleep_in_a(x, back);
    while (!atomic_load(&stop)) {
        for (int i = 0; i < 50; i++)
            CHECK(work_in_a(x) == expected);
        CHECK(sleep_in_a(x, back) == slow);
    }
    return NULL;
}
static void *opener(void *argument)
{
    int (*call)(int (*)(int), int);
    while (!atomic_load(&stop)) {
        void *library = dlopen("opened_inner.so", RTLD_NOW);
        CHECK(library != NULL);
        call = (int (*)(int (*)(int), int))dlsym(library, "inner");
        CHECK(call(abs, 1) == 7 && call(abs, 5) == 15);
        dlclose(library);
    }
    return argument;
}

int main(void)
{
    pthread_t threads[6];
    for (uintptr_t i = 0; i < 6; i++)
        CHECK(pthread_create(&threads[i], NULL, i < 4 ? worker : opener, (void *)i) == 0);
    FOR_A_WHILE
    {
        void *result;
        CHECK(pthread_join(start_in_a(5), &result) == 0);
        SAME_EVERY_ROUND((uintptr_t)result);
    }
    atomic_store(&stop, 1);
    for (int i = 0; i < 6; i++)
        pthread_join(threads[i], NULL);
    puts("done");
    return 0;
}
