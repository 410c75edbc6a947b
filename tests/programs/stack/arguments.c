//#Variants: -O2 | -O0 | -O1 | -O3 -fno-omit-frame-pointer | -Os | -O2 -fstack-protector-all |
//#    -O2 -fno-pie -no-pie
//#Movable: 7
// Arguments on the stack lie above the frame, wherever that begins.
#include "../rounds.h"
#include <stdarg.h>
#include <string.h>

typedef long double extended;

NOINLINE static uint64_t mixed(uint64_t value)
{
    __asm__ volatile("" : "+r"(value));
    return value * 6364136223846793005u + 1442695040888963407u;
}

NOINLINE static uint64_t integers(uint64_t a, uint64_t b, uint64_t c, uint64_t d, uint64_t e,
                                  uint64_t f, uint64_t g, uint32_t h, uint8_t i)
{
    uint64_t sum = mixed(a + 3 * g);
    return sum ^ mixed(b + c * h) ^ mixed(d + e * i) ^ f;
}

NOINLINE static uint64_t recursion(uint64_t depth, uint64_t b, uint64_t c, uint64_t d, uint64_t e,
                                   uint64_t f, uint64_t g, uint64_t h)
{
    if (depth == 0)
        return g ^ h;
    uint64_t below = recursion(depth - 1, c, d, e, f, b, h + depth, mixed(g));
    return below + 5 * g + h;
}

NOINLINE static extended numbers(double a, double b, double c, double d, double e, double f,
                                 double g, double h, double i, extended j, double k)
{
    extended sum = mixed((uint64_t)(a + i)) % 1000;
    return sum + b * c + d * e + f * g + h * i + j * k;
}

// The variable that an argument is stored to may be the argument itself.
NOINLINE static uint64_t changed(uint64_t *at)
{
    *at = mixed(*at);
    return *at;
}
NOINLINE static uint64_t kept(uint64_t a, uint64_t b, uint64_t c, uint64_t d, uint64_t e,
                              uint64_t f, uint64_t g)
{
    uint64_t first = changed(&g);
    return first + mixed(a + b + c + d + e + f + g);
}

struct large {
    uint64_t words[9];
};
NOINLINE static uint64_t by_value(struct large value, uint64_t index)
{
    uint64_t word = mixed(value.words[index % 9]);
    value.words[2] += word;
    return changed(&value.words[2]) + value.words[index % 9];
}

NOINLINE static uint64_t any_number(int count, ...)
{
    va_list all;
    va_start(all, count);
    uint64_t sum = 0;
    for (int i = 0; i < count; i++)
        sum = mixed(sum + va_arg(all, uint64_t));
    va_end(all);
    return sum;
}

// Ends in a jump, for which it writes the arguments that it was called with.
NOINLINE static uint64_t in_turn(uint64_t left, uint64_t b, uint64_t c, uint64_t d, uint64_t e,
                                 uint64_t f, uint64_t g, uint64_t h)
{
    if (left == 0)
        return g + 2 * h;
    uint64_t value = mixed(g + h);
    return in_turn(left - 1, c, d, e, f, b, value, value ^ g);
}

int main(void)
{
    FOR_A_WHILE
    {
        SAME_EVERY_ROUND(integers(1, 2, 3, 4, 5, 6, 7, 8, 9));
        SAME_EVERY_ROUND(recursion(100, 2, 3, 4, 5, 6, 7, 8));
        SAME_EVERY_ROUND((uint64_t)(1000 * numbers(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11)));
        SAME_EVERY_ROUND(kept(1, 2, 3, 4, 5, 6, 7));
        struct large large = {{1, 2, 3, 4, 5, 6, 7, 8, 9}};
        SAME_EVERY_ROUND(by_value(large, 2) + by_value(large, 5));
        SAME_EVERY_ROUND(any_number(9, (uint64_t)1, (uint64_t)2, (uint64_t)3, (uint64_t)4,
                                    (uint64_t)5, (uint64_t)6, (uint64_t)7, (uint64_t)8,
                                    (uint64_t)9));
        SAME_EVERY_ROUND(in_turn(30, 2, 3, 4, 5, 6, 7, 8));
    }
    return 0;
}
