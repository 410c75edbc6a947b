//#Plugin: thrown_early_a.cpp -lstdc++
//#Attached: 1
//#Epochs: 0
/* A constructor of a library that is opened waits for a thread that throws, and for one that asks
 * for libc's functions which the runtime stands in front of: the loader is busy until it is over.
 * */
#include "../rounds.h"
#include <dlfcn.h>

int main(void)
{
    void *library = dlopen("thrown_early_a.so", RTLD_NOW);
    puts(library ? "opened" : dlerror());
    return 0;
}
