/* Producers that make tasks and consumers that run them, by a queue without bounds; both take their
 * time asleep, so that few processors do for many threads. Arguments: consumers, tasks in all,
 * microseconds for each, by how many percent less a task takes to make, and to run.
 *
 * Curtsinger, "Strategies for Efficient and Statistically Sound Performance Evaluation", 2016,
 * figure 6.1: with 2 producers. */
#include <coz.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { PRODUCERS = 2 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t filled = PTHREAD_COND_INITIALIZER;
static long waiting, left, tasks;
static long make_ns, run_ns;

static void take(long nanoseconds) {
    struct timespec time = {nanoseconds / 1000000000, nanoseconds % 1000000000};
    nanosleep(&time, NULL);
}

static void *produce(void *unused) {
    for (long i = 0; i < tasks / PRODUCERS; i++) {
        if (make_ns > 0) take(make_ns);
        COZ_BEGIN("task");
        pthread_mutex_lock(&lock);
        waiting++;
        pthread_cond_signal(&filled);
        pthread_mutex_unlock(&lock);
    }
    return unused;
}

static void *consume(void *unused) {
    for (;;) {
        pthread_mutex_lock(&lock);
        while (waiting == 0 && left > 0)
            pthread_cond_wait(&filled, &lock);
        if (left == 0) break;
        waiting--;
        if (--left == 0) pthread_cond_broadcast(&filled);
        pthread_mutex_unlock(&lock);
        take(run_ns);
        COZ_END("task");
        COZ_PROGRESS_NAMED("done");
    }
    pthread_mutex_unlock(&lock);
    return unused;
}

int main(int argc, char **argv) {
    long consumers = argc > 1 ? atol(argv[1]) : 2;
    tasks = argc > 2 ? atol(argv[2]) / PRODUCERS * PRODUCERS : 1000;
    long task_ns = 1000 * (argc > 3 ? atol(argv[3]) : 2000);
    make_ns = task_ns / 100 * (100 - (argc > 4 ? atol(argv[4]) : 0));
    run_ns = task_ns / 100 * (100 - (argc > 5 ? atol(argv[5]) : 0));
    left = tasks;
    pthread_t threads[PRODUCERS + 64];
    int count = 0;
    for (; count < PRODUCERS; count++)
        pthread_create(&threads[count], NULL, produce, NULL);
    for (; count < PRODUCERS + consumers && count < PRODUCERS + 64; count++)
        pthread_create(&threads[count], NULL, consume, NULL);
    while (count-- > 0)
        pthread_join(threads[count], NULL);
    printf("%ld\n", tasks - left);
}
