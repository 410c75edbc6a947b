//#Variants: -O2 | -O0 | -O2 -mavx2 | gcc -O2 -no-pie
/* A first call passes through the resolver: no register that carries an argument or a result and no
 * flag of the caller may change, nor may errno. */
#include "../rounds.h"
#include <errno.h>
#include <stdarg.h>

struct pair { double a; long b; };
struct big { long values[12]; };

NOINLINE double many(long a, double p, long b, double q, long c, double r, long d, double s, long e,
                     double t, long f, double u, long g, double v, long h, double w)
{
    return a + 2 * b + 3 * c + 4 * d + 5 * e + 6 * f + 7 * g + 8 * h + p / 2 + q / 3 + r / 4 +
           s / 5 + t / 6 + u / 7 + v / 8 + w / 9;
}
NOINLINE struct pair swap(struct pair x)
{
    struct pair y = {(double)x.b, (long)x.a};
    return y;
}
NOINLINE struct big shift(struct big x, long by)
{
    for (int i = 0; i < 12; i++)
        x.values[i] += by * i;
    return x;
}
NOINLINE double total(const char *kinds, ...)
{
    va_list list;
    va_start(list, kinds);
    double sum = 0;
    for (; *kinds; kinds++) {
        if (*kinds == 'd')
            sum += va_arg(list, double);
        else if (*kinds == 'i')
            sum += va_arg(list, int);
        else
            sum += (double)va_arg(list, struct big).values[11];
    }
    va_end(list);
    return sum;
}
NOINLINE long double extended(long double x, long double y) { return x * y - 1; }
NOINLINE __int128 wide(__int128 x) { return x * x + 1; }

int main(void)
{
    struct big big = {{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}};
    FOR_A_WHILE
    {
        errno = 1234;
        double sum = many(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16);
        struct pair pair = swap((struct pair){3.5, 17});
        struct big shifted = shift(big, 5);
        double variadic = total("didbid", 1.5, 2, 3.25, big, 4, 5.125);
        long double product = extended(1e15L, 3.0L);
        __int128 square = wide((__int128)1 << 60);
        CHECK(errno == 1234);
        SAME_EVERY_ROUND(sum * 1e6);
        SAME_EVERY_ROUND(pair.a * 1000 + pair.b);
        SAME_EVERY_ROUND(shifted.values[11]);
        SAME_EVERY_ROUND(variadic * 1000);
        SAME_EVERY_ROUND(product);
        SAME_EVERY_ROUND(square >> 64);
    }
    return 0;
}
