/* Computes for a while and says how much CPU time that took, by its own clock.
 * Usage: timed MILLIONS [paths]: with a second word the same by way of hundreds of call paths. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

/* Calls and loads, as programs have them. */
__attribute__((noinline)) static uint32_t step(uint32_t *table, uint32_t at)
{
    uint32_t value = table[at & 4095];
    table[at & 4095] = value * 1664525u + 1013904223u;
    return value ^ at >> 3;
}

static uint32_t right(uint32_t *table, uint32_t at, unsigned depth);

__attribute__((noinline)) static uint32_t left(uint32_t *table, uint32_t at, unsigned depth)
{
    if (depth == 0)
        return step(table, at) + 1;
    return (at >> depth & 1 ? left : right)(table, at, depth - 1) + 1;
}

__attribute__((noinline)) static uint32_t right(uint32_t *table, uint32_t at, unsigned depth)
{
    uint32_t found;
    if (depth == 0)
        return step(table, at) + 3;
    found = (at >> depth & 1 ? right : left)(table, at, depth - 1);
    return found ^ table[found & 4095];
}

int main(int argc, char **argv)
{
    static uint32_t table[4096];
    unsigned long rounds = (argc > 1 ? strtoul(argv[1], NULL, 10) : 500) * 1000000;
    uint32_t at = 1;
    struct timespec cpu;
    while (rounds-- > 0)
        at = argc > 2 ? left(table, at, at >> 20 & 7) : step(table, at) + 1;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &cpu);
    printf("%u: %ld.%09ld s\n", at, (long)cpu.tv_sec, cpu.tv_nsec);
    return 0;
}
