/* Works in step with a clock: for three tenths of each period in one function and for the rest in
 * another. Prints the first one's share of their CPU time in percent. Arguments: periods,
 * microseconds of each, 10,000 by default, and "cpu" for a clock that counts its CPU time. */
#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static volatile unsigned long sink;
static clockid_t clock_in_step = CLOCK_MONOTONIC;

static int64_t nanoseconds(clockid_t clock)
{
    struct timespec time;
    clock_gettime(clock, &time);
    return time.tv_sec * INT64_C(1000000000) + time.tv_nsec;
}

__attribute__((noinline)) static void early(void)
{
    for (unsigned long i = 0; i < 20000; i++) sink += i;
}

__attribute__((noinline)) static void late(void)
{
    for (unsigned long i = 0; i < 20000; i++) sink += 2 * i;
}

/* Calls a function until a moment; returns the CPU time that it took. */
static int64_t until(int64_t end, void (*function)(void))
{
    int64_t begin = nanoseconds(CLOCK_THREAD_CPUTIME_ID);
    while (nanoseconds(clock_in_step) < end) function();
    return nanoseconds(CLOCK_THREAD_CPUTIME_ID) - begin;
}

int main(int argc, char **argv)
{
    int rounds = argc > 1 ? atoi(argv[1]) : 1000;
    int64_t period = 1000 * (argc > 2 ? atol(argv[2]) : 10000);
    if (argc > 3) clock_in_step = CLOCK_THREAD_CPUTIME_ID;
    int64_t begin = nanoseconds(clock_in_step), early_ns = 0, late_ns = 0;
    for (int i = 0; i < rounds; i++) {
        early_ns += until(begin + i * period + 3 * period / 10, early);
        late_ns += until(begin + (i + 1) * period, late);
    }
    printf("%.2f\n", 100.0 * early_ns / (early_ns + late_ns));
}
