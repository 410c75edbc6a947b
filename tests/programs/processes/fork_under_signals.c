//#Variants: -O2
//#Flags: -pthread
//#Epochs: 0
/* Handlers that call functions interrupt a thread inside malloc and fopen, whose locks fork takes,
 * while another thread forks. The children are made while copies are written: each calls
 * everything. */
#include "../rounds.h"
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile uint64_t sink;
static atomic_int stop;
static pthread_t worker;

#define STEP(n)                                                                                    \
    NOINLINE static uint64_t step##n(uint64_t x)                                                   \
    {                                                                                              \
        __asm__ volatile("" : "+r"(x));                                                            \
        return x * 3 + n;                                                                          \
    }
STEP(1) STEP(2) STEP(3) STEP(4) STEP(5) STEP(6) STEP(7) STEP(8)

NOINLINE static uint64_t all_steps(uint64_t x)
{
    x = step4(step3(step2(step1(x))));
    return step8(step7(step6(step5(x))));
}

static void handler(int signal)
{
    (void)signal;
    sink = all_steps(1);
}

static void *work(void *unused)
{
    (void)unused;
    while (!atomic_load(&stop)) {
        void *blocks[32];
        for (int i = 0; i < 32; i++) blocks[i] = malloc(2000 + 300 * (size_t)i);
        for (int i = 0; i < 32; i++) free(blocks[i]);
        FILE *file = fopen("/dev/null", "r");
        CHECK(file != NULL);
        fclose(file);
    }
    return NULL;
}

static void *kick(void *unused)
{
    (void)unused;
    while (!atomic_load(&stop)) {
        pthread_kill(worker, SIGUSR1);
        struct timespec pause = {0, 100000};
        nanosleep(&pause, NULL);
    }
    return NULL;
}

int main(void)
{
    struct sigaction action = {.sa_handler = handler, .sa_flags = SA_RESTART};
    CHECK(sigaction(SIGUSR1, &action, NULL) == 0);
    pthread_t kicker;
    CHECK(pthread_create(&worker, NULL, work, NULL) == 0);
    CHECK(pthread_create(&kicker, NULL, kick, NULL) == 0);
    uint64_t expected = all_steps(1);
    FOR_MS(700)
    {
        pid_t child = fork();
        CHECK(child >= 0);
        if (child == 0) _exit(all_steps(1) == expected ? 42 : 1);
        int status;
        CHECK(waitpid(child, &status, 0) == child);
        SAME_EVERY_ROUND(status);
    }
    atomic_store(&stop, 1);
    CHECK(pthread_join(worker, NULL) == 0 && pthread_join(kicker, NULL) == 0);
    return 0;
}
