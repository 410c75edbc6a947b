//#Variants: -O2 | -O0 | -static | gcc -O2
//#Movable: 6
/* Vectors as arguments and results of first calls, as wide as the processor has them. */
#include "../rounds.h"
#include <immintrin.h>
#include <stdarg.h>

NOINLINE static __m128 add4(__m128 a, __m128 b, __m128 c, __m128 d)
{
    return _mm_add_ps(_mm_mul_ps(a, b), _mm_sub_ps(c, d));
}
__attribute__((target("avx2"), noinline)) static __m256i add8(__m256i a, __m256i b, __m256i c)
{
    return _mm256_add_epi32(_mm256_xor_si256(a, b), c);
}
__attribute__((target("avx2"), noinline)) static uint64_t wide(int n)
{
    __m256i a = _mm256_set1_epi32(n), b = _mm256_set_epi32(1, 2, 3, 4, 5, 6, 7, 8);
    __m256i live = _mm256_slli_epi32(b, 3);
    a = add8(a, b, live);
    a = add8(a, live, b);
    int out[8];
    _mm256_storeu_si256((__m256i *)out, a);
    uint64_t sum = 0;
    for (int i = 0; i < 8; i++)
        sum = sum * 31 + (unsigned)out[i];
    return sum;
}
NOINLINE static long double longer(long double a, double b, long double c) { return a * b + c; }
NOINLINE static double sum_of(int n, ...)
{
    va_list list;
    va_start(list, n);
    double sum = 0;
    for (int i = 0; i < n; i++)
        sum = sum * 2 + va_arg(list, double);
    sum += (double)va_arg(list, long double);
    va_end(list);
    return sum;
}

int main(void)
{
    __builtin_cpu_init();
    FOR_A_WHILE
    {
        float out[4];
        _mm_storeu_ps(out,
                      add4(_mm_set1_ps(2), _mm_set_ps(1, 2, 3, 4), _mm_set1_ps(9), _mm_set1_ps(5)));
        SAME_EVERY_ROUND(out[0] + 10 * out[1] + 100 * out[2] + 1000 * out[3]);
        uint64_t eight = __builtin_cpu_supports("avx2") ? wide(5) : 0;
        SAME_EVERY_ROUND(eight);
        SAME_EVERY_ROUND(longer(1e15L, 3.5, 0.5L) * 2);
        SAME_EVERY_ROUND(1e3 * sum_of(9, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 0.125L));
    }
    return 0;
}
