//#Variants: -O2 | -static
//#Flags: -pthread
//#Epochs: 0
/* The C library starts a thread for an asynchronous write, and it calls the program. */
#define _GNU_SOURCE
#include "../rounds.h"
#include <aio.h>
#include <semaphore.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

static sem_t called;
static volatile uint64_t result;
NOINLINE static uint64_t work(uint64_t x)
{
    __asm__ volatile("" : "+r"(x));
    return x * 3 + 1;
}
static void by_aio(union sigval value)
{
    result = work((uint64_t)value.sival_int);
    sem_post(&called);
}

int main(void)
{
    static char text[] = "text";
    int ends[2];
    sem_init(&called, 0, 0);
    CHECK(pipe(ends) == 0);
    for (int i = 0; i < 10; i++) {
        struct aiocb block;
        memset(&block, 0, sizeof block);
        block.aio_fildes = ends[1];
        block.aio_buf = text;
        block.aio_nbytes = 4;
        block.aio_sigevent.sigev_notify = SIGEV_THREAD;
        block.aio_sigevent.sigev_value.sival_int = 4;
        block.aio_sigevent.sigev_notify_function = by_aio;
        CHECK(aio_write(&block) == 0);
        CHECK(sem_wait(&called) == 0 && result == work(4));
    }
    FOR_MS(20) work(1);
    puts("all called");
    return 0;
}
