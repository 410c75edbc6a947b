/* The stack limit is the program's: it reads what was set, hands it on to its children, and can
 * raise it and use what it has got. */
//#Variants: -O2 | -O2 -static
#define _GNU_SOURCE
#include "../rounds.h"
#include <pthread.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { FRAME = 1040 };

NOINLINE static uint64_t down(uint64_t depth)
{
    volatile char own[1000];
    own[depth % 1000] = 1;
    return depth == 0 ? 0 : down(depth - 1) + (unsigned char)own[depth % 1000];
}

static void print_limit(const char *who)
{
    struct rlimit limit;
    CHECK(getrlimit(RLIMIT_STACK, &limit) == 0);
    printf("%s: %llu of %llu\n", who, (unsigned long long)limit.rlim_cur,
           (unsigned long long)limit.rlim_max);
    fflush(stdout);
}

static void print_limits_of_children(void)
{
    print_limit("parent");
    pid_t child = fork();
    if (child == 0) {
        print_limit("child");
        execl("/bin/sh", "sh", "-c", "ulimit -Ss; ulimit -Hs", NULL);
    }
    int status;
    CHECK(waitpid(child, &status, 0) == child && status == 0);
}

int main(void)
{
    print_limits_of_children();
    struct rlimit limit;
    CHECK(getrlimit(RLIMIT_STACK, &limit) == 0);
    for (rlim_t mib = 16; mib <= 96; mib *= 2) {
        struct rlimit wanted = {mib << 20, limit.rlim_max};
        if (wanted.rlim_cur > limit.rlim_max)
            break;
        struct rlimit old;
        CHECK(mib == 32 ? prlimit(0, RLIMIT_STACK, &wanted, &old) == 0
                        : setrlimit(RLIMIT_STACK, &wanted) == 0);
        printf("%llu\n", (unsigned long long)down((mib << 20) / 16 * 15 / FRAME));
        print_limits_of_children();
    }
    struct rlimit lower = {1 << 20, limit.rlim_max};
    CHECK(setrlimit(RLIMIT_STACK, &lower) == 0);
    print_limits_of_children();
    struct rlimit wrong = {2, 1};
    CHECK(setrlimit(RLIMIT_STACK, &wrong) == -1);
    FOR_A_WHILE { SAME_EVERY_ROUND(down(20)); }
    return 0;
}
