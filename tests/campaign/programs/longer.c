/* What functions are made longer by: in every so many calls of a thread a loop of so many rounds.
 * LONGER_1="EVERY ROUNDS", and so on; without it a call does nothing. Each has a loop of its own,
 * so that a profiler can tell them. Much in few calls, since a few instructions in each would hide
 * behind others that wait for memory. */
#include <stdio.h>
#include <stdlib.h>

#include "longer.h"

static struct {
    long every, rounds;
} plans[4];

__attribute__((constructor)) static void begin(void) {
    for (int i = 1; i < 4; i++) {
        char name[16];
        snprintf(name, sizeof name, "LONGER_%d", i);
        const char *text = getenv(name);
        if (text == NULL || sscanf(text, "%ld %ld", &plans[i].every, &plans[i].rounds) != 2)
            plans[i].rounds = 0;
    }
}

#define LONGER(number) \
    __attribute__((noinline)) void longer_##number(void) { \
        static __thread long calls; \
        if (plans[number].rounds == 0 || ++calls % plans[number].every != 0) return; \
        long sum = 0; \
        for (long round = plans[number].rounds; round > 0; round--) \
            __asm__ volatile("add $1, %0" : "+r"(sum)); \
    }

LONGER(1)
LONGER(2)
LONGER(3)
