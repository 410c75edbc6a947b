//#Variants: -O0 | -O1 | -O2 | -O3 | -Os | -Oz | -O2 -g | -O2 -fno-omit-frame-pointer |
//#    -O2 -fstack-protector-strong | -O2 -fstack-protector-all | -O2 -fstack-clash-protection |
//#    -O0 -fstack-clash-protection | -O2 -fPIC | -O2 -no-pie -fno-pie | -O2 -flto |
//#    -O2 -flto=thin | -O2 -fcf-protection=full
//#Movable: 3
/* Frames whose size or alignment the compiler knows late, or that are large. */
#include "../rounds.h"
#include <alloca.h>
#include <stdarg.h>
#include <string.h>

NOINLINE static uint64_t sum_of(const unsigned char *bytes, size_t count)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < count; i++)
        sum = sum * 31 + bytes[i];
    __asm__ volatile("" ::: "memory");
    return sum;
}

NOINLINE static uint64_t variable_length(int count)
{
    uint64_t sum = 0;
    for (int i = 1; i <= count; i++) {
        unsigned char bytes[i * 7];
        memset(bytes, i, sizeof bytes);
        sum += sum_of(bytes, sizeof bytes);
        if (i % 3 == 0)
            continue;
        unsigned char more[i];
        memset(more, 1, sizeof more);
        sum ^= sum_of(more, sizeof more);
    }
    return sum;
}

NOINLINE static uint64_t with_alloca(int depth)
{
    unsigned char *bytes = alloca(16 + depth);
    memset(bytes, depth, 16 + depth);
    uint64_t below = depth == 0 ? 0 : with_alloca(depth - 1);
    return below * 3 + sum_of(bytes, 16 + depth);
}

/* The rest of an address that ought to be aligned, and the sum of what lies there. */
#define ALIGNED_FRAME(alignment)                                                         \
    NOINLINE static uint64_t aligned_##alignment(int value, int length)                  \
    {                                                                                    \
        _Alignas(alignment) unsigned char bytes[alignment];                              \
        unsigned char variable[length];                                                  \
        memset(bytes, value, sizeof bytes);                                              \
        memset(variable, value + 1, length);                                             \
        uint64_t rest = (uintptr_t)bytes % alignment;                                    \
        uint64_t sum = sum_of(bytes, sizeof bytes) + sum_of(variable, length);           \
        return rest ? rest : sum | 1u << 20;                                             \
    }                                                                                    \
    NOINLINE static uint64_t fixed_##alignment(int value)                                \
    {                                                                                    \
        _Alignas(alignment) unsigned char bytes[alignment];                              \
        memset(bytes, value, sizeof bytes);                                              \
        uint64_t rest = (uintptr_t)bytes % alignment;                                    \
        return rest ? rest : sum_of(bytes, sizeof bytes) | 1u << 20;                     \
    }

ALIGNED_FRAME(32)
ALIGNED_FRAME(64)
ALIGNED_FRAME(4096)

NOINLINE static uint64_t large(int value)
{
    unsigned char bytes[100 * 1024];
    memset(bytes, value, sizeof bytes);
    return sum_of(bytes, sizeof bytes);
}

struct record {
    uint64_t words[9];
};

NOINLINE static struct record returned(struct record by_value, int at)
{
    by_value.words[at] += sum_of((unsigned char *)&by_value, sizeof by_value);
    return by_value;
}

NOINLINE static uint64_t passed(struct record record)
{
    struct record result = returned(returned(record, 3), 8);
    return sum_of((unsigned char *)&result, sizeof result);
}

NOINLINE static double variadic(int count, ...)
{
    va_list arguments, again;
    va_start(arguments, count);
    va_copy(again, arguments);
    double sum = 0;
    for (int i = 0; i < count; i++)
        sum += i % 2 ? va_arg(arguments, double) : (double)va_arg(arguments, int);
    sum += (double)sum_of((unsigned char *)&count, sizeof count);
    sum += va_arg(again, int);
    va_end(again);
    va_end(arguments);
    return sum;
}

NOINLINE static uint64_t many_arguments(uint64_t a, uint64_t b, uint64_t c, uint64_t d, uint64_t e,
                                        uint64_t f, uint64_t g, uint64_t h, double x, uint64_t i)
{
    if (a == 0)
        return b + c * 2 + d * 3 + e * 4 + f * 5 + g * 6 + h * 7 + (uint64_t)x + i * 9;
    uint64_t below = many_arguments(a - 1, c, d, e, f, g, h, i, x + 1, b);
    return below + a;
}

int main(void)
{
    FOR_A_WHILE
    {
        SAME_EVERY_ROUND(variable_length(40));
        SAME_EVERY_ROUND(with_alloca(60));
        SAME_EVERY_ROUND(aligned_32(3, 5) + fixed_32(4));
        SAME_EVERY_ROUND(aligned_64(5, 700) + fixed_64(6));
        SAME_EVERY_ROUND(aligned_4096(7, 1) + fixed_4096(8));
        SAME_EVERY_ROUND(large(9));
        struct record record = {{1, 2, 3, 4, 5, 6, 7, 8, 9}};
        SAME_EVERY_ROUND(passed(record));
        SAME_EVERY_ROUND((uint64_t)variadic(9, 1, 2.5, 3, 4.5, 5, 6.5, 7, 8.5, 9));
        SAME_EVERY_ROUND(many_arguments(5, 1, 2, 3, 4, 5, 6, 7, 8.0, 9));
    }
    return 0;
}
