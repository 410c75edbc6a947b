//#Flags: -pthread
//#Epochs: 10
/* Coroutines that share one stack. While one does not run, its frames lie in a block of the heap,
 * at another address each time, and the stack has been wiped. Each is left alone for many layouts.
 * A second thread wakes up now and then, so that not all wait for as long as the first does. */
#include "../rounds.h"
#include "../switch_to.h"
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { COROUTINES = 6, BYTES = 64 << 10, DEPTH = 12, RESTS = 4 };

static char *stack;
static void *scheduler;
static int current;
static struct {
    void *pointer, *frames;
    size_t bytes;
    uint64_t result;
} all[COROUTINES];

NOINLINE static void rest(void) { switch_to(&all[current].pointer, &scheduler); }

NOINLINE static uint64_t deep(uint64_t value, unsigned depth)
{
    if (depth % 4 == 1)
        rest();
    if (depth != 0)
        value += deep(value * 3 + depth, depth - 1);
    __asm__ volatile("" : "+r"(value));
    return value ^ depth;
}

NOINLINE static uint64_t plain(uint64_t value, unsigned depth)
{
    if (depth != 0)
        value += plain(value * 3 + depth, depth - 1);
    __asm__ volatile("" : "+r"(value));
    return value ^ depth;
}

static void body(void)
{
    for (uint64_t turn = 0;; turn++) {
        all[current].result = deep(turn + (unsigned)current, DEPTH);
        rest();
    }
}

static void begin(void)
{
    body();
    abort();
}

NOINLINE static void run(int number)
{
    char *top = stack + BYTES;
    memcpy(top - all[number].bytes, all[number].frames, all[number].bytes);
    current = number;
    switch_to(&scheduler, &all[number].pointer);
    free(all[number].frames);
    all[number].bytes = (size_t)(top - (char *)all[number].pointer);
    all[number].frames = malloc(all[number].bytes + (size_t)number * 32);
    memcpy(all[number].frames, all[number].pointer, all[number].bytes);
    memset(stack, 0xcc, BYTES);
}

static volatile int over;

static void *other(void *argument)
{
    while (!over) {
        CHECK(plain(5, 9) == *(uint64_t *)argument);
        usleep(3000);
    }
    return NULL;
}

int main(void)
{
    stack = mmap(0, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    for (int i = 0; i < COROUTINES; i++) {
        /* What switch_to pops, and where it returns to. */
        all[i].bytes = 64;
        all[i].frames = calloc(1, all[i].bytes);
        all[i].pointer = stack + BYTES - all[i].bytes;
        ((void **)all[i].frames)[6] = (void *)begin;
    }
    uint64_t same = plain(5, 9);
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, other, &same) == 0);
    for (uint64_t turn = 0; turn < 2; turn++) {
        for (int step = 0; step < RESTS; step++)
            for (int i = 0; i < COROUTINES; i++) {
                run(i * 5 % COROUTINES);
                FOR_MS(2) { CHECK(plain(5, 9) == same); }
            }
        for (int i = 0; i < COROUTINES; i++)
            CHECK(all[i].result == plain(turn + (unsigned)i, DEPTH));
    }
    over = 1;
    CHECK(pthread_join(thread, NULL) == 0);
    puts("all came back");
    return 0;
}
