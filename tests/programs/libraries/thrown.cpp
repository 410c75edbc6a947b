//#Variants: -O2 | -O0 | gcc -O2 | -O2 -flto=thin
//#Flags: -ldl -pthread
//#Library: thrown_a.cpp
//#Library: thrown_b.cpp
//#Plugin: thrown_c.cpp
//#Attached: 3
// Exceptions cross images in both directions, several at a time, through frames of all of them;
// their types are the same everywhere.
#include "../rounds.h"
#include "thrown.h"
#include <dlfcn.h>
#include <initializer_list>
#include <pthread.h>

int Counted::alive;

NOINLINE int in_program(int x)
{
    Counted here;
    if (x == 0)
        throw Oops{40};
    if (x < 0)
        throw x;
    return through_b(in_program, x - 1) + 1;
}
static uint64_t all(int (*opened)(callback, int))
{
    uint64_t sum = 0;
    for (int i = -2; i < 7; i++) {
        for (auto call : {through_a, through_b, opened}) {
            try {
                sum = sum * 7 + (uint64_t)call(in_program, i);
            } catch (const Oops &oops) {
                sum += (uint64_t)oops.value;
            } catch (int value) {
                sum += 1000u + (uint64_t)(int64_t)value;
            }
            CHECK(Counted::alive == 0);
        }
    }
    return sum;
}
// pthread_exit unwinds through a library's frame, and runs what cleans up there.
NOINLINE static int leave(int x)
{
    Counted here;
    pthread_exit((void *)(intptr_t)x);
}
static void *thread(void *)
{
    through_a(leave, 77);
    return nullptr;
}

int main()
{
    FOR_A_WHILE
    {
        void *library = dlopen("thrown_c.so", RTLD_NOW);
        CHECK(library != nullptr);
        auto opened = (int (*)(callback, int))dlsym(library, "through_c");
        SAME_EVERY_ROUND(all(opened));
        dlclose(library);
        pthread_t id;
        void *result;
        CHECK(pthread_create(&id, nullptr, thread, nullptr) == 0);
        CHECK(pthread_join(id, &result) == 0);
        SAME_EVERY_ROUND((intptr_t)result);
    }
}
