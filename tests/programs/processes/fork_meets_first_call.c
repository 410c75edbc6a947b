//#Variants: -O2 | -static
//#Flags: -pthread
//#Epochs: 0
/* A thread that holds a stream calls a function for the first time, and allocates, while another
 * one flushes all streams and a third forks: fork waits for the list of streams, and who has that
 * for the stream. */
#include "../rounds.h"
#include <pthread.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include <unistd.h>

static FILE *stream;
static atomic_int stage;

NOINLINE static uint64_t first_called_by_the_holder(uint64_t x)
{
    __asm__ volatile("" : "+r"(x));
    return x * 5 + 2;
}

static void *holder(void *unused)
{
    (void)unused;
    flockfile(stream);
    atomic_store(&stage, 1);
    usleep(300000);
    CHECK(first_called_by_the_holder(7) == 37);
    void *volatile blocks[40];
    for (int i = 0; i < 40; i++) blocks[i] = malloc(i * 1000 + 10);
    for (int i = 0; i < 40; i++) free(blocks[i]);
    funlockfile(stream);
    return NULL;
}

static void *flusher(void *unused)
{
    (void)unused;
    while (atomic_load(&stage) < 1) usleep(1000);
    atomic_store(&stage, 2);
    CHECK(fflush(NULL) == 0);
    return NULL;
}

int main(void)
{
    pthread_t threads[2];
    stream = tmpfile();
    CHECK(stream != NULL);
    CHECK(pthread_create(&threads[0], NULL, holder, NULL) == 0);
    CHECK(pthread_create(&threads[1], NULL, flusher, NULL) == 0);
    while (atomic_load(&stage) < 2) usleep(1000);
    usleep(50000);
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) _exit(first_called_by_the_holder(1) == 7 ? 42 : 1);
    int status;
    CHECK(waitpid(child, &status, 0) == child);
    CHECK(pthread_join(threads[0], NULL) == 0 && pthread_join(threads[1], NULL) == 0);
    printf("%x\n", (unsigned)status);
    return 0;
}
