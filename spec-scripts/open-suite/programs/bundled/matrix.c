/* Floating-point work without calls in the inner loop: where the placement of a
 * loop matters and the number of calls does not. */
#include "bundled.h"

#include <string.h>

enum { N = 64 };

typedef double matrix[N][N];

static void fill(matrix a, uint32_t *random)
{
    for (size_t i = 0; i < N; i++)
        for (size_t j = 0; j < N; j++)
            a[i][j] = (double)(next_random(random) % 1000) / 1000.0;
}

static void multiply(matrix result, matrix a, matrix b)
{
    memset(result, 0, sizeof(matrix));
    for (size_t i = 0; i < N; i++)
        for (size_t k = 0; k < N; k++)
            for (size_t j = 0; j < N; j++)
                result[i][j] += a[i][k] * b[k][j];
}

static double smooth(matrix a)
{
    double largest = 0;
    for (size_t i = 1; i + 1 < N; i++) {
        for (size_t j = 1; j + 1 < N; j++) {
            a[i][j] = 0.25 * (a[i - 1][j] + a[i + 1][j] + a[i][j - 1] + a[i][j + 1]);
            if (a[i][j] > largest)
                largest = a[i][j];
        }
    }
    return largest;
}

uint64_t run_matrix(unsigned rounds)
{
    static matrix a, b, c;
    uint32_t random = 99;
    double sum = 0;
    for (unsigned round = 0; round < rounds * 6; round++) {
        fill(a, &random);
        fill(b, &random);
        multiply(c, a, b);
        for (unsigned i = 0; i < 20; i++)
            sum += smooth(c);
    }
    /* Rounded: compilers may order the additions differently. */
    return (uint64_t)(sum / 1000.0 + 0.5);
}
