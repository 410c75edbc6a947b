//#Variants: -O2 | -O1 -fno-omit-frame-pointer | gcc -O2 | -O3 -fno-pie -no-pie | -O2 then-strip
//#Movable: 4
//#Epochs: 5
/* A function that runs on over many epochs: its calls lead straight to the newest copy of what it
 * calls, where their displacements lie in one aligned word. */
#include "../rounds.h"
#include <string.h>

enum { DISPLACEMENT_BYTES = 4, WORD_BYTES = 8, LEAF_BYTES = 512 };

static uint64_t could_change, straight;

/* Where the function was called; of what szc compiles, __builtin_return_address tells of the
 * original. */
#ifdef __clang__
#define RETURN_ADDRESS() (((uintptr_t *)__builtin_frame_address(0))[1])
#else
#define RETURN_ADDRESS() ((uintptr_t)__builtin_return_address(0))
#endif
NOINLINE uintptr_t here(void) { return RETURN_ADDRESS(); }

NOINLINE uint64_t leaf(uint64_t value)
{
    const unsigned char *displacement =
        (const unsigned char *)RETURN_ADDRESS() - DISPLACEMENT_BYTES;
    int32_t distance;
    memcpy(&distance, displacement, sizeof distance);
    uintptr_t target = (uintptr_t)displacement + DISPLACEMENT_BYTES + (uintptr_t)(intptr_t)distance;
    if ((uintptr_t)displacement % WORD_BYTES + DISPLACEMENT_BYTES <= WORD_BYTES) {
        could_change++;
        straight += here() - target < LEAF_BYTES;
    }
    return value * 3 + 1;
}

#define CALL value = leaf(value);
#define CALLS CALL CALL CALL CALL CALL CALL CALL CALL

NOINLINE uint64_t loop(uint64_t value)
{
    FOR_A_WHILE
    {
        CALLS
        value ^= value >> 7;
        CALLS
    }
    return value;
}

int main(void)
{
    CHECK(loop(1) != 0);
    CHECK(could_change > 0);
    /* One call may come in between a layout that begins and the change of its displacement. */
    CHECK(straight >= could_change - could_change / 10);
    puts("straight");
    return 0;
}
