//#Variants: -O2 | -O2 -mcmodel=large | -O2 -mcmodel=large -no-pie | -O2 -static |
//#    -O2 -static -fuse-ld=gold | -O2 -static-libgcc -static-libstdc++ -fuse-ld=gold |
//#    -O2 -static-libgcc -static-libstdc++ | -O2 -static -fuse-ld=mold | -O2 -flto
/* Functions that are empty because they can never be left lie before those with handlers, at one
 * address with them. Unwind information of far code, which lies before the linker's table of it.
 * Unwinders inside the program. */
#include "../rounds.h"

__attribute__((cold, noinline)) void never() { __builtin_unreachable(); }
__attribute__((cold, noinline)) static int caught(int depth)
{
    try {
        if (depth == 0)
            throw 42;
        return caught(depth - 1) + depth;
    } catch (int x) {
        return x;
    }
}
__attribute__((cold, noinline)) void nor_this() { __builtin_unreachable(); }
__attribute__((cold)) int main()
{
    FOR_A_WHILE
    {
        SAME_EVERY_ROUND(caught(7));
        try {
            throw 'x';
        } catch (char x) {
            SAME_EVERY_ROUND(x);
        }
    }
    return 0;
}
