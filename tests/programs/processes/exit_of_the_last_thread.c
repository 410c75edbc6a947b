//#Epochs: 0
/* Processes that end with their only thread, by a system call that ends no more than a thread: the
 * parent gets the thread's code. */
#define _GNU_SOURCE
#include "../rounds.h"
#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

NOINLINE static uint64_t work(uint64_t x)
{
    __asm__ volatile("" : "+r"(x));
    return x * 2862933555777941757u + 23;
}

static int cloned(void *code)
{
    FOR_MS(5) CHECK(work(1) == work(1));
    /* clone(2) in libc ends the child by SYS_exit. */
    return *(int *)code;
}

static void report(const char *what, pid_t child)
{
    int status;
    CHECK(child > 0 && waitpid(child, &status, 0) == child);
    printf("%s: %x\n", what, (unsigned)status);
}

int main(void)
{
    FOR_A_WHILE SAME_EVERY_ROUND(work(2));
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        FOR_MS(5) CHECK(work(1) == work(1));
        syscall(SYS_exit, 3);
    }
    report("fork", child);
    fflush(stdout);
    static char stack[1 << 16] __attribute__((aligned(16)));
    int code = 42;
    report("clone", clone(cloned, stack + sizeof stack, SIGCHLD, &code));
    return 0;
}
