/* Probes for `perturb.sh`: with WALK one that walks through a table of 32 KiB at each call of a
 * function of libc, without one that counts calls of another. Of two libraries that define the same
 * function only the first is called. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

unsigned long szc_count;

#ifdef WALK
static volatile char table[32768];

lldiv_t lldiv(long long number, long long divisor) {
    lldiv_t result = {number / divisor, number % divisor};
    szc_count++;
    for (unsigned i = 0; i < sizeof table; i += 64) table[i]++;
    return result;
}
#else
int madvise(void *start, size_t bytes, int advice) {
    szc_count++;
    return (int)syscall(SYS_madvise, start, bytes, advice);
}
#endif
