//#Variants: -O2 | gcc -O2
//#Flags: -pthread
//#Library: at_exit_a.c
//#Library: at_exit_b.c -pthread
//#Attached: 2
/* When the program ends, destructors of libraries run that call other libraries, also those whose
 * own destructors have run, while threads are still at work in them. */
#include "../rounds.h"
#include <pthread.h>
#include <unistd.h>

void keep_busy(void);
int used_by_others(int x);

static void *thread(void *argument)
{
    for (;;)
        keep_busy();
    return argument;
}

int main(void)
{
    pthread_t id;
    for (int i = 0; i < 3; i++)
        CHECK(pthread_create(&id, NULL, thread, NULL) == 0);
    FOR_A_WHILE SAME_EVERY_ROUND(used_by_others(3));
    return 0;
}
