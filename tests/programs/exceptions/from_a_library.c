//#Variants: -O2 | -O0 | gcc -O2
//#Flags: -ldl -pthread
//#Plugin: from_a_library_throws.cpp -lstdc++
//#Epochs: 0
/* A C program without an unwinder of its own opens a library in C++, and with it come the C++
 * library and exceptions, which pass the program's frames. */
#define _GNU_SOURCE
#include "../rounds.h"
#include <dlfcn.h>
#include <pthread.h>

static int (*guarded)(int (*)(int), int);
static void (*throws)(int);

NOINLINE static uint64_t work(uint64_t x)
{
    __asm__ volatile("" : "+r"(x));
    return x * 3 + 1;
}
NOINLINE static int throws_below(int depth)
{
    if (depth == 0)
        throws(7);
    return throws_below(depth - 1) + (int)work(1);
}
static void *thread(void *argument)
{
    CHECK(guarded(throws_below, 3) == -7);
    work(3);
    pthread_exit(argument);
}

int main(void)
{
    FOR_MS(10)
    SAME_EVERY_ROUND(work(4));
    void *library = dlopen("from_a_library_throws.so", RTLD_NOW | RTLD_LOCAL);
    CHECK(library != NULL);
    *(void **)&guarded = dlsym(library, "guarded");
    *(void **)&throws = dlsym(library, "throws");
    CHECK(guarded && throws);
    FOR_MS(30)
    {
        pthread_t id;
        void *result;
        SAME_EVERY_ROUND(guarded(throws_below, 10));
        CHECK(pthread_create(&id, NULL, thread, library) == 0);
        pthread_join(id, &result);
        CHECK(result == library);
        SAME_EVERY_ROUND(work(5));
    }
    return 0;
}
