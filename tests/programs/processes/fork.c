//#Variants: -O2 | -static | -O2 -no-pie
//#Movable: 2
/* A child has copies of its own: both sides go through many epochs, again and again; a grandchild;
 * a child that ends in every way. */
#include "../rounds.h"
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

NOINLINE static uint64_t work(uint64_t x)
{
    __asm__ volatile("" : "+r"(x));
    return x * 6364136223846793005u + 11;
}
NOINLINE static uint64_t only_in_child(uint64_t x) { return work(x) ^ 0x1234; }
NOINLINE static uint64_t long_work(int ms)
{
    uint64_t last = 0;
    FOR_MS(ms)
    {
        last = 1;
        for (int i = 0; i < 2000; i++)
            last = work(last);
    }
    return last;
}

static int status_of(pid_t child)
{
    int status;
    CHECK(waitpid(child, &status, 0) == child);
    return status;
}

int main(void)
{
    uint64_t expected = long_work(5);
    for (int round = 0; round < 6; round++) {
        pid_t child = fork();
        CHECK(child >= 0);
        if (child == 0) {
            CHECK(long_work(12) == expected);
            uint64_t value = only_in_child(5);
            CHECK(value == (work(5) ^ 0x1234));
            if (round == 0) {
                pid_t grandchild = fork();
                if (grandchild == 0)
                    _exit(long_work(10) == expected ? 33 : 1);
                CHECK(WEXITSTATUS(status_of(grandchild)) == 33);
            }
            if (round == 1)
                abort();
            if (round == 2)
                raise(SIGKILL);
            if (round == 3)
                *(volatile int *)0 = 1;
            _exit(round + 10);
        }
        CHECK(long_work(3) == expected);
        int status = status_of(child);
        printf("%d: %s %d\n", round, WIFSIGNALED(status) ? "signal" : "code",
               WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
    }
    /* Several children at once, while the parent goes on. */
    for (int i = 0; i < 4; i++)
        if (fork() == 0)
            _exit(long_work(10) == expected ? 0 : 1);
    for (int i = 0; i < 4; i++) {
        int status;
        CHECK(long_work(2) == expected);
        CHECK(wait(&status) > 0 && status == 0);
    }
    puts("all children ended");
    return 0;
}
