//#Variants: -O2 | -O0 | gcc -O2 | -O2 -Rcode -Rstack
//#Flags: -ldl -rdynamic
//#Plugin: opened_inner.c
//#Plugin: opened_outer.c -ldl
//#Adopted: 4
/* A library that opens another from its constructor, over and over: what ran, in which order, and that
 * nothing of it is left behind. */
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

/* Bytes that the program occupies, in pages; private copies of code included. */
static long resident(void)
{
    long all = 0, here = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    CHECK(file != NULL && fscanf(file, "%ld %ld", &all, &here) == 2);
    fclose(file);
    return here;
}
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
    static const int modes[] = {RTLD_NOW | RTLD_LOCAL, RTLD_LAZY | RTLD_LOCAL, RTLD_NOW | RTLD_GLOBAL,
                                RTLD_NOW | RTLD_DEEPBIND};
    int rounds = 0;
    long before = 0;
    FOR_A_WHILE round_of(modes[rounds++ % 4]);
    for (int i = 0; i < 200; i++) {
        round_of(modes[i % 4]);
        if (i == 20)
            before = resident();
    }
    /* Each round loads two libraries of some pages: 180 rounds of them would be hundreds. Copies that
     * the program itself keeps at fast epochs are few functions'. */
    long grown = resident() - before;
    if (grown > 2000)
        printf("grew by %ld pages\n", grown);
    puts("done");
    return 0;
}
