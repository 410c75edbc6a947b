//#Variants: -O2 -fno-pic -no-pie | -O0 -fno-pic -no-pie | -O2 | gcc -O2 -fno-pic -no-pie |
//#    gcc -O0 -fno-pic -no-pie
/* The only reader of the array of labels translates a program once: it loads one label after the
 * other and stores them. They outlive the call, and are jumped to from frames of other copies. */
#include "../rounds.h"
#include <string.h>

NOINLINE static int sum(const char *from, int count)
{
    int result = 0;
    for (int i = 0; i < count; i++)
        result += from[i];
    return result;
}

NOINLINE static long run(const unsigned char *source, const void **code, int length)
{
    static const void *const labels[] = {&&add, &&triple, &&mix, &&end};
    if (source) {
        for (int i = 0; i < length; i++)
            code[i] = labels[source[i]];
        return 0;
    }
    char frame[64];
    memset(frame, 1, sizeof frame);
    long value = 0;
    const void **pc = code;
    goto **pc;
add: value += sum(frame, 3); goto **++pc;
triple: value *= 3; goto **++pc;
mix: value ^= sum(frame, 9); goto **++pc;
end: return value;
}

int main(void)
{
    static const unsigned char source[] = {0, 1, 2, 0, 2, 1, 1, 3};
    const void *code[sizeof source];
    run(source, code, sizeof source);
    FOR_A_WHILE
    {
        SAME_EVERY_ROUND(run(NULL, code, 0));
    }
    return 0;
}
