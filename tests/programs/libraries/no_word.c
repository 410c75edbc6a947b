//#Library: no_word_a.c
//#Epochs: 10
//#Attached: 1
/* Children that never say that they have copies of their own, because there are none, or because
 * they can open no file for them. The program goes on and ends, and does not wait for another child
 * that lives. */
#define _GNU_SOURCE
#include "../rounds.h"
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

uint64_t of_library(uint64_t x);

static pid_t child_that_stays(void)
{
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        of_library(1);
        for (;;) pause();
    }
    return child;
}

int main(void)
{
    child_that_stays();
    errno = 77;
    fork() == 0 ? _exit(0) : (void)0;
    CHECK(errno == 77);
    /* The kernel refuses these flags together. */
    for (int i = 0; i < 3; i++) {
        CHECK(syscall(SYS_clone, CLONE_NEWUSER | CLONE_FS | SIGCHLD, 0L, 0L, 0L, 0L) == -1);
        CHECK(errno == EINVAL);
    }
    FOR_MS(100) SAME_EVERY_ROUND(of_library(3));

    struct rlimit few = {40, 40};
    CHECK(setrlimit(RLIMIT_NOFILE, &few) == 0);
    while (open("/dev/null", O_RDONLY) >= 0) {}
    child_that_stays();
    FOR_MS(100) SAME_EVERY_ROUND(of_library(5));
    for (int i = 3; i < 40; i++) close(i);
    puts("the end");
    return 0;
}
