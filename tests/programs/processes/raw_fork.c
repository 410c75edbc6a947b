//#Variants: -O2 | -O2 -static
//#Flags: -pthread
//#Epochs: 0
/* Children made by syscall(2), of which libc's own fork knows nothing, while another thread runs:
 * they go through many layouts of their parent's before they call anything for the first time. */
#define _GNU_SOURCE
#include "deeper.h"
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

NOINLINE static uint64_t first_in_child(uint64_t x) { return deeper(x, 3) ^ 5; }

static atomic_bool stop;

static void *busy(void *unused)
{
    (void)unused;
    uint64_t expected = deeper(5, 9);
    while (!atomic_load(&stop)) CHECK(deeper(5, 9) == expected);
    return NULL;
}

static int in_child(void)
{
    uint64_t expected = deeper(5, 9);
    FOR_MS(20) CHECK(deeper(5, 9) == expected);
    return first_in_child(3) == (deeper(3, 3) ^ 5) ? 42 : 1;
}

int main(void)
{
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, busy, NULL) == 0);
    uint64_t expected = deeper(5, 9);
    for (int round = 0; round < 6; round++) {
        fflush(stdout);
        pid_t child = round % 2 == 0 ? (pid_t)syscall(SYS_fork)
                                     : (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
        if (child == 0) _exit(in_child());
        CHECK(child > 0);
        FOR_MS(20) CHECK(deeper(5, 9) == expected);
        int status;
        CHECK(waitpid(child, &status, 0) == child);
        printf("child %d: %x\n", round, (unsigned)status);
    }
    atomic_store(&stop, 1);
    CHECK(pthread_join(thread, NULL) == 0);
    return 0;
}
