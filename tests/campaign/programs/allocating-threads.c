/* One thread that allocates and frees, then two of them at once: seconds, and the rate of two over
 * that of one. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
static void *run(void *a)
{
    static __thread char *q[512];
    unsigned x = (unsigned)(size_t)a + 1;
    for (long i = 0; i < 20000000; i++) {
        x = x * 1664525u + 1013904223u;
        unsigned at = (x >> 8) % 512;
        free(q[at]);
        q[at] = malloc(16 + (x >> 20) % 240);
        q[at][0] = 1;
    }
    return NULL;
}
static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + t.tv_nsec * 1e-9;
}
int main(void)
{
    pthread_t a, b;
    for (int i = 0; i < 3; i++) {
        double t0 = now();
        pthread_create(&a, 0, run, (void *)1);
        pthread_join(a, 0);
        double t1 = now();
        pthread_create(&a, 0, run, (void *)1);
        pthread_create(&b, 0, run, (void *)2);
        pthread_join(a, 0);
        pthread_join(b, 0);
        double t2 = now();
        printf("one %.2f two %.2f rate %.2f\n", t1 - t0, t2 - t1, 2 * (t1 - t0) / (t2 - t1));
    }
}
