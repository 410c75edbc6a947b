//#Variants: -O2 | -O2 -no-pie | -static | gcc -O2
//#With: kept.s
//#Movable: 30
/* A call that finds its target only now changes nothing that an ordinary call leaves alone: no
 * register whatever the calling convention, no flag, no upper part of a vector, nothing in the red
 * zone. */
#include "../rounds.h"
#include <string.h>
#include <xmmintrin.h>

enum { NOTHINGS = 16, HALVES = 8, GENERAL = 15 };
_Alignas(64) uint64_t before[GENERAL], after[GENERAL], before_flags, after_flags, before_masks[2],
    after_masks[2];
_Alignas(64) unsigned char before_vectors[32 * 64], after_vectors[32 * 64];
double after_x87[2];
extern uint64_t stack;
extern void (*nothings[NOTHINGS])(void);
extern uint64_t (*first_halves[HALVES])(uint64_t, uint64_t);
void call_with_sse(void (*)(void)), call_with_avx(void (*)(void)), call_with_avx512(void (*)(void));

static uint64_t random_state = 12345;
static uint64_t next_random(void)
{
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return random_state ^ random_state >> 29;
}

static void check(void (*call)(void (*)(void)), size_t bytes, size_t count, void (*callee)(void))
{
    /* Carry, parity, adjust, zero, sign, overflow. */
    const uint64_t flags = 0x8d5;
    for (int i = 0; i < GENERAL; i++)
        before[i] = next_random();
    for (size_t i = 0; i < sizeof before_vectors; i++)
        before_vectors[i] = (unsigned char)(next_random() >> 24);
    before_masks[0] = next_random();
    before_masks[1] = next_random();
    before_flags = (next_random() & flags) | 0x202;
    unsigned rounding = (unsigned)next_random() & _MM_ROUND_MASK;
    _MM_SET_ROUNDING_MODE(rounding);
    call(callee);
    CHECK(_MM_GET_ROUNDING_MODE() == rounding);
    _MM_SET_ROUNDING_MODE(_MM_ROUND_NEAREST);
    CHECK(stack == 0);
    CHECK(memcmp(before, after, sizeof before) == 0);
    CHECK(((before_flags ^ after_flags) & flags) == 0);
    for (size_t i = 0; i < count; i++)
        CHECK(memcmp(before_vectors + i * 64, after_vectors + i * 64, bytes) == 0);
    if (bytes == 64)
        CHECK(memcmp(before_masks, after_masks, sizeof before_masks) == 0);
    CHECK(after_x87[0] == 1.0 && after_x87[1] > 3.14159 && after_x87[1] < 3.1416);
}

int main(void)
{
    __builtin_cpu_init();
    unsigned first = 0;
    FOR_A_WHILE
    {
        first++;
        for (unsigned i = 0; i < NOTHINGS; i++) {
            void (*callee)(void) = nothings[(first + i) % NOTHINGS];
            unsigned kind = (first + i / 3) % 3;
            if (kind == 2 && __builtin_cpu_supports("avx512bw"))
                check(call_with_avx512, 64, 32, callee);
            else if (kind == 1 && __builtin_cpu_supports("avx"))
                check(call_with_avx, 32, 16, callee);
            else
                check(call_with_sse, 16, 16, callee);
        }
        for (unsigned i = 0; i < HALVES; i++)
            SAME_EVERY_ROUND(first_halves[(first + i) % HALVES](77, 1));
    }
    puts("all kept");
    return 0;
}
