//#Variants: -O2 | -O0 | gcc -O2
//#Flags: -ldl -rdynamic
//#Plugin: opened_inner.c
//#Plugin: opened_outer.c -ldl
//#Attached: 4
/* A library that opens another from its constructor, over and over: what ran, and in which order.
 * */
#define _GNU_SOURCE
#include "../rounds.h"
#include <dlfcn.h>
#include <string.h>

char said[64];
NOINLINE void say(const char *word)
{
    if (strlen(said) + strlen(word) < sizeof said)
        strcat(said, word);
}
NOINLINE static int twice(int x)
{
    return 2 * x;
}
typedef int call_type(int (*)(int), int);

static void round_of(int mode)
{
    said[0] = 0;
    void *outer = dlopen("opened_outer.so", mode);
    if (!outer) {
        puts(dlerror());
        exit(98);
    }
    call_type *call = (call_type *)dlsym(outer, "outer");
    CHECK(call != NULL);
    int sum = 0;
    for (int i = 0; i < 9; i++)
        sum = sum * 3 + call(twice, i);
    SAME_EVERY_ROUND(sum);
    CHECK(dlclose(outer) == 0);
    static char first[sizeof said];
    if (!first[0])
        puts(strcpy(first, said));
    CHECK(strcmp(said, first) == 0);
}

int main(void)
{
    static const int modes[] = {RTLD_NOW | RTLD_LOCAL, RTLD_LAZY | RTLD_LOCAL,
                                RTLD_NOW | RTLD_GLOBAL, RTLD_NOW | RTLD_DEEPBIND};
    int rounds = 0;
    FOR_A_WHILE round_of(modes[rounds++ % 4]);
    for (int i = 0; i < 100; i++)
        round_of(modes[i % 4]);
    puts("done");
    return 0;
}
