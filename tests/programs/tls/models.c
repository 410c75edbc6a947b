//#Variants: -O2 | -O0 | -O2 -fPIC -ftls-model=global-dynamic |
//#    -O2 -fPIC -ftls-model=local-dynamic | -O2 -ftls-model=initial-exec |
//#    -O2 -ftls-model=local-exec | -O2 -fPIC -static | -O2 -no-pie | gcc -O2 -fPIC |
//#    gcc -O2 -fPIC -mtls-dialect=gnu2 | -O2 -fPIC -mtls-dialect=gnu2 | -flto -fPIC |
//#    -O2 -fPIC -fno-plt | -O2 -fPIC -fuse-ld=bfd | gcc -O2 -fPIC -fno-plt
//#Flags: -pthread
//#With: models_other.c
//#Movable: 4
#include "../rounds.h"
#include <errno.h>
#include <pthread.h>

extern __thread long other_zeroed, other_set;
__thread long own_zeroed;
static __thread long own_static = 5;
static __thread char odd_bytes[37];
long *other_address(void);
long other_sum(long);

NOINLINE static long touch(long by)
{
    own_zeroed += by;
    own_static ^= by;
    other_zeroed += 2 * by;
    odd_bytes[by % 37]++;
    errno = (int)by;
    return own_zeroed + own_static + other_zeroed + other_set + odd_bytes[by % 37] + other_sum(by);
}

static void *thread(void *argument)
{
    long start = (long)argument, sum = 0;
    for (int i = 0; i < 2000; i++) {
        sum = (sum * 31 + touch(start + i)) % 1000003;
        CHECK(other_address() == &other_set);
        CHECK(errno == (int)(start + i));
    }
    return (void *)sum;
}

int main(void)
{
    FOR_A_WHILE
    {
        pthread_t threads[3];
        long results = 0;
        for (long i = 0; i < 3; i++)
            CHECK(pthread_create(&threads[i], NULL, thread, (void *)(i * 100)) == 0);
        for (int i = 0; i < 3; i++) {
            void *result;
            pthread_join(threads[i], &result);
            results = results * 7 + (long)result;
        }
        SAME_EVERY_ROUND(results);
    }
    return 0;
}
