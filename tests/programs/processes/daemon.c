//#Variants: -O2 | -static
/* A program that becomes a daemon: its first process is gone, its work goes on in the grandchild,
 * which has neither terminal nor, at first, copies of its own. */
#define _GNU_SOURCE
#include "../rounds.h"
#include <sys/wait.h>
#include <unistd.h>

NOINLINE static uint64_t work(uint64_t x)
{
    __asm__ volatile("" : "+r"(x));
    return x * 2862933555777941757u + 3037000493u;
}

static void serve(int to)
{
    CHECK(daemon(1, 1) == 0);
    CHECK(dup2(to, 1) == 1);
    CHECK(getppid() != getsid(0) || getsid(0) != getpid());
    FOR_A_WHILE SAME_EVERY_ROUND(work(work(4)));
    puts("served");
    exit(5);
}

int main(void)
{
    int ends[2], status;
    FOR_A_WHILE SAME_EVERY_ROUND(work(3));
    fflush(stdout);
    CHECK(pipe(ends) == 0);
    pid_t child = fork();
    if (child == 0)
        serve(ends[1]);
    close(ends[1]);
    CHECK(waitpid(child, &status, 0) == child);
    printf("its first process ended with %d\n", WEXITSTATUS(status));
    char text[4096];
    size_t length = 0;
    for (ssize_t more; (more = read(ends[0], text + length, sizeof text - 1 - length)) > 0;)
        length += (size_t)more;
    text[length] = 0;
    fputs(text, stdout);
    return 0;
}
