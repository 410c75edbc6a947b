/* Computes for a while and says how much CPU time that took, by its own clock.
 * Usage: timed MILLIONS */
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

int main(int argc, char **argv)
{
    static uint32_t table[4096];
    unsigned long left = (argc > 1 ? strtoul(argv[1], NULL, 10) : 500) * 1000000;
    uint32_t at = 1;
    struct timespec cpu;
    while (left-- > 0)
        at = step(table, at) + 1;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &cpu);
    printf("%u: %ld.%09ld s\n", at, (long)cpu.tv_sec, cpu.tv_nsec);
    return 0;
}
