//#Variants: -O2 | -static
//#Epochs: 0
/* A filter that refuses mprotect, but not the memory that a child's copies need: children and
 * grandchildren run. */
#define _GNU_SOURCE
#include "../rounds.h"
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

NOINLINE static uint64_t work(uint64_t x)
{
    __asm__ volatile("" : "+r"(x));
    return x * 2862933555777941757u + 17;
}
NOINLINE static uint64_t twice(uint64_t x) { return work(work(x)) ^ x; }
NOINLINE static uint64_t first_in_child(uint64_t x) { return twice(x) + 1; }

static void forbid_mprotect(void)
{
    struct sock_filter rules[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_mprotect, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {sizeof rules / sizeof *rules, rules};
    CHECK(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0);
    CHECK(syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) == 0);
    CHECK(mprotect((void *)4096, 4096, PROT_READ) == -1 && errno == EPERM);
}

static int in_child(int generations)
{
    FOR_MS(10) CHECK(twice(4) == (work(work(4)) ^ 4));
    if (generations > 0) {
        pid_t child = fork();
        if (child == 0) _exit(in_child(generations - 1));
        int status;
        CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status));
        return WEXITSTATUS(status) + 1;
    }
    return first_in_child(6) == twice(6) + 1 ? 40 : 1;
}

int main(void)
{
    FOR_A_WHILE SAME_EVERY_ROUND(twice(1));
    forbid_mprotect();
    for (int round = 0; round < 3; round++) {
        fflush(stdout);
        pid_t child = fork();
        if (child == 0) _exit(in_child(round));
        FOR_A_WHILE CHECK(twice(2) == (work(work(2)) ^ 2));
        int status;
        CHECK(waitpid(child, &status, 0) == child);
        printf("child %d: %x\n", round, (unsigned)status);
    }
    return 0;
}
