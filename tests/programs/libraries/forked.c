//#Variants: -O2 | gcc -O2
//#Flags: -ldl -rdynamic
//#Library: several_a.c
//#Library: several_b.c
//#Plugin: opened_inner.c
//#Attached: 3
/* Children go on in the libraries of their parent, and open and close some of their own. */
#define _GNU_SOURCE
#include "several.h"
#include "../rounds.h"
#include <dlfcn.h>
#include <sys/wait.h>
#include <unistd.h>

NOINLINE void say(const char *word)
{
    __asm__ volatile("" : : "r"(word));
}
NOINLINE uint64_t in_program(uint64_t x)
{
    return x * 31 + 7;
}
static uint64_t sum(void)
{
    uint64_t sum = 0;
    for (uint64_t i = 0; i < 12; i++)
        sum = sum * 3 + first_a(i) + first_b(i) + chain_a(in_program, i);
    return sum;
}
static int opened(void)
{
    void *library = dlopen("opened_inner.so", RTLD_NOW);
    CHECK(library != NULL);
    int (*call)(int (*)(int), int) = (int (*)(int (*)(int), int))dlsym(library, "inner");
    int result = call(abs, 1) + call(abs, 5);
    dlclose(library);
    return result;
}

int main(void)
{
    uint64_t first = sum();
    SAME_EVERY_ROUND(first);
    FOR_A_WHILE
    {
        fflush(stdout);
        pid_t child = fork();
        CHECK(child >= 0);
        if (child == 0) {
            for (int i = 0; i < 5; i++)
                if (sum() != first || opened() != 22)
                    _exit(1);
            pid_t grandchild = fork();
            if (grandchild == 0)
                _exit(sum() == first && opened() == 22 ? 0 : 1);
            int status = 1;
            waitpid(grandchild, &status, 0);
            _exit(status == 0 && sum() == first ? 0 : 2);
        }
        CHECK(sum() == first && opened() == 22);
        int status = 1;
        waitpid(child, &status, 0);
        CHECK(status == 0);
    }
    return 0;
}
