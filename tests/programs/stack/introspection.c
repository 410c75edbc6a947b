//#Variants: -O2 | -O0
//#Flags: -pthread
/* Programs ask how large their stack is, and keep to the answer. */
#define _GNU_SOURCE
#include "../rounds.h"
#include <pthread.h>

static char *lowest, *end;

static void ask(void)
{
    pthread_attr_t attributes;
    void *start;
    size_t bytes;
    CHECK(pthread_getattr_np(pthread_self(), &attributes) == 0);
    CHECK(pthread_attr_getstack(&attributes, &start, &bytes) == 0);
    CHECK(pthread_attr_destroy(&attributes) == 0);
    lowest = start;
    end = lowest + bytes;
    char here;
    CHECK(&here > lowest && &here < end);
}

/* Recursion that ends by itself where the stack would. */
NOINLINE static uint64_t down(uint64_t depth)
{
    volatile char own[500];
    own[depth % 500] = 1;
    CHECK((char *)own > lowest + 20000 && (char *)own < end);
    return depth == 0 ? 0 : down(depth - 1) + (unsigned char)own[depth % 500];
}

static void *in_thread(void *unused)
{
    ask();
    return (void *)(down(12000) + (uint64_t)unused);
}

int main(void)
{
    FOR_A_WHILE
    {
        ask();
        SAME_EVERY_ROUND(down(12000));
        pthread_t thread;
        void *result;
        CHECK(pthread_create(&thread, NULL, in_thread, NULL) == 0);
        CHECK(pthread_join(thread, &result) == 0);
        SAME_EVERY_ROUND((uint64_t)result);
    }
    return 0;
}
