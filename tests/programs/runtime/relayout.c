// A program asks for layouts by itself: before calls, in threads, in a handler, around forks.
//#Variants: -O2 | gcc -O2
//#Flags: -pthread
//#Epochs: 300
#include "../../../runtime/control/include/szc.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

__attribute__((noinline)) static unsigned mix(unsigned value)
{
    return value * 2654435761u ^ value >> 7;
}

static void *work(void *argument)
{
    unsigned value = (unsigned)(size_t)argument;
    unsigned long long last = szc_layout();
    for (int round = 0; round < 20; ++round) {
        unsigned long long now = szc_relayout();
        if (now < last)
            abort();
        last = now;
        value = mix(value);
    }
    return (void *)(size_t)value;
}

static volatile sig_atomic_t handled;

static void handler(int signal)
{
    (void)signal;
    szc_relayout();
    handled = handled + 1;
}

// Without a runtime the number is 0 for ever; with one each call has a layout of its own.
static int grows(unsigned long long before)
{
    unsigned long long now = szc_relayout();
    return before == 0 ? now == 0 && szc_layout() == 0 : now > before;
}

int main(void)
{
    unsigned value = 1;
    int right = 1;
    szc_pause();
    for (int round = 0; round < 300; ++round) {
        errno = round;
        right &= grows(szc_layout()) && errno == round;
        value = mix(value);
    }
    szc_resume();
    szc_resume();
    printf("%u %d\n", value, right);

    pthread_t threads[3];
    signal(SIGUSR1, handler);
    for (size_t index = 0; index < 3; ++index)
        pthread_create(&threads[index], NULL, work, (void *)(index + 5));
    for (int round = 0; round < 20; ++round)
        pthread_kill(threads[round % 3], SIGUSR1), raise(SIGUSR1);
    for (size_t index = 0; index < 3; ++index) {
        void *result;
        pthread_join(threads[index], &result);
        printf("%zu\n", (size_t)result);
    }
    printf("%d\n", handled >= 20);

    for (int round = 0; round < 4; ++round) {
        pid_t child = round % 2 ? vfork() : fork();
        if (child == 0) {
            // Behind vfork the parent's layout stays.
            int right_here = round % 2 ? szc_relayout() == szc_layout() : grows(szc_layout());
            _exit(right_here ? (int)(mix(7) & 63) : 99);
        }
        szc_relayout();
        int status;
        while (waitpid(child, &status, 0) < 0)
            ;
        printf("%d\n", WEXITSTATUS(status));
    }
    printf("%d\n", grows(szc_layout()));
}
