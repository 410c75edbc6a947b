#include "own_unwinder.h"

__attribute__((noinline)) static long deeper(callback call, long value)
{
    Counted here;
    return value % 3 ? call(value) + 1 : call(value + 1) - 2;
}

long through(callback call, long value)
{
    Counted here;
    try {
        return deeper(call, value);
    } catch (Oops &oops) {
        if (oops.value % 2)
            throw;
        Counted there;
        throw Oops{oops.value + 3};
    }
}
