/* Three sorts of the same numbers through function pointers; they must agree. */
#include "bundled.h"

#include <stdlib.h>
#include <string.h>

enum { COUNT = 8000 };

typedef int comparison(const void *, const void *);

static int ascending(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

static int descending(const void *a, const void *b)
{
    return ascending(b, a);
}

static void sift_down(uint32_t *values, size_t start, size_t end, comparison *compare)
{
    for (size_t child; (child = 2 * start + 1) < end; start = child) {
        if (child + 1 < end && compare(&values[child], &values[child + 1]) < 0)
            child++;
        if (compare(&values[start], &values[child]) >= 0)
            return;
        uint32_t swapped = values[start];
        values[start] = values[child];
        values[child] = swapped;
    }
}

static void heap_sort(uint32_t *values, size_t count, comparison *compare)
{
    for (size_t i = count / 2; i-- > 0;)
        sift_down(values, i, count, compare);
    for (size_t end = count; end-- > 1;) {
        uint32_t largest = values[0];
        values[0] = values[end];
        values[end] = largest;
        sift_down(values, 0, end, compare);
    }
}

static void merge_sort(uint32_t *values, uint32_t *spare, size_t count, comparison *compare)
{
    size_t half = count / 2, left = 0, right = half;
    if (count < 2)
        return;
    merge_sort(values, spare, half, compare);
    merge_sort(values + half, spare, count - half, compare);
    for (size_t i = 0; i < count; i++) {
        if (right == count || (left < half && compare(&values[left], &values[right]) <= 0))
            spare[i] = values[left++];
        else
            spare[i] = values[right++];
    }
    memcpy(values, spare, count * sizeof *values);
}

uint64_t run_sorting(unsigned rounds)
{
    static uint32_t input[COUNT], first[COUNT], second[COUNT], third[COUNT], spare[COUNT];
    uint32_t random = 12345;
    uint64_t sum = 0;
    for (unsigned round = 0; round < rounds; round++) {
        comparison *compare = round % 2 ? ascending : descending;
        for (size_t i = 0; i < COUNT; i++)
            input[i] = next_random(&random) % 100000;
        memcpy(first, input, sizeof input);
        memcpy(second, input, sizeof input);
        memcpy(third, input, sizeof input);
        qsort(first, COUNT, sizeof *first, compare);
        heap_sort(second, COUNT, compare);
        merge_sort(third, spare, COUNT, compare);
        if (memcmp(first, second, sizeof first) || memcmp(first, third, sizeof first))
            return 0;
        sum += first[round % COUNT] + (uint64_t)first[COUNT / 2] * round;
    }
    return sum;
}
