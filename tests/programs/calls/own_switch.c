//#Variants: -O2 | -O0 | -O2 -no-pie | -O2 -static
//#Flags: -pthread
//#Movable: 4
//#Epochs: 10
/* A program switches to stacks of its own by its own assembly, in the main thread and in another
 * one. One of its stacks is left alone for many layouts, with frames that are returned to at the
 * end. */
#include "../rounds.h"
#include "../switch_to.h"
#include <pthread.h>
#include <sys/mman.h>

struct task {
    void *pointer, *caller;
    uint64_t value;
};

static __thread struct task *current;

NOINLINE static void yield(void) { switch_to(&current->pointer, &current->caller); }

NOINLINE static uint64_t deep(uint64_t value, unsigned depth)
{
    if (depth == 0)
        yield();
    else
        value += deep(value * 3 + depth, depth - 1);
    __asm__ volatile("" : "+r"(value));
    return value ^ depth;
}

static void begin(void)
{
    for (unsigned turn = 0;; turn++) {
        current->value = deep(turn, 20);
        yield();
    }
}

static void make(struct task *task)
{
    size_t bytes = 256 << 10;
    char *stack = mmap(0, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    void **top = (void **)(stack + bytes) - 2;
    top[0] = (void *)begin;
    task->pointer = top - 6;
}

NOINLINE static void resume(struct task *task)
{
    current = task;
    switch_to(&task->caller, &task->pointer);
}

static uint64_t expected(uint64_t value, unsigned depth)
{
    if (depth > 0)
        value += expected(value * 3 + depth, depth - 1);
    return value ^ depth;
}

static void *work(void *unused)
{
    struct task busy = {0}, left_alone = {0};
    make(&busy);
    make(&left_alone);
    resume(&left_alone);
    uint64_t turn = 0;
    FOR_MS(80)
    {
        resume(&busy);
        resume(&busy);
        CHECK(busy.value == expected(turn, 20));
        turn++;
    }
    resume(&left_alone);
    CHECK(left_alone.value == expected(0, 20));
    return unused;
}

int main(void)
{
    work(0);
    pthread_t thread;
    CHECK(pthread_create(&thread, 0, work, 0) == 0);
    pthread_join(thread, 0);
    puts("all came back");
    return 0;
}
