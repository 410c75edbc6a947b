#include <stdio.h>
#include <unistd.h>

int used_by_others(int x);
__attribute__((noinline)) static int own(int x)
{
    __asm__ volatile("" : "+r"(x));
    return used_by_others(x) + 1;
}
void keep_busy(void)
{
    for (int i = 0; i < 100; i++)
        own(i);
}
__attribute__((destructor)) static void first(void)
{
    printf("b ends with %d\n", own(0));
    fflush(stdout);
    for (int i = 0; i < 20; i++) {
        usleep(1000);
        own(i);
    }
}
