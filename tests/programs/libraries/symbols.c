//#Variants: -O2 | gcc -O2 | -O2 -Wl,--export-dynamic
//#Library: symbols_a.c -Wl,--version-script=$HERE/symbols.map
//#Attached: 1
/* Symbols that mean something else than their own definition: interposed, versioned, weak, aliases,
 * chosen by an ifunc, protected, from the section of the user's choice. */
#define _GNU_SOURCE
#include "../rounds.h"
#include <dlfcn.h>

int interposed(int x);
int calls_interposed(int x);
int calls_protected(int x);
int weak_here(int x) __attribute__((weak));
int missing(int x) __attribute__((weak));
int alias_of_chosen(int x);
int chosen(int x);
int in_section(int x);
int tiny(void);
int data_behind(int);
extern int (*const pointers[4])(int);

NOINLINE int interposed(int x)
{
    return x + 1000;
}
NOINLINE int kept(int x)
{
    return x + 2000;
}

int main(void)
{
    int (*old)(int) = (int (*)(int))dlvsym(RTLD_DEFAULT, "versioned", "OLD");
    int (*new)(int) = (int (*)(int))dlvsym(RTLD_DEFAULT, "versioned", "NEW");
    CHECK(old != NULL && new != NULL && old != new);
    CHECK(missing == NULL);
    CHECK(pointers[0] == chosen && pointers[1] == interposed);
    FOR_A_WHILE
    {
        SAME_EVERY_ROUND(calls_interposed(1));
        SAME_EVERY_ROUND(calls_protected(1));
        SAME_EVERY_ROUND(weak_here(3));
        SAME_EVERY_ROUND(old(1) * 100 + new(1));
        SAME_EVERY_ROUND(alias_of_chosen(5) * 100 + chosen(5));
        SAME_EVERY_ROUND(in_section(7) + tiny());
        uint64_t sum = 0;
        for (int i = 0; i < 4; i++)
            sum = sum * 9 + (uint64_t)pointers[i](i);
        SAME_EVERY_ROUND(sum);
    }
    return 0;
}
