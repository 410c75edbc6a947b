#include "../rounds.h"

NOINLINE static int down(int x)
{
    volatile int here = x;
    if (x < 3)
        throw x;
    try {
        return down(x - 3) + here;
    } catch (int value) {
        throw value + here;
    }
}
extern "C" int deep(int x)
{
    return down(x);
}
