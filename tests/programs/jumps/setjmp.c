//#Variants: -O2 | -O0 | -static -O2 | -O2 -no-pie | gcc -O2 | -flto
//#Movable: 2
/* A jump buffer that is used over many epochs leads back into the copy that filled it. */
#include "../rounds.h"
#include <setjmp.h>
#include <signal.h>

static jmp_buf outer, inner;
static sigjmp_buf with_mask;

NOINLINE static void throw_from(int depth, int value)
{
    if (depth == 0)
        longjmp(value % 2 ? inner : outer, value);
    throw_from(depth - 1, value);
    __asm__ volatile("");
}

NOINLINE static int protect(int value)
{
    int got = setjmp(inner);
    if (got)
        return got + 1000;
    throw_from(20, value);
    return -1;
}

static void handler(int signal)
{
    (void)signal;
    siglongjmp(with_mask, 3);
}

int main(void)
{
    volatile uint64_t rounds = 0, sum = 0;
    signal(SIGUSR1, handler);
    volatile double end = rounds_now_ms() + 60;
    int value = setjmp(outer);
    sum += (unsigned)value;
    while (rounds_now_ms() < end) {
        rounds++;
        CHECK(protect(7) == 1007);
        int got = sigsetjmp(with_mask, 1);
        if (got == 0)
            raise(SIGUSR1);
        CHECK(got == 3);
        throw_from(5, 2);
        CHECK(!"reached");
    }
    CHECK(sum == 2 * rounds);
    puts("came back every time");
    return 0;
}
