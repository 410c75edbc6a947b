//#Variants: gcc -O2 | gcc -O3 -fno-pie -no-pie
//#Movable: 4
/* gcc moves the cold half of a leaf function away. The hot half jumps there with its data in the
 * red zone below the stack pointer. */
#include "../rounds.h"

__attribute__((cold, noipa)) uint64_t seldom(uint64_t x) { return x ^ x >> 7; }
#define LEAF(name, factor)                                                                         \
    __attribute__((noipa)) uint64_t name(uint64_t x, uint64_t y)                                   \
    {                                                                                              \
        volatile uint64_t kept[8];                                                                 \
        for (int i = 0; i < 8; i++)                                                                \
            kept[i] = x * (uint64_t)(i + factor);                                                  \
        if (y & 1) {                                                                               \
            uint64_t sum = y;                                                                      \
            for (int i = 0; i < 8; i++)                                                            \
                sum = sum * 31 + kept[i];                                                          \
            return seldom(sum);                                                                    \
        }                                                                                          \
        return kept[y & 7];                                                                        \
    }
LEAF(one, 3)
LEAF(two, 5)

int main(void)
{
    FOR_A_WHILE
    {
        SAME_EVERY_ROUND(one(7, 2) + one(7, 3));
        SAME_EVERY_ROUND(two(8, 2) + two(8, 5));
    }
    return 0;
}
