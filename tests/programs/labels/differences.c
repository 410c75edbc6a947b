//#Variants: -O2 | -O0 | -O2 -no-pie | gcc -O2 | gcc -O2 -fPIC
/* Distances between labels instead of addresses; labels in an array on the stack. */
#include "../rounds.h"

NOINLINE static long helper(long x) { return (x * 31 + 7) % 65521; }

NOINLINE static long by_distance(const unsigned char *pc)
{
    static const int distances[] = {&&add - &&add, &&call - &&add, &&twice - &&add, &&end - &&add};
    long value = 1;
    goto *(&&add + distances[*pc++]);
add: value += 3; goto *(&&add + distances[*pc++]);
call: value = helper(value); goto *(&&add + distances[*pc++]);
twice: value = value * 2 % 1000003; goto *(&&add + distances[*pc++]);
end: return value;
}

NOINLINE static long by_stack(const unsigned char *pc)
{
    void *labels[] = {&&add, &&call, &&twice, &&end};
    long value = 5;
    goto *labels[*pc++];
add: value += 3; goto *labels[*pc++];
call: value = helper(value); goto *labels[*pc++];
twice: value = value * 2 % 1000003; goto *labels[*pc++];
end: return value;
}

int main(void)
{
    static const unsigned char code[] = {0, 1, 2, 1, 0, 2, 2, 1, 1, 3};
    FOR_A_WHILE
    {
        SAME_EVERY_ROUND(by_distance(code));
        SAME_EVERY_ROUND(by_stack(code));
    }
    return 0;
}
