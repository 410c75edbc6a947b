/* Two threads that compute, the second one for a part of the time of the first one, which the whole
 * takes, too. Arguments: rounds of the first one in thousands, by how many percent these are fewer,
 * and how many percent of them the second one has. Each thread has one line that it is in. */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static long rounds, fewer, share;

/* Each round waits for the one before, so that it takes as long wherever the loop lies. */
#define MIX(value, count) \
    for (long i = 0; i < (count); i++) \
        (value) ^= (value) << 13, (value) ^= (value) >> 7, (value) ^= (value) << 17

__attribute__((noinline)) uint64_t work_longer(void) {
    uint64_t value = 1;
    MIX(value, rounds * 10 * (100 - fewer)); /* longer */
    return value;
}

__attribute__((noinline)) uint64_t work_shorter(void) {
    uint64_t value = 2;
    MIX(value, rounds * 10 * share); /* shorter */
    return value;
}

static void *longer(void *result) {
    *(uint64_t *)result = work_longer();
    return NULL;
}

static void *shorter(void *result) {
    *(uint64_t *)result = work_shorter();
    return NULL;
}

int main(int argc, char **argv) {
    rounds = argc > 1 ? atol(argv[1]) : 100000;
    fewer = argc > 2 ? atol(argv[2]) : 0;
    share = argc > 3 ? atol(argv[3]) : 33;
    uint64_t results[2];
    pthread_t threads[2];
    if (pthread_create(&threads[0], NULL, longer, &results[0]) != 0 ||
        pthread_create(&threads[1], NULL, shorter, &results[1]) != 0)
        return 1;
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    printf("%d\n", results[0] != results[1]);
}
