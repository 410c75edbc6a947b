/* Repeats the body of FOR_A_WHILE for some 60 ms, so that many epochs pass, and checks in every
 * round that a value is what it was in the first one. The output does not depend on the number of
 * rounds. */
#ifndef ROUNDS_H
#define ROUNDS_H
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define NOINLINE __attribute__((noinline))

static inline double rounds_now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

/* At least once: on a busy machine the time may be over before the first round. */
#define FOR_MS(ms)                                                                                 \
    for (double rounds_end = rounds_now_ms() + (ms), rounds_begun = 0;                             \
         rounds_begun == 0 || rounds_now_ms() < rounds_end; rounds_begun = 1)
#define FOR_A_WHILE FOR_MS(60)

/* The same by the thread's own CPU time, where it matters how much was executed: a busy machine may
 * leave little of the other kind. Not for bodies that sleep. */
static inline double rounds_cpu_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

#define FOR_CPU_MS(ms)                                                                             \
    for (double rounds_end = rounds_cpu_ms() + (ms); rounds_cpu_ms() < rounds_end;)

#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            printf("line %d: %s does not hold\n", __LINE__, #condition);                           \
            exit(99);                                                                              \
        }                                                                                          \
    } while (0)

#define SAME_EVERY_ROUND(value)                                                                    \
    do {                                                                                           \
        static int rounds_seen;                                                                    \
        static uint64_t rounds_first;                                                              \
        uint64_t rounds_value = (uint64_t)(value);                                                 \
        if (!rounds_seen) {                                                                        \
            rounds_seen = 1;                                                                       \
            rounds_first = rounds_value;                                                           \
            printf("%s = %llu\n", #value, (unsigned long long)rounds_value);                       \
        }                                                                                          \
        if (rounds_value != rounds_first) {                                                        \
            printf("line %d: %s was %llu and is %llu\n", __LINE__, #value,                         \
                   (unsigned long long)rounds_first, (unsigned long long)rounds_value);            \
            exit(99);                                                                              \
        }                                                                                          \
    } while (0)
#endif
