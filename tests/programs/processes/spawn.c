//#Variants: -O2 | -static
//#Epochs: 0
/* Other programs are started by vfork and exec, posix_spawn, system and popen. */
#define _GNU_SOURCE
#include "../rounds.h"
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;
NOINLINE static uint64_t work(uint64_t x)
{
    __asm__ volatile("" : "+r"(x));
    return x * 6364136223846793005u + 11;
}
NOINLINE static void exec_child(const char *code)
{
    execl("/bin/sh", "sh", "-c", code, (char *)NULL);
    _exit(127);
}
NOINLINE static void long_work(void) { FOR_MS(3) SAME_EVERY_ROUND(work(9)); }

int main(void)
{
    for (int i = 0; i < 5; i++) {
        int status;
        pid_t child = vfork();
        if (child == 0)
            exec_child(i % 2 ? "exit 4" : "kill -9 $$");
        long_work();
        CHECK(waitpid(child, &status, 0) == child);
        printf("vfork %s %d\n", WIFEXITED(status) ? "code" : "signal",
               WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status));
        char *words[] = {(char *)"sh", (char *)"-c", (char *)"exit 6", NULL};
        CHECK(posix_spawn(&child, "/bin/sh", NULL, NULL, words, environ) == 0);
        long_work();
        CHECK(waitpid(child, &status, 0) == child);
        printf("spawn %d\n", WEXITSTATUS(status));
        printf("system %d\n", WEXITSTATUS(system("exit 3")));
        fflush(stdout);
        FILE *pipe = popen("echo from a pipe", "r");
        char line[100] = "";
        CHECK(fgets(line, sizeof line, pipe) != NULL);
        fputs(line, stdout);
        printf("pclose %d\n", pclose(pipe));
    }
    return 0;
}
