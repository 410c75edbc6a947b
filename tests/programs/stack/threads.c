//#Variants: -O2 | -O2 -static
//#Flags: -pthread
/* Threads of all kinds use nearly all of the stack they asked for, and end in all the ways there
 * are. */
#define _GNU_SOURCE
#include "../rounds.h"
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <string.h>
#include <threads.h>
#include <unistd.h>

enum { FRAME = 48, OVERHEAD = 12 << 10, DEFAULT = 7 << 20 };

NOINLINE static uint64_t down(uint64_t depth)
{
    volatile uint64_t own[2] = {depth, depth + 1};
    return depth == 0 ? 0 : down(depth - 1) + own[0] - own[1];
}

static void *use(void *bytes) { return (void *)down((uint64_t)bytes / FRAME); }
static int use_and_return_int(void *bytes) { return (int)down((uint64_t)bytes / FRAME); }
static int use_and_exit(void *bytes)
{
    thrd_exit((int)down((uint64_t)bytes / FRAME) + 1);
}

static int cleaned;
static void clean(void *unused) { cleaned++, (void)unused; }
static void *leave(void *bytes)
{
    pthread_cleanup_push(clean, NULL);
    pthread_exit((void *)(down((uint64_t)bytes / FRAME) + 5));
    pthread_cleanup_pop(0);
}
static void *wait_for_ever(void *unused)
{
    pthread_cleanup_push(clean, NULL);
    for (;;)
        pause();
    pthread_cleanup_pop(0);
    return unused;
}

static uint64_t result_of(const pthread_attr_t *attributes, void *(*start)(void *), uint64_t bytes)
{
    pthread_t thread;
    void *result;
    CHECK(pthread_create(&thread, attributes, start, (void *)bytes) == 0);
    if (start == wait_for_ever)
        CHECK(pthread_cancel(thread) == 0);
    CHECK(pthread_join(thread, &result) == 0);
    return (uint64_t)result;
}

static char stack[256 << 10] __attribute__((aligned(4096)));

int main(void)
{
    FOR_A_WHILE
    {
        SAME_EVERY_ROUND(result_of(NULL, use, DEFAULT));
        SAME_EVERY_ROUND(result_of(NULL, leave, DEFAULT));
        SAME_EVERY_ROUND(result_of(NULL, wait_for_ever, 0));
        pthread_attr_t attributes;
        CHECK(pthread_attr_init(&attributes) == 0);
        for (size_t bytes = PTHREAD_STACK_MIN; bytes <= 16 << 20; bytes *= 4) {
            CHECK(pthread_attr_setstacksize(&attributes, bytes) == 0);
            CHECK(result_of(&attributes, use, (bytes - OVERHEAD) / 16 * 15) ==
                  0 - (uint64_t)(bytes - OVERHEAD) / 16 * 15 / FRAME);
            size_t unchanged;
            CHECK(pthread_attr_getstacksize(&attributes, &unchanged) == 0 && unchanged == bytes);
        }
        CHECK(pthread_attr_setstack(&attributes, stack, sizeof stack) == 0);
        SAME_EVERY_ROUND(result_of(&attributes, use, sizeof stack / 16 * 14));
        CHECK(pthread_attr_destroy(&attributes) == 0);

        thrd_t thread;
        int result;
        CHECK(thrd_create(&thread, use_and_return_int, (void *)DEFAULT) == thrd_success);
        CHECK(thrd_join(thread, &result) == thrd_success);
        SAME_EVERY_ROUND(result);
        CHECK(thrd_create(&thread, use_and_exit, (void *)DEFAULT) == thrd_success);
        CHECK(thrd_join(thread, &result) == thrd_success);
        SAME_EVERY_ROUND(result);
    }
    /* What cannot be created is refused as ever. */
    pthread_attr_t attributes;
    pthread_t thread;
    CHECK(pthread_attr_init(&attributes) == 0);
    CHECK(pthread_attr_setstacksize(&attributes, (size_t)1 << 46) == 0);
    CHECK(pthread_create(&thread, &attributes, use, NULL) == EAGAIN);
    puts(cleaned > 1 ? "done" : "nothing was cleaned");
    return 0;
}
