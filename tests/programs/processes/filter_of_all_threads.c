//#Variants: -O2 | -O2 -static
//#Flags: -pthread
/* A filter that holds for all threads from the first moment on, and kills the process for anything
 * but what the program itself still asks for: whoever else belonged to the process must have gone
 * before. */
#define _GNU_SOURCE
#include "../rounds.h"
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

NOINLINE static uint64_t early(uint64_t x)
{
    __asm__ volatile("" : "+r"(x));
    return x * 6364136223846793005u + 1442695040888963407u;
}
NOINLINE static uint64_t late(uint64_t x) { return early(x) ^ early(x + 3); }

#define ALLOW(number)                                                                              \
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (number), 0, 1),                                           \
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)

static struct sock_filter rules[] = {
    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
    ALLOW(SYS_write), ALLOW(SYS_fstat), ALLOW(SYS_newfstatat), ALLOW(SYS_clock_gettime),
    ALLOW(SYS_exit_group), ALLOW(SYS_brk), ALLOW(SYS_mmap), ALLOW(SYS_munmap), ALLOW(SYS_madvise),
    /* What writing a log needs. */
    ALLOW(SYS_open), ALLOW(SYS_close), ALLOW(SYS_getpid), ALLOW(SYS_rt_sigprocmask),
    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
};
static struct sock_fprog program = {sizeof rules / sizeof *rules, rules};

static void *volatile blocks[200];

int main(void)
{
    FOR_A_WHILE SAME_EVERY_ROUND(early(1));
    CHECK(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0);
    CHECK(syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program) == 0);
    FOR_A_WHILE SAME_EVERY_ROUND(late(3));
    /* The heap asks for memory and for nothing else. */
    for (int i = 0; i < 200; i++) CHECK((blocks[i] = malloc(100000)) != NULL);
    for (int i = 0; i < 200; i++) free(blocks[i]);
    puts("done");
    return 0;
}
