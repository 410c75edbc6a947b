//#Variants: -O2 -fbasic-block-sections=all | -O1 -fbasic-block-sections=all -no-pie -fno-pic |
//#    -O2 -fbasic-block-sections=all -fuse-ld=bfd |
//#    -O2 -fbasic-block-sections=all -fuse-ld=lld -Wl,--optimize-bb-jumps
/* Functions whose blocks lie in sections and under symbols of their own, entered with the frame
 * taken: by a computed goto, by a switch, by branches, and after an early way out that takes no
 * frame. */
#include "../rounds.h"
#include <string.h>

NOINLINE static long helper(long x) { return (x * 31 + 7) % 65521; }

NOINLINE static void note(char *text, size_t bytes, long value)
{
    snprintf(text, bytes, "%ld", value);
}

NOINLINE static long by_labels(const unsigned char *code, long rounds)
{
    static void *const labels[] = {&&add, &&call, &&twice, &&flip, &&back, &&end};
    const unsigned char *pc = code;
    char text[24];
    long value = 1;
#define NEXT goto *labels[*pc++]
    NEXT;
add: value += 3; NEXT;
call: value = helper(value); NEXT;
twice: value = value * 2 % 1000003; NEXT;
flip: value ^= 0x3f; NEXT;
back: if (--rounds) pc = code; NEXT;
end: note(text, sizeof text, value); return value + (long)strlen(text);
}

NOINLINE static long by_cases(int which, long value)
{
    char text[40];
    if (value < 0)
        return -1;
    switch (which) {
    case 0: note(text, sizeof text, value + 1); break;
    case 1: note(text, sizeof text, helper(value)); break;
    case 2: return helper(value) + 2;
    case 3: note(text, 4, value); break;
    case 4: note(text, sizeof text, value * 7); value++; break;
    case 5: return helper(helper(value));
    case 6: memset(text, 'a', 9), text[9] = 0; break;
    default: return which;
    }
    return value + (long)strlen(text);
}

NOINLINE static long by_branches(long value, const char *name)
{
    char text[32];
    if (!name)
        return value;
    if (value > 1000) {
        note(text, sizeof text, value);
        return (long)strlen(text);
    }
    for (int i = 0; i < 3; i++)
        if (name[i] == 'x')
            value = helper(value) + i;
    snprintf(text, sizeof text, "%s%ld", name, value);
    return (long)strlen(text) * value;
}

int main(void)
{
    static const unsigned char code[] = {0, 1, 2, 3, 1, 1, 0, 2, 4, 5};
    long sum = 0;
    FOR_A_WHILE
    {
        CHECK(by_labels(code, 7) == by_labels(code, 7));
        for (int i = -1; i < 9; i++) {
            CHECK(by_cases(i, 5) == by_cases(i, 5));
            CHECK(by_cases(i, -5) == -1);
        }
        CHECK(by_branches(4, "axb") == by_branches(4, "axb"));
    }
    for (int i = 0; i < 8; i++)
        sum += by_labels(code, i + 1) * (i + 3) + by_cases(i, 100 + i) * 17;
    printf("%ld %ld %ld %ld\n", sum, by_branches(4, "xyx"), by_branches(5000, ""),
           by_branches(3, 0));
    return 0;
}
