/* For `perturb.sh`: page faults and written bytes take turns, so that they go together, reversed,
 * as long as every step takes the same time. Some steps call a function of libc often, others not:
 * a probe of that function that takes time stretches them, and both rates with them. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

enum { PAGE = 4096, MOST = 400, CALLS = 3000, SPIN = 300000 };

int main(int argc, char **argv) {
    int steps = argc > 1 ? atoi(argv[1]) : 800;
    int sink = open("/dev/null", O_WRONLY);
    char *pages = mmap(NULL, (size_t)MOST * PAGE, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    static char bytes[64];
    unsigned long sum = 0;
    if (sink < 0 || pages == MAP_FAILED) return 1;
    for (int step = 0; step < steps; step++) {
        int phase = step % 40 < 20 ? step % 40 : 40 - step % 40;
        int faults = 100 + 10 * phase;
        for (int i = 0; i < faults; i++) pages[(size_t)i * PAGE] = 1;
        if (madvise(pages, (size_t)MOST * PAGE, MADV_DONTNEED)) return 1;
        for (int i = 0; i < MOST - faults; i++)
            if (write(sink, bytes, sizeof bytes) < 0) return 1;
        for (volatile int i = 0; i < SPIN; i++) {}
        if (step / 45 % 2)
            for (int i = 1; i <= CALLS; i++) sum += (unsigned long)lldiv(step + i, i).quot;
    }
    printf("%lu\n", sum);
    return 0;
}
