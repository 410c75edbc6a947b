//#Variants: -O2
//#Movable: 40
/* Children that end soon, one after the other: what their parent and they call for the first time,
 * while they are there and when they have ended; one whose child outlives it, and one that lives on
 * for long. */
#include "../rounds.h"
#include <sys/wait.h>
#include <unistd.h>

#define FUNCTION(n)                                                                                \
    NOINLINE static uint64_t f##n(uint64_t x)                                                      \
    {                                                                                              \
        __asm__ volatile("" : "+r"(x));                                                            \
        return x * (6364136223846793005u + n) + n;                                                 \
    }
#define FOUR(n) FUNCTION(n##0) FUNCTION(n##1) FUNCTION(n##2) FUNCTION(n##3)
FOUR(1) FOUR(2) FOUR(3) FOUR(4) FOUR(5) FOUR(6) FOUR(7) FOUR(8) FOUR(9)
#define NAMES(n) f##n##0, f##n##1, f##n##2, f##n##3
static uint64_t (*const volatile all[])(uint64_t) = {NAMES(1), NAMES(2), NAMES(3),
                                                     NAMES(4), NAMES(5), NAMES(6),
                                                     NAMES(7), NAMES(8), NAMES(9)};
enum { COUNT = sizeof all / sizeof *all };

/* Directly, so that a copy's own calls are seen, too. */
NOINLINE static uint64_t directly(uint64_t x)
{
    return f10(x) ^ f20(x) ^ f30(x) ^ f40(x) ^ f50(x) ^ f60(x) ^ f70(x) ^ f80(x) ^ f90(x);
}

NOINLINE static uint64_t some(unsigned first, unsigned count)
{
    uint64_t sum = 0;
    for (unsigned i = first; i < first + count; i++)
        sum = sum * 31 + all[i % COUNT](i) + directly(i);
    return sum;
}

/* What `some` gives, without a call. */
static uint64_t expected(unsigned first, unsigned count)
{
    uint64_t sum = 0;
    for (unsigned i = first; i < first + count; i++) {
        unsigned k = i % COUNT, n = (k / 4 + 1) * 10 + k % 4;
        uint64_t direct = 0;
        for (unsigned d = 10; d <= 90; d += 10)
            direct ^= (uint64_t)i * (6364136223846793005u + d) + d;
        sum = sum * 31 + (uint64_t)i * (6364136223846793005u + n) + n + direct;
    }
    return sum;
}

NOINLINE static int is_right(unsigned first, unsigned count)
{
    return some(first, count) == expected(first, count);
}

static void ends_well(pid_t child)
{
    int status;
    CHECK(child > 0 && waitpid(child, &status, 0) == child && status == 0);
}

int main(void)
{
    for (unsigned round = 0; round < 40; round++) {
        pid_t child = fork();
        if (child == 0)
            _exit(!is_right(round, 3));
        CHECK(is_right(round + 7, 2));
        ends_well(child);
        CHECK(is_right(round + 13, 2));
    }
    int ends[2], outlives = 0;
    CHECK(pipe(ends) == 0);
    pid_t child = fork();
    if (child == 0) {
        if (fork() == 0) {
            int right = 1;
            FOR_MS(60) right &= is_right(5, 9);
            _exit(write(ends[1], &right, sizeof right) != sizeof right);
        }
        _exit(0);
    }
    ends_well(child);
    FOR_MS(60) CHECK(is_right(0, COUNT));
    CHECK(read(ends[0], &outlives, sizeof outlives) == sizeof outlives && outlives == 1);
    for (unsigned round = 0; round < 12; round++) {
        child = fork();
        if (child == 0) {
            FOR_MS(round == 11 ? 40 : 0)
            {
                void *volatile memory = calloc(1, 16);
                CHECK(is_right(round, COUNT) && memory != NULL);
            }
            _exit(!is_right(round, 5));
        }
        ends_well(child);
    }
    puts("all as expected");
    return 0;
}
