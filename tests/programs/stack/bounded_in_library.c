//#Library: bounded_in_library_a.c
/* A library that bounds its own recursion, as an interpreter that programs link does. */
#include "../rounds.h"

int levels_of(int levels, const char *base, long bytes);

NOINLINE static int called(void)
{
    char here;
    int found = levels_of(1000, &here, 160 * 1024);
    CHECK(levels_of(4000, &here, 160 * 1024) < 0);
    return found;
}

int main(void)
{
    FOR_A_WHILE
    {
        SAME_EVERY_ROUND(called());
    }
    return 0;
}
