//#Variants: -O2 | -O2 -static
//#Flags: -pthread
/* Filters that kill the process for any system call but the few that the program still makes: at
 * first for one thread, then for all of them, and in a child. What was never called before is
 * called under them. */
#define _GNU_SOURCE
#include "../rounds.h"
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

NOINLINE static uint64_t first(uint64_t x)
{
    __asm__ volatile("" : "+r"(x));
    return x * 6364136223846793005u + 1442695040888963407u;
}
NOINLINE static uint64_t second(uint64_t x) { return first(x) ^ first(x >> 5); }
NOINLINE static uint64_t late(uint64_t x) { return second(x) + first(x ^ 77); }
NOINLINE static uint64_t later(uint64_t x) { return late(x) ^ late(x + 1); }
NOINLINE static uint64_t in_child(uint64_t x) { return later(x) - second(x); }

#define ALLOW(number)                                                                              \
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (number), 0, 1),                                           \
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)

static struct sock_filter rules[] = {
    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
    ALLOW(SYS_read), ALLOW(SYS_write), ALLOW(SYS_newfstatat), ALLOW(SYS_fstat), ALLOW(SYS_brk),
    ALLOW(SYS_mmap), ALLOW(SYS_munmap), ALLOW(SYS_exit), ALLOW(SYS_exit_group), ALLOW(SYS_futex),
    ALLOW(SYS_clock_nanosleep), ALLOW(SYS_seccomp), ALLOW(SYS_rt_sigreturn),
    ALLOW(SYS_clock_gettime),
    /* What fork, wait, the end of a thread, and writing a log need. */
    ALLOW(SYS_clone), ALLOW(SYS_wait4), ALLOW(SYS_set_robust_list), ALLOW(SYS_rt_sigprocmask),
    ALLOW(SYS_gettid), ALLOW(SYS_getpid), ALLOW(SYS_madvise), ALLOW(SYS_rseq), ALLOW(SYS_open),
    ALLOW(SYS_close),
    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
};
static struct sock_fprog program = {sizeof rules / sizeof *rules, rules};
static atomic_int stop;

static void *other(void *unused)
{
    (void)unused;
    uint64_t expected = second(8);
    while (!stop) CHECK(second(8) == expected);
    CHECK(later(8) == later(8));
    return NULL;
}

static void wait_for(pid_t child)
{
    int status;
    CHECK(child > 0 && waitpid(child, &status, 0) == child);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 7);
}

int main(void)
{
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, other, NULL) == 0);
    FOR_A_WHILE SAME_EVERY_ROUND(second(1));

    /* The old way, in a child of its own. */
    pid_t child = fork();
    if (child == 0) {
        CHECK(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0);
        CHECK(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0);
        CHECK(late(3) == late(3));
        _exit(7);
    }
    wait_for(child);

    CHECK(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0);
    CHECK(syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) == 0);
    FOR_A_WHILE SAME_EVERY_ROUND(late(3));
    CHECK(syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program) == 0);
    FOR_A_WHILE SAME_EVERY_ROUND(later(4));
    char *block = malloc(100);
    CHECK(block != NULL);
    free(block);
    stop = 1;
    CHECK(pthread_join(thread, NULL) == 0);
    child = fork();
    if (child == 0) {
        CHECK(in_child(5) == in_child(5));
        _exit(7);
    }
    wait_for(child);
    puts("done");
    return 0;
}
