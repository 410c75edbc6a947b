//#Variants: gcc -O2 | gcc -O3 -no-pie | gcc -O2 -fPIC | -O2 | gcc -O2 -static
//#Movable: 2
/* gcc moves unlikely cases to a `.cold` part: a jump table of one function leads into another one,
 * and both jump into one another's middle. */
#include "../rounds.h"

static uint64_t complaints;
__attribute__((cold, noinline)) static uint64_t complain(int what, uint64_t value)
{
    complaints += (unsigned)what;
    return value ^ 0x5555;
}
NOINLINE static uint64_t work(uint64_t value) { return value * 6364136223846793005u + 1; }

NOINLINE static uint64_t run(const unsigned char *code, int length)
{
    uint64_t value = 1;
    for (int i = 0; i < length; i++) {
        switch (code[i]) {
        case 0: value += 3; break;
        case 1: value = work(value); break;
        case 2: value = complain(2, value); value = work(value) + 1; break;
        case 3: value ^= value >> 9; break;
        case 4: value = complain(4, value); break;
        case 5: value -= 77; break;
        case 6:
            if (__builtin_expect((value & 0xff) == 3, 0)) {
                value = complain(6, value);
                goto again;
            }
            value++;
            break;
        case 7: value = work(value) ^ work(value + 1); break;
        case 8: value = complain(8, value) * 3; break;
        default: again: value = value << 5 | value >> 59;
        }
    }
    return value;
}

int main(void)
{
    static unsigned char code[3000];
    for (unsigned i = 0; i < sizeof code; i++)
        code[i] = (unsigned char)((i * 2654435761u >> 11) % 10);
    FOR_A_WHILE
    {
        complaints = 0;
        SAME_EVERY_ROUND(run(code, sizeof code));
        SAME_EVERY_ROUND(complaints);
    }
    return 0;
}
