//#Variants: -O2 | -O0 | -O2 -no-pie | gcc -O2 | gcc -O2 -no-pie
/* The array of labels can be written to, and is. */
#include "../rounds.h"

NOINLINE static long helper(long x) { return (x * 31 + 7) % 65521; }

NOINLINE static long run(const unsigned char *code, long rounds, int change)
{
    static void *labels[] = {&&add, &&call, &&twice, &&back, &&end};
    if (change) {
        void *first = labels[0];
        labels[0] = labels[2];
        labels[2] = first;
    }
    const unsigned char *pc = code;
    long value = 1;
    goto *labels[*pc++];
add: value += 3; goto *labels[*pc++];
call: value = helper(value); goto *labels[*pc++];
twice: value = value * 2 % 1000003; goto *labels[*pc++];
back: if (--rounds) pc = code; goto *labels[*pc++];
end: return value;
}

int main(void)
{
    static const unsigned char code[] = {0, 1, 2, 1, 0, 2, 2, 3, 4};
    for (int i = 0; i < 6; i++)
        printf("%ld\n", run(code, 400000, i % 3 == 2));
    return 0;
}
