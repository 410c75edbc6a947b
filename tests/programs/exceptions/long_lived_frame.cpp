//#Variants: -O2 | gcc -O2 | -O2 -static | -O2 -lunwind
/* The frame that catches was entered in the first epoch and stays for all of them; C code compiled
 * with unwind tables lies between. */
#include "../rounds.h"
#include <cstdlib>
#include <stdexcept>

static int rounds;
extern "C" int compare(const void *a, const void *b)
{
    if (*(const int *)a == 3)
        throw std::range_error("three");
    return *(const int *)a - *(const int *)b;
}
NOINLINE static void step(int i)
{
    if (i % 3 == 0)
        throw i;
}

int main()
{
    long caught = 0, expected = 0;
    int i = 1;
    FOR_A_WHILE
    {
        try {
            step(i);
        } catch (int value) {
            caught += value == i;
        }
        expected += i % 3 == 0;
        i++;
        int values[] = {5, 3};
        int wanted = 3;
        try {
            bsearch(&wanted, values, 2, sizeof(int), compare);
            CHECK(!"reached");
        } catch (const std::range_error &) {
        }
    }
    CHECK(caught == expected);
    puts("caught all");
    return rounds;
}
