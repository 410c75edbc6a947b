//#Variants: -O2 | -O0 | -static -O2 | gcc -O2
//#Movable: 4
/* The C library calls back: qsort, bsearch, tsearch, atexit. */
#define _GNU_SOURCE
#include "../rounds.h"
#include <search.h>
#include <string.h>

static int ascending(const void *a, const void *b)
{
    int x = *(const int *)a, y = *(const int *)b;
    return (x > y) - (x < y);
}
static int descending(const void *a, const void *b) { return ascending(b, a); }
static int by_last_digit(const void *a, const void *b)
{
    int difference = *(const int *)a % 10 - *(const int *)b % 10;
    return difference ? difference : ascending(a, b);
}
static uint64_t visited;
static void visit(const void *node, VISIT kind, int level)
{
    if (kind == leaf || kind == postorder)
        visited = visited * 31 + (unsigned)**(int *const *)node;
    (void)level;
}
static void nothing(void *node) { (void)node; }
static void last(void) { puts("atexit ran"); }

static uint64_t hash(const int *values, int count)
{
    uint64_t sum = 0;
    for (int i = 0; i < count; i++)
        sum = sum * 31 + (unsigned)values[i];
    return sum;
}

int main(void)
{
    enum { COUNT = 500 };
    static int values[COUNT];
    int (*orders[])(const void *, const void *) = {ascending, descending, by_last_digit};
    atexit(last);
    FOR_A_WHILE
    {
        unsigned x = 1;
        for (int i = 0; i < COUNT; i++)
            values[i] = (int)((x = x * 1103515245 + 12345) >> 16 & 0x7fff);
        uint64_t all = 0;
        for (int i = 0; i < 3; i++) {
            qsort(values, COUNT, sizeof *values, orders[i]);
            all = all * 7 + hash(values, COUNT);
        }
        SAME_EVERY_ROUND(all);
        qsort(values, COUNT, sizeof *values, ascending);
        int key = values[77];
        CHECK(bsearch(&key, values, COUNT, sizeof *values, ascending) != NULL);
        void *root = NULL;
        for (int i = 0; i < 50; i++)
            tsearch(&values[i * 10], &root, descending);
        visited = 0;
        twalk(root, visit);
        SAME_EVERY_ROUND(visited);
        tdestroy(root, nothing);
    }
    return 0;
}
