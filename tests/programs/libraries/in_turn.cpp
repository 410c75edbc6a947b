//#Variants: -O2 | -O0
//#Flags: -ldl
//#Plugin: in_turn_large.cpp
//#Plugin: in_turn_small.cpp
//#Attached: 4
// Two libraries come one after the other where one was before, and throw: what unwinders found out
// about one must not be believed of the other. The rules of the large one lie where the small one
// has nothing.
#include "../rounds.h"
#include <dlfcn.h>

static uint64_t thrown_by(const char *name)
{
    void *library = dlopen(name, RTLD_NOW);
    CHECK(library != nullptr);
    auto deep = (int (*)(int))dlsym(library, "deep");
    CHECK(deep != nullptr);
    uint64_t sum = 0;
    for (int i = 0; i < 20; i++) {
        try {
            sum += (uint64_t)deep(i);
        } catch (int value) {
            sum = sum * 3 + (uint64_t)value;
        }
    }
    CHECK(dlclose(library) == 0);
    CHECK(dlopen(name, RTLD_NOW | RTLD_NOLOAD) == nullptr);
    return sum;
}

int main()
{
    FOR_A_WHILE
    {
        SAME_EVERY_ROUND(thrown_by("in_turn_large.so"));
        SAME_EVERY_ROUND(thrown_by("in_turn_small.so"));
    }
}
