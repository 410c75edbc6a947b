//#Variants: -O2 | -O0 | -O2 -no-pie | -O2 -fPIC | -static | gcc -O2 | gcc -O2 -no-pie |
//#    gcc -O2 -fPIC
/* Computed goto through a constant array of labels, in one frame over many epochs. */
#include "../rounds.h"

NOINLINE static long helper(long x) { return (x * 31 + 7) % 65521; }

NOINLINE static long run(const unsigned char *code, long rounds)
{
    static const void *const labels[] = {&&add, &&call, &&twice, &&flip, &&back, &&end};
    const unsigned char *pc = code;
    long value = 1;
#define NEXT goto *labels[*pc++]
    NEXT;
add: value += 3; NEXT;
call: value = helper(value); NEXT;
twice: value = value * 2 % 1000003; NEXT;
flip: value ^= 0x3f; NEXT;
back: if (--rounds) pc = code; NEXT;
end: return value;
}

int main(void)
{
    static const unsigned char code[] = {0, 1, 2, 3, 1, 1, 0, 2, 4, 5};
    for (int i = 0; i < 4; i++)
        printf("%ld\n", run(code, 700000 + i));
    return 0;
}
