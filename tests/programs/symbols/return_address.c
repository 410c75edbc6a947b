//#Variants: -O2 | -O0 | -O2 -fno-pie -no-pie | -O2 -static | -O2 -flto |
//#    -O2 -finstrument-functions -DINSTRUMENTED
/* Who looks at a return address finds the caller in the program's file, and the same place in each
 * layout: as programs do that name their callers by /proc/self/maps, or count calls by place. */
#include "return_address.h"

#ifdef INSTRUMENTED
static const void *place_of_call;
NOINLINE const void *who_calls(void);
__attribute__((no_instrument_function)) void __cyg_profile_func_enter(void *function, void *place)
{
    if (function == (void *)who_calls) place_of_call = place;
}
__attribute__((no_instrument_function)) void __cyg_profile_func_exit(void *function, void *place)
{
    (void)function, (void)place;
}
#endif

NOINLINE const void *who_calls(void) { return __builtin_return_address(0); }

NOINLINE static const void *calls(void)
{
    const void *address = who_calls();
    __asm__ volatile("");
    return address;
}

/* Several in one function, in several blocks. */
NOINLINE static const void *of_caller(int here)
{
    if (here > 0) return __builtin_return_address(0);
    const void *address = __builtin_return_address(0);
    CHECK(address == __builtin_extract_return_addr(__builtin_return_address(0)));
    return here < 0 ? (const char *)address + 1 : address;
}

int main(void)
{
    char own[4096];
    const void *first = calls();
    CHECK(snprintf(own, sizeof own, "%s", mapped_at((void *)main)) > 0);
    CHECK(!strstr(own, "memfd"));
    FOR_A_WHILE {
        CHECK(calls() == first);
        CHECK(strcmp(mapped_at(first), own) == 0);
        const void *places[2] = {0};
        for (int i = 0; i < 4; i++) {
            const void *place = of_caller(i % 2);
            CHECK(places[i % 2] == NULL || places[i % 2] == place);
            places[i % 2] = place;
        }
        CHECK(strcmp(mapped_at(places[0]), own) == 0);
#ifdef INSTRUMENTED
        CHECK(place_of_call && strcmp(mapped_at(place_of_call), own) == 0);
#endif
    }
    printf("found\n");
    return 0;
}
