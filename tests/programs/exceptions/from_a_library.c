//#Variants: -O2 | -O0 | gcc -O2
//#Flags: -ldl -pthread
//#Epochs: 0
/* A C program without an unwinder of its own loads the C++ library later, and with it exceptions. */
#define _GNU_SOURCE
#include "../rounds.h"
#include <dlfcn.h>
#include <pthread.h>

NOINLINE static uint64_t work(uint64_t x)
{
    __asm__ volatile("" : "+r"(x));
    return x * 3 + 1;
}
static void *thread(void *argument)
{
    work(3);
    pthread_exit(argument);
}

int main(void)
{
    void *library = dlopen("libstdc++.so.6", RTLD_NOW | RTLD_LOCAL);
    CHECK(library != NULL);
    /* std::locale::locale(char const *) throws for a name that does not exist, and an
     * exception that nobody catches ends the program; so ask for the symbol only, and unwind by
     * pthread_exit. */
    CHECK(dlsym(library, "__cxa_throw") != NULL);
    FOR_MS(30)
    {
        pthread_t id;
        void *result;
        CHECK(pthread_create(&id, NULL, thread, library) == 0);
        pthread_join(id, &result);
        CHECK(result == library);
        SAME_EVERY_ROUND(work(4));
    }
    return 0;
}
