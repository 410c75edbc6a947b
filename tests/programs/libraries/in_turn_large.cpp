#include "../rounds.h"

extern const char in_front_of_rules[4 << 20];
const char in_front_of_rules[4 << 20] = {1};

struct Last {
    int *place;
    ~Last() { *place += 5; }
};
NOINLINE static int even(int x, int *place);
NOINLINE static int odd(int x, int *place)
{
    Last last{place};
    return x == 0 ? throw *place : even(x - 1, place) + 1;
}
NOINLINE static int even(int x, int *place)
{
    volatile char frame[300];
    frame[x] = 1;
    if (x == 0)
        throw *place + frame[x];
    return odd(x - 1, place) + frame[x];
}
extern "C" int deep(int x)
{
    int place = in_front_of_rules[x];
    try {
        return even(x, &place);
    } catch (int value) {
        throw value * 10 + place;
    }
}
