//#Variants: -O2 | -O2 -static -DSTATIC | -O0
//#Flags: -pthread
//#Epochs: 0
/* Children that libc's fork knows nothing of, made by _Fork, by clone, by clone3 and by forkpty,
 * while another thread runs: out of main, a thread and a handler; with children of their own. All
 * go through many layouts. */
#define _GNU_SOURCE
#include "deeper.h"
#include <linux/sched.h>
#include <pthread.h>
#include <pty.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define STACK (64 << 10)
#ifdef LONG
enum { ROUNDS = 3 };
#else
enum { ROUNDS = 1 };
#endif

static uint64_t expected;
static atomic_bool stop;

/* Seen for the first time by each child. */
NOINLINE static uint64_t first_in_child(uint64_t x) { return deeper(x, 3) ^ 5; }

static void *busy(void *unused)
{
    (void)unused;
    while (!atomic_load(&stop)) CHECK(deeper(5, 9) == expected);
    return NULL;
}

NOINLINE static int works(int ms)
{
    FOR_MS(ms) CHECK(deeper(5, 9) == expected);
    return first_in_child(3) == (deeper(3, 3) ^ 5);
}

static int status_of(pid_t child)
{
    int status;
    CHECK(child > 0 && waitpid(child, &status, __WALL) == child);
    return status;
}

static int in_clone(void *argument)
{
    return works(20) ? *(int *)argument : 1;
}

static pid_t by_fork(void)
{
#ifdef STATIC
    return fork();
#else
    return _Fork();
#endif
}

static pid_t by_clone3(void)
{
    struct clone_args arguments = {.exit_signal = SIGCHLD};
    return (pid_t)syscall(SYS_clone3, &arguments, sizeof arguments);
}

/* On a stack inside this frame, or on one of its own. */
NOINLINE static int by_clone(int flags, char *stack, int code)
{
    char inside[STACK];
    memset(inside, 1, sizeof inside);
    pid_t id = 0;
    char *end = (stack ? stack : inside) + STACK;
    int status =
        status_of(clone(in_clone, end, flags | CLONE_PARENT_SETTID, &code, &id, NULL, NULL));
    CHECK(id > 0 && inside[0] == 1);
    return WEXITSTATUS(status);
}

static void child(int code)
{
    if (!works(15)) _exit(1);
    pid_t grandchild = by_fork();
    if (grandchild == 0) _exit(works(10) ? 7 : 1);
    _exit(WEXITSTATUS(status_of(grandchild)) == 7 ? code : 2);
}

static volatile sig_atomic_t status_in_handler;
static void on_signal(int signal)
{
    (void)signal;
    pid_t made = by_fork();
    if (made == 0) child(40);
    status_in_handler = WEXITSTATUS(status_of(made));
}

static void *from_thread(void *stack)
{
    pid_t made = by_fork();
    if (made == 0) child(50);
    long code = WEXITSTATUS(status_of(made));
    return (void *)(code + by_clone(SIGCHLD, stack, 1));
}

int main(void)
{
    expected = deeper(5, 9);
    char *stack = mmap(NULL, STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, busy, NULL) == 0);
    signal(SIGUSR1, on_signal);
    for (int round = 0; round < ROUNDS; round++) {
        fflush(stdout);
        pid_t made = by_fork();
        if (made == 0) child(30 + round);
        printf("_Fork %d", WEXITSTATUS(status_of(made)));
        fflush(stdout);
        made = by_clone3();
        if (made == 0) child(20 + round);
        printf(" clone3 %d", WEXITSTATUS(status_of(made)));
        fflush(stdout);
        printf(" clone %d %d", by_clone(SIGCHLD, stack, 60),
               by_clone(SIGCHLD | CLONE_FS, NULL, 61));
        fflush(stdout);
        printf(" %d", by_clone(CLONE_VFORK, stack, 62));
        raise(SIGUSR1);
        printf(" handler %d", (int)status_in_handler);
        fflush(stdout);
        pthread_t other;
        void *code;
        CHECK(pthread_create(&other, NULL, from_thread, stack) == 0 &&
              pthread_join(other, &code) == 0);
        printf(" thread %ld", (long)code);
        fflush(stdout);
        int terminal;
        made = forkpty(&terminal, NULL, NULL, NULL);
        if (made == 0) child(70);
        printf(" forkpty %d\n", WEXITSTATUS(status_of(made)));
        CHECK(works(10));
    }
    /* What it refuses, it refuses as ever. */
    CHECK(clone(in_clone, NULL, SIGCHLD, NULL) == -1 && syscall(SYS_clone3, 1, 64) == -1);
    atomic_store(&stop, 1);
    CHECK(pthread_join(thread, NULL) == 0);
    return 0;
}
