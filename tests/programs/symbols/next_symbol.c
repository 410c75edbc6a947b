//#Variants: -O2 | -O0 | -O2 -no-pie | -O2 -fPIC
//#Flags: -ldl -rdynamic
/* A function that stands in for one of the C library asks the loader for the next one: the loader
 * looks at who asks. */
#define _GNU_SOURCE
#include "../rounds.h"
#include <dlfcn.h>
#include <string.h>

static int calls;
int atoi(const char *text)
{
    int (*real)(const char *) = (int (*)(const char *))dlsym(RTLD_NEXT, "atoi");
    CHECK(real != NULL && real != atoi);
    calls++;
    return real(text) + 1;
}
NOINLINE static const char *own_name(void *address)
{
    Dl_info info;
    CHECK(dladdr(address, &info) != 0);
    return info.dli_sname ? info.dli_sname : "?";
}

int main(void)
{
    int (*volatile indirect)(const char *) = atoi;
    FOR_A_WHILE
    {
        SAME_EVERY_ROUND(indirect("41"));
        CHECK(strcmp(own_name((void *)indirect), "atoi") == 0);
        CHECK(dlsym(RTLD_DEFAULT, "atoi") == (void *)indirect);
    }
    CHECK(calls > 0);
    return 0;
}
