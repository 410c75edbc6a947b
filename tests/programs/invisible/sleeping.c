//#Variants: -O2 | -static | -O2 -no-pie
//#Flags: -pthread
//#Epochs: 20
/* A thread that waits in the kernel sees nothing of the epochs that begin meanwhile, because
   another one works. */
#define _GNU_SOURCE
#include "../rounds.h"
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <sys/epoll.h>
#include <sys/wait.h>
#include <unistd.h>

NOINLINE static uint64_t work(uint64_t x)
{
    __asm__ volatile("" : "+r"(x));
    return x * 3 + 1;
}

static atomic_int done;

static void *worker(void *arg)
{
    while (!atomic_load(&done)) {
        for (int i = 0; i < 1000; i++) {
            work((uint64_t)i);
        }
    }
    return arg;
}

/* Another process writes a byte after a while. */
static int late_pipe(int ms)
{
    int ends[2];
    CHECK(pipe(ends) == 0);
    if (fork() == 0) {
        close(ends[0]);
        usleep((useconds_t)ms * 1000);
        CHECK(write(ends[1], "x", 1) == 1);
        _exit(0);
    }
    close(ends[1]);
    return ends[0];
}

int main(void)
{
    struct timespec rest = {0, 0}, sleep = {0, 180000000};
    char byte = 0;
    SAME_EVERY_ROUND(work(1));
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, worker, NULL) == 0);
    CHECK(nanosleep(&sleep, &rest) == 0 && rest.tv_nsec == 0);
    CHECK(poll(NULL, 0, 30) == 0);
    CHECK(usleep(20000) == 0);
    int from = late_pipe(30);
    CHECK(read(from, &byte, 1) == 1 && byte == 'x');
    CHECK(read(from, &byte, 1) == 0);
    int status;
    CHECK(wait(&status) > 0 && status == 0);
    from = late_pipe(20);
    struct pollfd wanted = {.fd = from, .events = POLLIN};
    CHECK(poll(&wanted, 1, 1000) == 1);
    CHECK(wait(&status) > 0 && status == 0);
    struct epoll_event event = {.events = EPOLLIN};
    int queue = epoll_create1(0);
    CHECK(epoll_wait(queue, &event, 1, 20) == 0);
    sem_t semaphore;
    sem_init(&semaphore, 0, 0);
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += 20000000;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    CHECK(sem_timedwait(&semaphore, &until) == -1 && errno == ETIMEDOUT);
    atomic_store(&done, 1);
    CHECK(pthread_join(thread, NULL) == 0);
    SAME_EVERY_ROUND(work(1) + 0);
    puts("not interrupted");
    return 0;
}
