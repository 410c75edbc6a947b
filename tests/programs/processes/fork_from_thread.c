//#Variants: -O2 | -static
//#Flags: -pthread
//#Epochs: 0
/* One thread forks while the others call functions all the time. */
#include "../rounds.h"
#include <pthread.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include <unistd.h>

static atomic_int stop;
NOINLINE static uint64_t work(uint64_t x)
{
    __asm__ volatile("" : "+r"(x));
    return x * 6364136223846793005u + 11;
}
NOINLINE static uint64_t loop(void)
{
    uint64_t x = 1;
    for (int i = 0; i < 1000; i++)
        x = work(x);
    return x;
}
static void *thread(void *argument)
{
    uint64_t expected = *(uint64_t *)argument;
    while (!atomic_load(&stop))
        CHECK(loop() == expected);
    return NULL;
}

int main(void)
{
    uint64_t expected = loop();
    pthread_t threads[3];
    for (int i = 0; i < 3; i++)
        CHECK(pthread_create(&threads[i], NULL, thread, &expected) == 0);
    for (int i = 0; i < 12; i++) {
        pid_t child = fork();
        CHECK(child >= 0);
        if (child == 0) {
            FOR_MS(4) CHECK(loop() == expected);
            _exit(5);
        }
        int status;
        CHECK(waitpid(child, &status, 0) == child);
        CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 5);
    }
    atomic_store(&stop, 1);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    puts("done");
    return 0;
}
