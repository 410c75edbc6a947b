//#Flags: -pthread
/* A program that locks its memory has no more of it than it uses. */
#include "../rounds.h"
#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>

NOINLINE static uint64_t down(uint64_t depth)
{
    volatile char own[500];
    own[depth % 500] = 1;
    return depth == 0 ? 0 : down(depth - 1) + (unsigned char)own[depth % 500];
}
static void *in_thread(void *unused) { return (void *)(down(1000) + (uint64_t)unused); }

static long stack_kib(void)
{
    char line[256];
    long kib = -1;
    FILE *status = fopen("/proc/self/status", "r");
    while (status != NULL && fgets(line, sizeof line, status) != NULL)
        if (strncmp(line, "VmStk:", 6) == 0)
            kib = atol(line + 6);
    CHECK(status != NULL && fclose(status) == 0);
    return kib;
}

int main(void)
{
    uint64_t before = down(2000);
    int locked = mlockall(MCL_CURRENT);
    CHECK(locked == 0 || errno == ENOMEM || errno == EPERM);
    printf("%d, as much as ever: %d\n", locked, stack_kib() < 8 << 10);
    CHECK(mlockall(1 << 20) == -1 && errno == EINVAL);
    CHECK(down(12000) == before * 6);
    CHECK(munlockall() == 0);
    FOR_A_WHILE
    {
        SAME_EVERY_ROUND(down(100));
        pthread_t thread;
        void *result;
        CHECK(pthread_create(&thread, NULL, in_thread, NULL) == 0);
        CHECK(pthread_join(thread, &result) == 0);
        SAME_EVERY_ROUND((uint64_t)result);
    }
    return 0;
}
