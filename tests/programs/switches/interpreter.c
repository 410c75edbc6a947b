//#Variants: -O2 | -O3 | gcc -O2 | -O2 -no-pie
//#Epochs: 5
/* One frame that lasts for the whole run and works through a jump table all the time. */
#include "../rounds.h"

enum { PUSH, ADD, SUB, MUL, DUP, SWAP, JNZ, CALL, DROP, MOD, HALT };
NOINLINE static long helper(long x, long y) { return (x * 31 + y) % 65521; }

NOINLINE static long interpret(const int *code)
{
    long stack[64], *top = stack;
    for (const int *pc = code;;) {
        switch (*pc++) {
        case PUSH: *++top = *pc++; break;
        case ADD: top[-1] += *top; top--; break;
        case SUB: top[-1] -= *top; top--; break;
        case MUL: top[-1] = top[-1] * *top % 1000003; top--; break;
        case DUP: top[1] = *top; top++; break;
        case SWAP: { long x = *top; *top = top[-1]; top[-1] = x; break; }
        case JNZ: { int to = *pc++; if (*top--) pc = code + to; break; }
        case CALL: top[-1] = helper(top[-1], *top); top--; break;
        case DROP: top--; break;
        case MOD: top[-1] %= *top; top--; break;
        case HALT: return *top;
        }
    }
}

int main(void)
{
    /* sum = 1; for (n = 600000; n; n--) sum = helper(sum, n); */
    static const int code[] = {PUSH, 1,   PUSH, 600000, SWAP, PUSH, 0,    ADD,
                               PUSH, 3,   MUL,  PUSH,   5,    CALL, SWAP, PUSH,
                               1,    SUB, DUP,  JNZ,    4,    DROP, HALT};
    for (int i = 0; i < 6; i++)
        printf("%ld\n", interpret(code));
    return 0;
}
