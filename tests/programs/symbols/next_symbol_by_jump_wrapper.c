#define _GNU_SOURCE
#include <dlfcn.h>

static void *next(const char *name)
{
    return dlsym(RTLD_NEXT, name);
}
void *next_symbol(const char *name)
{
    return next(name);
}
