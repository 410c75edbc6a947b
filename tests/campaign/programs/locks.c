/* Threads that work under a lock for five times as long as outside of it: what they do outside is
 * worth nothing. Arguments: threads, and rounds of each. */
#include <coz.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static volatile unsigned long shared;
static long rounds;

__attribute__((noinline)) static void inside(void) {
    for (unsigned long i = 0; i < 100000; i++) shared += i;
}

__attribute__((noinline)) static void outside(volatile unsigned long *own) {
    for (unsigned long i = 0; i < 20000; i++) *own += i;
}

static void *work(void *unused) {
    volatile unsigned long own = 0;
    for (long i = 0; i < rounds; i++) {
        outside(&own);
        pthread_mutex_lock(&lock);
        inside();
        pthread_mutex_unlock(&lock);
        COZ_PROGRESS_NAMED("round");
    }
    return unused;
}

int main(int argc, char **argv) {
    long count = argc > 1 ? atol(argv[1]) : 4;
    rounds = argc > 2 ? atol(argv[2]) : 10000;
    pthread_t *threads = calloc(count, sizeof *threads);
    for (long i = 0; i < count; i++)
        if (pthread_create(&threads[i], NULL, work, NULL) != 0) return 1;
    for (long i = 0; i < count; i++)
        pthread_join(threads[i], NULL);
    printf("%d\n", shared != 0);
}
