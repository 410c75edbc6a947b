#include "thrown.h"

int through_a(callback back, int x)
{
    Counted here;
    try {
        return back(x) + 1;
    } catch (Oops &oops) {
        Counted there;
        oops.value += 2;
        throw;
    }
}
