//#Library: return_address_library.c
//#Attached: 1
/* A library and its program name each other's functions by return addresses. */
#include "../symbols/return_address.h"

const void *who_calls_library(void);
const void *calls_back(const void *(*)(void));

NOINLINE static const void *who_calls(void) { return __builtin_return_address(0); }

NOINLINE static const void *calls(void)
{
    const void *address = who_calls_library();
    __asm__ volatile("");
    return address;
}

int main(void)
{
    char own[4096];
    CHECK(snprintf(own, sizeof own, "%s", mapped_at((void *)main)) > 0);
    const void *first = calls(), *first_back = calls_back(who_calls);
    FOR_A_WHILE {
        CHECK(calls() == first && calls_back(who_calls) == first_back);
        CHECK(strcmp(mapped_at(first), own) == 0);
        CHECK(strstr(mapped_at(first_back), "return_address_library.so"));
    }
    printf("found\n");
    return 0;
}
