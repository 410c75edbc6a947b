//#Variants: -O2 | -O0 | -Os | -O2 -no-pie | -O0 -no-pie | -O2 -fPIC | -static | -flto | gcc -O2 |
//#    gcc -O0 | gcc -O2 -no-pie | gcc -Os | -O2 -fuse-ld=lld -Wa,--crel,--allow-experimental-crel
//#Movable: 2
#include "../rounds.h"

NOINLINE static int work(int x) { return x * 7 + 3; }

NOINLINE static int dense(int kind, int x)
{
    switch (kind) {
    case 0: return x + 1;
    case 1: return work(x) - 5;
    case 2: return x * x;
    case 3: return work(work(x));
    case 4: return x ^ 0x55;
    case 5: return work(-x);
    case 6: return x / 3;
    case 7: return 9;
    case 8: return work(x + 100) % 17;
    case 9: return ~x;
    case 12: return x << 2;
    default: return -1;
    }
}

/* Two tables in one function, one inside the other, and a loop head in the first bytes. */
NOINLINE static unsigned machine(const unsigned char *code, unsigned length, unsigned value)
{
    for (unsigned i = 0; i < length; i++) {
        switch (code[i] % 8) {
        case 0: value += 3; break;
        case 1: value *= 5; break;
        case 2:
            switch (value % 7) {
            case 0: value += 11; break;
            case 1: value = (unsigned)work((int)value); break;
            case 2: value ^= 0xff; break;
            case 3: value -= 4; break;
            case 4: value = value << 1 | value >> 31; break;
            case 5: value += (unsigned)dense((int)i % 14, (int)i); break;
            default: value++;
            }
            break;
        case 3: value -= i; break;
        case 4: value = ~value; break;
        case 5: value = (unsigned)work((int)value); break;
        case 6: value >>= 1; break;
        case 7: value ^= value << 3; break;
        }
    }
    return value;
}

NOINLINE static const char *name(unsigned kind)
{
    switch (kind) {
    case 0: return "alpha";
    case 1: return "beta";
    case 2: return "gamma";
    case 3: return "delta";
    case 4: return "epsilon";
    case 5: return "zeta";
    default: return "?";
    }
}

int main(void)
{
    static unsigned char code[4000];
    for (unsigned i = 0; i < sizeof code; i++)
        code[i] = (unsigned char)(i * 2654435761u >> 13);
    FOR_A_WHILE
    {
        unsigned sum = 0;
        for (int i = -2; i < 3000; i++)
            sum = sum * 3 + (unsigned)dense(i % 15, i);
        SAME_EVERY_ROUND(sum);
        SAME_EVERY_ROUND(machine(code, sizeof code, 12345));
        for (unsigned i = 0; i < 8; i++)
            SAME_EVERY_ROUND((unsigned char)name(i % 2)[0] * 0 + (unsigned char)name(3)[0]);
    }
    return 0;
}
