/* Threads that work under a lock for five times as long as outside of it: what they do outside is
 * worth nothing, and where they take the lock neither. Arguments: threads, rounds of each, and the
 * lock: mutex, spin (that of pthread.h), or own (a loop without calls). */
#include <coz.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_spinlock_t spin;
static char own;
static volatile unsigned long shared;
static long rounds;
static char kind = 'm';

__attribute__((noinline)) static void inside(void) {
    for (unsigned long i = 0; i < 100000; i++) shared += i;
}

__attribute__((noinline)) static void outside(volatile unsigned long *sum) {
    for (unsigned long i = 0; i < 20000; i++) *sum += i;
}

__attribute__((noinline)) static void take(void) {
    if (kind == 'm') pthread_mutex_lock(&mutex);
    if (kind == 's') pthread_spin_lock(&spin);
    if (kind == 'o')
        while (__atomic_exchange_n(&own, 1, __ATOMIC_ACQUIRE)) {}
    /* So that no call is the last thing here, and its samples are of this function. */
    __asm__ volatile("" ::: "memory");
}

__attribute__((noinline)) static void give(void) {
    if (kind == 'm') pthread_mutex_unlock(&mutex);
    if (kind == 's') pthread_spin_unlock(&spin);
    if (kind == 'o') __atomic_store_n(&own, 0, __ATOMIC_RELEASE);
    __asm__ volatile("" ::: "memory");
}

static void *work(void *unused) {
    volatile unsigned long sum = 0;
    for (long i = 0; i < rounds; i++) {
        outside(&sum);
        take();
        inside();
        give();
        COZ_PROGRESS_NAMED("round");
    }
    return unused;
}

int main(int argc, char **argv) {
    long count = argc > 1 ? atol(argv[1]) : 4;
    rounds = argc > 2 ? atol(argv[2]) : 10000;
    if (argc > 3) kind = argv[3][0];
    pthread_spin_init(&spin, PTHREAD_PROCESS_PRIVATE);
    pthread_t *threads = calloc(count, sizeof *threads);
    for (long i = 0; i < count; i++)
        if (pthread_create(&threads[i], NULL, work, NULL) != 0) return 1;
    for (long i = 0; i < count; i++)
        pthread_join(threads[i], NULL);
    printf("%d\n", shared != 0);
}
