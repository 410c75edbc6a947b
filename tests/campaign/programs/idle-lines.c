/* A thread that makes progress, and one that runs lines on which nothing depends: those of
 * idle-lines.h, each of which says MIX. Argument: seconds. */
#include <coz.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define MIX \
    for (long i = 0; i < 20000; i++) \
        value ^= value << 13, value ^= value >> 7, value ^= value << 17;

static int is_over;

static void *idle(void *result) {
    uint64_t value = 1;
    while (!__atomic_load_n(&is_over, __ATOMIC_RELAXED)) {
#include "idle-lines.h"
    }
    *(uint64_t *)result = value;
    return NULL;
}

int main(int argc, char **argv) {
    time_t end = time(NULL) + (argc > 1 ? atol(argv[1]) : 10);
    uint64_t value = 2, result = 0;
    pthread_t thread;
    if (pthread_create(&thread, NULL, idle, &result) != 0) return 1;
    while (time(NULL) < end) {
        MIX
        COZ_PROGRESS_NAMED("done");
    }
    __atomic_store_n(&is_over, 1, __ATOMIC_RELAXED);
    pthread_join(thread, NULL);
    printf("%d\n", result != value);
}
