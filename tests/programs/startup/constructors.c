//#Variants: -O2 | -O0 | -static | -O2 -no-pie | gcc -O2 | -flto
//#Movable: 5
/* Constructors and destructors run moved code, in the order of their priorities. */
#include "../rounds.h"

NOINLINE static uint64_t work(uint64_t x)
{
    __asm__ volatile("" : "+r"(x));
    return x * 6364136223846793005u + 11;
}
static uint64_t state = 1;
__attribute__((constructor(201))) static void second(void)
{
    state = work(state + 2);
    puts("second");
}
__attribute__((constructor(101))) static void first(int count, char **arguments)
{
    CHECK(count == 1 && arguments[0] != NULL);
    state = work(state + 1);
    puts("first");
}
__attribute__((constructor)) static void third(void) { state = work(state + 3); puts("third"); }
__attribute__((destructor(101))) static void very_last(void)
{
    printf("very last %llu\n", (unsigned long long)work(state));
}
__attribute__((destructor)) static void last(void) { puts("last"); }

int main(void)
{
    FOR_A_WHILE SAME_EVERY_ROUND(work(state));
    return 0;
}
