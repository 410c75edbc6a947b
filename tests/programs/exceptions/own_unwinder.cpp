//#Variants: -O2 | -O0 | gcc -O2 | -O2 -flto=thin | -O2 -no-pie
//#Flags: -pthread
//#Library: own_unwinder_through.cpp
//#PlainLibrary: own_unwinder_plain.cpp -static-libgcc -static-libstdc++
//#Attached: 1
// A library of others brings its own unwinder: its exceptions, walks and forced unwinding pass
// frames of the program and of a library that move.
#include "../rounds.h"
#include "own_unwinder.h"
#include <initializer_list>
#include <pthread.h>

int Counted::alive;
static void *frame_of_round;

/* A frame of a size that is not fixed, one with nothing to destroy, and recursion. */
NOINLINE static long with_array(long value)
{
    Counted here;
    volatile char array[value % 7 * 40 + 1];
    array[value % 7] = (char)value;
    if (value >= 9)
        throws(value);
    return array[value % 7] + value;
}
NOINLINE static long leads_there(long value) { return with_array(value + 4) * 3; }
NOINLINE static long recursive(long value)
{
    if (value > 20)
        throws(-value);
    Counted here;
    return recursive(value + 5) + 1;
}
NOINLINE static long crosses(long value) { return through(leads_there, value) + 7; }
NOINLINE static long catches(long value)
{
    try {
        return through(crosses, value) + through(recursive, value);
    } catch (const Oops &oops) {
        throws(oops.value + 1);
    }
}

NOINLINE static long walks(long)
{
    Walk walk = walked(frame_of_round);
    CHECK(walk.found == 1);
    return walk.frames;
}
NOINLINE static long walks_below(long value) { return through(walks, value) * 2; }
NOINLINE static long forces_below(long value)
{
    Counted here;
    if (value > 6)
        forces(value * 5);
    return through(forces_below, value + 2);
}

NOINLINE static uint64_t all_ways()
{
    frame_of_round = __builtin_dwarf_cfa();
    uint64_t sum = 0;
    for (long value = 0; value < 9; value++) {
        for (auto call : {leads_there, recursive, crosses, catches}) {
            sum = sum * 31 + (uint64_t)guarded(call, value);
            CHECK(Counted::alive == 0);
        }
        sum += (uint64_t)forced_from(forces_below, value);
        CHECK(Counted::alive == 0);
    }
    walks_below(1);
    return sum;
}

/* Threads unwind while layouts come and go. */
NOINLINE static long in_thread(long value)
{
    return value > 2 ? throws(value), 0 : in_thread(value + 1) + 1;
}
static void *thread(void *)
{
    for (int i = 0; i < 50; i++)
        if (guarded(in_thread, 0) != 1003)
            return nullptr;
    return (void *)1;
}

int main()
{
    FOR_A_WHILE
    {
        SAME_EVERY_ROUND(all_ways());
        pthread_t ids[2];
        for (auto &id : ids)
            CHECK(pthread_create(&id, nullptr, thread, nullptr) == 0);
        for (auto id : ids) {
            void *result;
            CHECK(pthread_join(id, &result) == 0 && result == (void *)1);
        }
    }
    return 0;
}
