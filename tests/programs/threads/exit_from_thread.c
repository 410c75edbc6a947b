//#Variants: -O2 | -static
//#Flags: -pthread
//#Exit: 7
//#Epochs: 0
#include "../rounds.h"
#include <pthread.h>
#include <unistd.h>

static void last(void) { puts("last"); }
NOINLINE static uint64_t work(uint64_t x)
{
    __asm__ volatile("" : "+r"(x));
    return x * 6364136223846793005u + 11;
}
static void *thread(void *argument)
{
    (void)argument;
    uint64_t x = 1;
    FOR_MS(20) x = work(x);
    exit(7);
}
int main(void)
{
    pthread_t id;
    atexit(last);
    CHECK(pthread_create(&id, NULL, thread, NULL) == 0);
    for (;;)
        pause();
}
