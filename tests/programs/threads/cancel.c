//#Variants: -O2 | -O0 | gcc -O2 | -O2 -static
//#Flags: -pthread -fexceptions
/* Cancellation unwinds through moved frames and runs their cleanups. */
#include "../rounds.h"
#include <pthread.h>
#include <unistd.h>

static volatile int cleaned, started;
static void clean(void *by) { cleaned += (int)(long)by; }
static void cleanup_attribute(int *value) { cleaned += *value; }

NOINLINE static void nested(int depth)
{
    int value __attribute__((cleanup(cleanup_attribute))) = 1;
    if (depth > 0) {
        nested(depth - 1);
        __asm__ volatile("");
        return;
    }
    started = 1;
    for (;;)
        pause();
}
static void *thread(void *argument)
{
    (void)argument;
    pthread_cleanup_push(clean, (void *)100);
    nested(9);
    pthread_cleanup_pop(0);
    return NULL;
}

int main(void)
{
    FOR_A_WHILE
    {
        pthread_t id;
        void *result;
        cleaned = started = 0;
        CHECK(pthread_create(&id, NULL, thread, NULL) == 0);
        while (!started)
            usleep(100);
        pthread_cancel(id);
        pthread_join(id, &result);
        CHECK(result == PTHREAD_CANCELED);
        SAME_EVERY_ROUND(cleaned);
    }
    return 0;
}
