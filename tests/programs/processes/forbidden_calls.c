//#Epochs: 5
//#Flags: -pthread
/* Filters that forbid mprotect, membarrier, memfd_create and madvise, at first for one thread, then
 * for all: the program goes on, with or without new layouts. */
#define _GNU_SOURCE
#include "../rounds.h"
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

NOINLINE static uint64_t first(uint64_t x)
{
    __asm__ volatile("" : "+r"(x));
    return x * 6364136223846793005u + 1442695040888963407u;
}
NOINLINE static uint64_t second(uint64_t x) { return first(x) ^ first(x >> 5); }

#define FORBID(number, action)                                                                     \
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (number), 0, 1), BPF_STMT(BPF_RET | BPF_K, (action))

static void filter(unsigned flags)
{
    struct sock_filter rules[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        FORBID(SYS_mprotect, SECCOMP_RET_ERRNO | EPERM),
        FORBID(SYS_membarrier, SECCOMP_RET_ERRNO | EPERM),
        FORBID(SYS_memfd_create, SECCOMP_RET_ERRNO | EPERM),
        FORBID(SYS_madvise, SECCOMP_RET_ERRNO | EPERM),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {sizeof rules / sizeof *rules, rules};
    CHECK(syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &program) == 0);
}

static void *other(void *unused)
{
    (void)unused;
    uint64_t expected = second(8);
    FOR_MS(200) CHECK(second(8) == expected);
    return NULL;
}

int main(void)
{
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, other, NULL) == 0);
    FOR_A_WHILE SAME_EVERY_ROUND(second(1));
    CHECK(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0);
    FOR_A_WHILE SAME_EVERY_ROUND(second(2));
    filter(0);
    CHECK(mprotect((void *)4096, 4096, PROT_READ) == -1 && errno == EPERM);
    FOR_A_WHILE SAME_EVERY_ROUND(second(3));
    filter(SECCOMP_FILTER_FLAG_TSYNC);
    FOR_A_WHILE SAME_EVERY_ROUND(second(4));
    FOR_A_WHILE SAME_EVERY_ROUND(second(5));
    CHECK(pthread_join(thread, NULL) == 0);
    puts("done");
    return 0;
}
