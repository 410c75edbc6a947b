/* The other module of options.c. */
#include "options.h"

static double add(double a, double b) { return a + b; }
static double multiply(double a, double b) { return a * b; }
static double divide(double a, double b) { return a / b; }
static operation *const operations[] = {add, multiply, divide};
static const char *const names[] = {"add", "multiply", "divide"};

NOINLINE uint64_t other_mix(uint64_t x, int by)
{
    return (x ^ x >> 31) * 0xbf58476d1ce4e5b9u + (unsigned)by;
}
NOINLINE uint64_t other_recursive(unsigned n)
{
    return n < 2 ? n : other_recursive(n - 1) + other_recursive(n - 2);
}
operation *other_operation(int which) { return operations[which]; }
const char *other_name(operation *wanted)
{
    for (int i = 0; i < 3; i++)
        if (operations[i] == wanted)
            return names[i];
    return "?";
}
