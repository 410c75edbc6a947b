#include <dlfcn.h>
#include <stdlib.h>

extern void say(const char *word);
static void *library;
static int (*inner)(int (*)(int), int);

__attribute__((constructor)) static void opened(void)
{
    say("(outer ");
    library = dlopen("opened_inner.so", RTLD_NOW);
    if (!library)
        abort();
    inner = (int (*)(int (*)(int), int))dlsym(library, "inner");
    if (inner(abs, -3) != -3 + 7)
        abort();
}
__attribute__((destructor)) static void closed(void)
{
    dlclose(library);
    say(" outer)");
}
__attribute__((noinline)) static int helper(int x)
{
    __asm__ volatile("" : "+r"(x));
    return x + 1;
}
int outer(int (*back)(int), int x)
{
    return inner(back, helper(x)) + inner(helper, x);
}
