//#Variants: -O2 | -static
/* The runtime leaves no descriptors open and holds none of the program's. */
#include "../rounds.h"
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

NOINLINE static int work(int x)
{
    __asm__ volatile("" : "+r"(x));
    return x + 1;
}
static void list(const char *when)
{
    for (int i = 0; i < 1024; i++)
        if (fcntl(i, F_GETFD) != -1)
            printf("%s: %d is open\n", when, i);
}

int main(void)
{
    list("start");
    FOR_MS(20) work(1);
    list("later");
    printf("next %d\n", open("/dev/null", O_RDONLY));
    int ends[2];
    char byte;
    CHECK(pipe(ends) == 0);
    FOR_MS(10) work(1);
    close(ends[1]);
    CHECK(read(ends[0], &byte, 1) == 0);
    fflush(stdout);
    /* A child has a task of its own, which holds nothing either. */
    CHECK(pipe(ends) == 0);
    pid_t child = fork();
    if (child == 0) {
        close(ends[0]);
        FOR_MS(10) work(1);
        close(ends[1]);
        FOR_MS(20) work(1);
        _exit(0);
    }
    close(ends[1]);
    double before = rounds_now_ms();
    CHECK(read(ends[0], &byte, 1) == 0);
    CHECK(rounds_now_ms() - before < 5000);
    int status;
    CHECK(waitpid(child, &status, 0) == child && status == 0);
    list("end");
    return 0;
}
