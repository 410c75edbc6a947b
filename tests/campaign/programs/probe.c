/* A probe for `perturb.sh`: counts the calls of a function of libc, and with WALK walks through a
 * table of 32 KiB at each of them. */
#include <stdlib.h>

unsigned long szc_count;
static volatile char table[32768];

lldiv_t lldiv(long long number, long long divisor) {
    lldiv_t result = {number / divisor, number % divisor};
    szc_count++;
#ifdef WALK
    for (unsigned i = 0; i < sizeof table; i += 64) table[i]++;
#endif
    return result;
}
