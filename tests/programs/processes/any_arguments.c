//#Variants: -O2 | -O2 -static | -O2 -static-pie
/* Functions of libc that take any number of arguments, and children made by one of them: the
 * runtime looks at such calls, and in static programs makes them itself. */
#define _GNU_SOURCE
#include "../rounds.h"
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

NOINLINE static int in_child(void *value)
{
    return *(int *)value + 40;
}
NOINLINE static int exit_code_of(int flags)
{
    static char stack[1 << 16];
    int two = 2, status;
    pid_t child = clone(in_child, stack + sizeof stack, flags | SIGCHLD, &two);
    CHECK(child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status));
    return WEXITSTATUS(status);
}
NOINLINE static int error_of(long result)
{
    return result == -1 ? errno : 0;
}

int main(void)
{
    FOR_A_WHILE {
        SAME_EVERY_ROUND(error_of(syscall(SYS_close, -1)) == EBADF);
        SAME_EVERY_ROUND(syscall(SYS_getpid) == getpid());
        /* Six arguments behind the number: the last one on the stack. */
        void *page = (void *)syscall(SYS_mmap, 0L, 4096L, (long)(PROT_READ | PROT_WRITE),
                                     (long)(MAP_PRIVATE | MAP_ANONYMOUS), -1L, 0L);
        SAME_EVERY_ROUND(page != MAP_FAILED && munmap(page, 4096) == 0);
        char name[16] = "";
        SAME_EVERY_ROUND(prctl(PR_SET_NAME, "renamed", 0, 0, 0) == 0 &&
                         prctl(PR_GET_NAME, name) == 0);
        SAME_EVERY_ROUND(strcmp(name, "renamed"));
        SAME_EVERY_ROUND(error_of(prctl(9999, 1, 2, 3, 4)) == EINVAL);
        SAME_EVERY_ROUND(exit_code_of(0));
        SAME_EVERY_ROUND(exit_code_of(CLONE_VM));
    }
    puts("done");
    return 0;
}
