#include "thrown.h"

int through_b(callback back, int x)
{
    Counted here;
    switch (x) {
    case -2: throw Oops{7};
    case 1: return through_a(back, 0);
    case 3:
        try {
            return through_a(back, 2);
        } catch (const Oops &oops) {
            try {
                throw oops.value;
            } catch (int value) {
                return value + through_a(back, -5);
            }
        }
    default: return through_a(back, x);
    }
}
