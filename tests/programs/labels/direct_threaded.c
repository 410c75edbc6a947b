//#Variants: -O2 | -O0 | -O2 -no-pie | gcc -O2 | gcc -O2 -no-pie | -O2 -fuse-ld=lld |
//#    -O2 -fuse-ld=lld -Wl,-O2
/* Addresses of labels are kept on the heap and outlive the call, and the copy, that gave them. */
#include "../rounds.h"

NOINLINE static long helper(long x) { return (x * 31 + 7) % 65521; }

NOINLINE static long run(const void *const **table, const void **pc, long rounds)
{
    static const void *const labels[] = {&&add, &&call, &&twice, &&back, &&end};
    if (table) {
        *table = labels;
        return 0;
    }
    const void **code = pc;
    long value = 1;
    goto **pc++;
add: value += 3; goto **pc++;
call: value = helper(value); goto **pc++;
twice: value = value * 2 % 1000003; goto **pc++;
back: if (--rounds) pc = code; goto **pc++;
end: return value;
}

int main(void)
{
    static const unsigned char source[] = {0, 1, 2, 1, 0, 2, 2, 3, 4};
    const void *const *labels;
    run(&labels, NULL, 0);
    const void **code = malloc(sizeof source * sizeof *code);
    for (unsigned i = 0; i < sizeof source; i++)
        code[i] = labels[source[i]];
    FOR_A_WHILE
    {
        SAME_EVERY_ROUND(run(NULL, code, 1000));
    }
    return 0;
}
