/* Runs every part and prints its checksum. */
#include "bundled.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

uint32_t next_random(uint32_t *state)
{
    *state = (uint32_t)((uint64_t)*state * 16807 % 2147483647);
    return *state;
}

static const struct {
    const char *name;
    uint64_t (*run)(unsigned rounds);
} parts[] = {
    {"calculator", run_calculator},
    {"dictionary", run_dictionary},
    {"matrix", run_matrix},
    {"puzzle", run_puzzle},
    {"sorting", run_sorting},
};

int main(int argc, char **argv)
{
    unsigned rounds = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : 10;
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
        printf("%-12s %" PRIu64 "\n", parts[i].name, parts[i].run(rounds));
    return 0;
}
