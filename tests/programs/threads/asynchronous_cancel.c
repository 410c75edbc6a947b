//#Variants: -O2 | -O0 | gcc -O2 | -O2 -static
//#Flags: -pthread
/* Threads that can be cancelled at every instruction, in the middle of functions that have just
 * moved. */
#include "../rounds.h"
#include <pthread.h>
#include <unistd.h>

static volatile int started, cleaned;
static volatile uint64_t total;

static void clean(void *by) { cleaned += (int)(long)by; }

NOINLINE static uint64_t leaf(uint64_t x)
{
    __asm__ volatile("" : "+r"(x));
    return x * 31 + 7;
}
NOINLINE static uint64_t calls(uint64_t x, int depth)
{
    return depth ? calls(leaf(x), depth - 1) + leaf(x) : leaf(x);
}
static void *thread(void *argument)
{
    int before;
    pthread_cleanup_push(clean, (void *)1);
    pthread_cleanup_push(clean, (void *)10);
    started = 1;
    pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, &before);
    for (;;)
        total += calls(total, 8);
    pthread_cleanup_pop(0);
    pthread_cleanup_pop(0);
    return argument;
}

int main(void)
{
    int pause_us = 0;
    FOR_A_WHILE
    {
        pthread_t id;
        void *result;
        cleaned = started = 0;
        CHECK(pthread_create(&id, NULL, thread, NULL) == 0);
        while (!started)
            usleep(20);
        usleep(pause_us = (pause_us * 7 + 13) % 500);
        CHECK(pthread_cancel(id) == 0);
        CHECK(pthread_join(id, &result) == 0);
        CHECK(result == PTHREAD_CANCELED);
        SAME_EVERY_ROUND(cleaned);
        SAME_EVERY_ROUND(calls(1, 8));
    }
    return 0;
}
