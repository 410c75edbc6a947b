//#Movable: 2
/* A limit on the size of files that is lower than the memory for copies: children and grandchildren
 * run, and go through epochs of their own; so does the program itself, started again under the
 * limit. */
#include "../rounds.h"
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

NOINLINE static uint64_t work(uint64_t x)
{
    __asm__ volatile("" : "+r"(x));
    return x * 2862933555777941757u + 17;
}
NOINLINE static uint64_t first_in_child(uint64_t x) { return work(work(x)) ^ x; }

static void check_child(pid_t child)
{
    int status;
    CHECK(child > 0 && waitpid(child, &status, 0) == child);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 42);
}

static void run(uint64_t expected)
{
    pid_t child = fork();
    if (child == 0) {
        FOR_MS(30) CHECK(work(5) == expected);
        CHECK(first_in_child(5) == (work(expected) ^ 5));
        pid_t grandchild = fork();
        if (grandchild == 0) _exit(first_in_child(5) == (work(expected) ^ 5) ? 42 : 1);
        check_child(grandchild);
        _exit(42);
    }
    FOR_MS(30) CHECK(work(5) == expected);
    check_child(child);
}

int main(int count, char **arguments)
{
    uint64_t expected = work(5);
    struct rlimit limit = {1 << 20, 1 << 20};
    CHECK(setrlimit(RLIMIT_FSIZE, &limit) == 0);
    run(expected);
    puts(count > 1 ? "again" : "once");
    fflush(stdout);
    if (count == 1) {
        char *again[] = {arguments[0], "again", NULL};
        execv("/proc/self/exe", again);
    }
    return 0;
}
