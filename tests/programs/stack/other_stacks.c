//#Variants: -O2 | -O0 | -O2 -no-pie
//#Flags: -pthread
/* Stacks below and above those of threads, to which the program goes by its own instructions: as
 * small as the plain program needs them, so there is no place for pads. */
#define _GNU_SOURCE
#include "../rounds.h"
#include "../switch_to.h"
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>

enum { BYTES = 32 << 10, GUARD = 64 << 10, DEPTH = 150, STACKS = 4, THREADS = 2 };
/* Farther than the room of a stack, so that one below is not in the way of its growth. */
#define STEP ((intptr_t)256 << 20)

struct stack {
    void *pointer, *caller;
    uint64_t result;
};

static __thread struct stack *current;

NOINLINE static uint64_t down(uint64_t depth)
{
    volatile uint64_t own = depth;
    return depth == 0 ? 0 : down(depth - 1) + own;
}

static void begin(void)
{
    for (;;) {
        current->result = down(DEPTH);
        switch_to(&current->pointer, &current->caller);
    }
}

/* Maps it at the first free place in this direction. What lies below is not to be touched. */
static void make(struct stack *stack, intptr_t step)
{
    char *from = (char *)((uintptr_t)&stack & -4096ul), *memory;
    do {
        from += step;
        memory = mmap(from, GUARD + BYTES, PROT_NONE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    } while (memory != from);
    CHECK(mprotect(memory + GUARD, BYTES, PROT_READ | PROT_WRITE) == 0);
    void **top = (void **)(memory + GUARD + BYTES) - 2;
    top[0] = (void *)begin;
    stack->pointer = top - 6;
}

NOINLINE static uint64_t on(struct stack *stack)
{
    current = stack;
    switch_to(&stack->caller, &stack->pointer);
    return stack->result;
}

static uint64_t sum_of(struct stack *stacks)
{
    uint64_t sum = 0;
    for (unsigned i = 0; i < STACKS; i++)
        sum += on(&stacks[i]);
    return sum;
}

static void *work(void *unused)
{
    (void)unused;
    struct stack below[STACKS], above[STACKS];
    memset(below, 0, sizeof below);
    memset(above, 0, sizeof above);
    for (unsigned i = 0; i < STACKS; i++) {
        make(&below[i], -STEP);
        make(&above[i], STEP);
    }
    uint64_t sum = 0;
    FOR_A_WHILE
    {
        uint64_t plain = down(DEPTH);
        sum = sum_of(below) + sum_of(above);
        CHECK(sum == 2 * STACKS * plain);
    }
    return (void *)(uintptr_t)sum;
}

int main(void)
{
    struct stack below[STACKS];
    memset(below, 0, sizeof below);
    for (unsigned i = 0; i < STACKS; i++)
        make(&below[i], -STEP);
    pthread_t threads[THREADS];
    for (unsigned t = 0; t < THREADS; t++)
        CHECK(pthread_create(&threads[t], 0, work, 0) == 0);
    FOR_A_WHILE
    {
        SAME_EVERY_ROUND(sum_of(below));
    }
    for (unsigned t = 0; t < THREADS; t++) {
        void *sum;
        CHECK(pthread_join(threads[t], &sum) == 0);
        printf("%lu\n", (unsigned long)(uintptr_t)sum);
    }
    return 0;
}
