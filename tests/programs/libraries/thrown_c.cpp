#include "thrown.h"

extern "C" int through_c(callback back, int x)
{
    Counted here;
    try {
        return through_b(back, x);
    } catch (const Oops &oops) {
        if (oops.value % 2)
            throw Oops{oops.value * 3};
        return oops.value;
    }
}
