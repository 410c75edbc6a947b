/* Pairs of threads shorter than a sampling interval, of which one works twice as long as the other.
 * Prints the first one's share of their CPU time in percent. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static unsigned long steps;
static double seconds[2];

static double cpu_seconds(void)
{
    struct timespec time;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return time.tv_sec + time.tv_nsec / 1e9;
}

__attribute__((noinline)) static unsigned long longer(unsigned long seed)
{
    unsigned long sum = seed;
    for (unsigned long i = 0; i < 2 * steps; i++) {
        sum += (i * i) ^ (sum >> 3);
        __asm__ volatile("" : "+r"(sum));
    }
    return sum;
}

__attribute__((noinline)) static unsigned long shorter(unsigned long seed)
{
    unsigned long sum = seed;
    for (unsigned long i = 0; i < steps; i++) {
        sum += (i * i) ^ (sum >> 3);
        __asm__ volatile("" : "+r"(sum));
    }
    return sum;
}

static void *run(void *which)
{
    double begin = cpu_seconds();
    unsigned long sum = which ? shorter(1) : longer(1);
    __asm__ volatile("" : : "r"(sum));
    seconds[which != NULL] += cpu_seconds() - begin;
    return NULL;
}

int main(int argc, char **argv)
{
    int pairs = argc > 1 ? atoi(argv[1]) : 1000;
    steps = argc > 2 ? strtoul(argv[2], NULL, 10) : 400000;
    for (int i = 0; i < pairs; i++) {
        pthread_t first, second;
        pthread_create(&first, NULL, run, NULL);
        pthread_create(&second, NULL, run, &steps);
        pthread_join(first, NULL);
        pthread_join(second, NULL);
    }
    printf("%.2f\n", 100 * seconds[0] / (seconds[0] + seconds[1]));
}
