/* Two threads that compute, the second one for a third of the time of the first one, which the
 * whole takes, too. Arguments: rounds of the first one in thousands, and by how many percent these
 * are fewer. */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static long rounds, fewer;

static uint64_t mixed(uint64_t value, long count) {
    for (long i = 0; i < count; i++) {
        value ^= value << 13;
        value ^= value >> 7;
        value ^= value << 17;
    }
    return value;
}

__attribute__((noinline)) uint64_t work_longer(void) {
    return mixed(1, rounds * 1000 / 100 * (100 - fewer)) + 1;
}

__attribute__((noinline)) uint64_t work_shorter(void) { return mixed(2, rounds * 1000 / 3) + 2; }

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
    uint64_t results[2];
    pthread_t threads[2];
    if (pthread_create(&threads[0], NULL, longer, &results[0]) != 0 ||
        pthread_create(&threads[1], NULL, shorter, &results[1]) != 0)
        return 1;
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    printf("%d\n", results[0] != results[1]);
}
