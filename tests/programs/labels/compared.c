//#Variants: -O2 | -O0 | gcc -O2
/* The address of a label that was kept equals the one taken later. */
#include "../rounds.h"

static const void *kept[3];

NOINLINE static int run(int which, int keep)
{
    static const void *const labels[] = {&&a, &&b, &&c};
    if (keep)
        for (int i = 0; i < 3; i++)
            kept[i] = labels[i];
    if (kept[which] != labels[which])
        return -1;
    goto *kept[which];
a: return kept[0] == &&a ? 10 : -2;
b: return kept[1] == &&b ? 20 : -2;
c: return kept[2] == &&c ? 30 : -2;
}

int main(void)
{
    run(0, 1);
    FOR_A_WHILE
    {
        for (int i = 0; i < 3; i++)
            CHECK(run(i, 0) == 10 * (i + 1));
    }
    puts("equal");
    return 0;
}
