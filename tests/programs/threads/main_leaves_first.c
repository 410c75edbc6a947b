//#Variants: -O2 | -static
//#Flags: -pthread
//#Exit: 0
/* The initial thread ends; the program goes on without it. */
#include "../rounds.h"
#include <pthread.h>

NOINLINE static uint64_t work(uint64_t x)
{
    __asm__ volatile("" : "+r"(x));
    return x * 6364136223846793005u + 11;
}
static void *thread(void *argument)
{
    (void)argument;
    FOR_A_WHILE
    {
        uint64_t x = 1;
        for (int i = 0; i < 1000; i++)
            x = work(x);
        SAME_EVERY_ROUND(x);
    }
    return NULL;
}
int main(void)
{
    pthread_t id;
    CHECK(pthread_create(&id, NULL, thread, NULL) == 0);
    pthread_exit(NULL);
}
