//#Flags: -pthread
//#Epochs: 30
/* Threads wait in system calls, ten frames deep, while layouts come and go, and return through
 * frames whose code is long out of date: read, poll, nanosleep, a lock, a condition, a join. */
#define _GNU_SOURCE
#include "../rounds.h"
#include <poll.h>
#include <pthread.h>
#include <unistd.h>

enum { KINDS = 6, DEPTH = 10 };
static int pipes[2][2];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER, condition_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static int opened;
static pthread_t sleeper;

NOINLINE static void *sleeps(void *unused)
{
    struct timespec time = {0, 250 * 1000 * 1000};
    (void)unused;
    CHECK(nanosleep(&time, NULL) == 0);
    return (void *)&opened;
}

NOINLINE static int waits(int kind)
{
    char byte = 0;
    void *result;
    struct pollfd polled = {pipes[1][0], POLLIN, 0};
    switch (kind) {
    case 0: return (int)read(pipes[0][0], &byte, 1) + byte;
    case 1: return poll(&polled, 1, -1) + polled.revents;
    case 2: return sleeps(NULL) == &opened;
    case 3:
        pthread_mutex_lock(&lock);
        pthread_mutex_unlock(&lock);
        return 3;
    case 4:
        pthread_mutex_lock(&condition_lock);
        while (!opened)
            pthread_cond_wait(&condition, &condition_lock);
        pthread_mutex_unlock(&condition_lock);
        return 4;
    case 5:
        CHECK(pthread_join(sleeper, &result) == 0 && result == &opened);
        return 5;
    default: return kind;
    }
}

NOINLINE static int frame(int kind, int depth)
{
    volatile int marks[4] = {kind, depth, kind + depth, kind ^ depth};
    int result = depth == 0 ? waits(kind) : frame(kind, depth - 1);
    CHECK(marks[0] == kind && marks[1] == depth && marks[2] == kind + depth &&
          marks[3] == (kind ^ depth));
    return result + (depth > 0);
}

static void *thread(void *kind) { return (void *)(intptr_t)frame((int)(intptr_t)kind, DEPTH); }

int main(void)
{
    pthread_t threads[KINDS];
    CHECK(pipe(pipes[0]) == 0 && pipe(pipes[1]) == 0);
    pthread_mutex_lock(&lock);
    CHECK(pthread_create(&sleeper, NULL, sleeps, NULL) == 0);
    for (intptr_t i = 0; i < KINDS; i++)
        CHECK(pthread_create(&threads[i], NULL, thread, (void *)i) == 0);
    FOR_MS(200) SAME_EVERY_ROUND(frame(KINDS, 3));
    CHECK(write(pipes[0][1], "a", 1) == 1 && write(pipes[1][1], "b", 1) == 1);
    pthread_mutex_unlock(&lock);
    pthread_mutex_lock(&condition_lock);
    opened = 1;
    pthread_cond_broadcast(&condition);
    pthread_mutex_unlock(&condition_lock);
    for (int i = 0; i < KINDS; i++) {
        void *result;
        CHECK(pthread_join(threads[i], &result) == 0);
        printf("%d: %d\n", i, (int)(intptr_t)result);
    }
    return 0;
}
