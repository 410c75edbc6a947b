//#Variants: -O2
//#Flags: -pthread
//#Movable: 0
//#Epochs: 0
/* torture [THREADS [OPERATIONS [SEED]]]: random operations of malloc's family on blocks that all
 * threads share and free for each other, with all contents checked: sizes from 0 to 64 MiB,
 * alignments from 1 byte to 2 MiB. What is known of a block lies beside it, so that blocks of 0
 * to 15 bytes are checked like others. */
#define _GNU_SOURCE
#include <malloc.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Not in every C library; free stands for those that are missing. */
#pragma weak free_sized
#ifdef LONG
enum { OPERATIONS = 60000 };
#else
enum { OPERATIONS = 20000 };
#endif
#pragma weak free_aligned_sized
#pragma weak cfree
void free_sized(void *block, size_t bytes);
void free_aligned_sized(void *block, size_t alignment, size_t bytes);
void cfree(void *block);

enum { SLOTS = 4096, ROUNDS = 4, MAX_THREADS = 64, DENSE = 4096, STRIDE = 1021 };

typedef struct {
    char *at;
    size_t bytes, alignment; /* alignment 0: from a function that was told none */
    uint64_t tag;            /* what the contents are made of */
} Block;

static struct {
    atomic_flag taken;
    Block block;
} slots[SLOTS];

static long operations;
static uint64_t seed;

static void fail(const char *what, size_t found, size_t of)
{
    fprintf(stderr, "%s: %zu of %zu\n", what, found, of);
    abort();
}

/* SplitMix64. */
static uint64_t next(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

/* Exchanges what slot `at` holds with `block`. */
static Block exchange(unsigned at, Block block)
{
    while (atomic_flag_test_and_set_explicit(&slots[at].taken, memory_order_acquire))
        ;
    Block before = slots[at].block;
    slots[at].block = block;
    atomic_flag_clear_explicit(&slots[at].taken, memory_order_release);
    return before;
}

static char content(uint64_t tag, size_t i)
{
    return (char)(tag + i * 7);
}

/* All bytes of small blocks; of others one in STRIDE and the last. */
static size_t step(size_t bytes)
{
    return bytes <= DENSE ? 1 : STRIDE;
}

static void fill(Block block)
{
    for (size_t i = 0; i < block.bytes; i += step(block.bytes))
        block.at[i] = content(block.tag, i);
    if (block.bytes)
        block.at[block.bytes - 1] = content(block.tag, block.bytes - 1);
}

static void check(Block block)
{
    size_t usable = malloc_usable_size(block.at);
    if (usable < block.bytes)
        fail("usable bytes", usable, block.bytes);
    if (block.alignment && (uintptr_t)block.at % block.alignment)
        fail("alignment", (uintptr_t)block.at % block.alignment, block.alignment);
    for (size_t i = 0; i < block.bytes; i += step(block.bytes))
        if (block.at[i] != content(block.tag, i))
            fail("other contents at", i, block.bytes);
    if (block.bytes && block.at[block.bytes - 1] != content(block.tag, block.bytes - 1))
        fail("other contents at the end", block.bytes - 1, block.bytes);
}

static size_t random_bytes(uint64_t *state)
{
    unsigned kind = next(state) % 1000;
    size_t most = kind < 100   ? 16
                  : kind < 800 ? 512
                  : kind < 960 ? 8192
                  : kind < 997 ? 200000
                               : 1 << 20;
    if (kind == 999 && next(state) % 16 == 0)
        most = 64 << 20;
    return next(state) % (most + 1);
}

/* Half of them up to 64 bytes, all powers of two up to 2 MiB; large ones seldom, because their
 * blocks are as large. */
static size_t random_alignment(uint64_t *state)
{
    unsigned bits = next(state) % 22;
    return (size_t)1 << (bits > 13 && next(state) % 16 ? bits % 7 : bits);
}

static Block allocate(uint64_t *state)
{
    Block block = {NULL, random_bytes(state), 0, next(state)};
    void *result = NULL;
    switch (next(state) % 16) {
    default:
        block.at = malloc(block.bytes);
        break;
    case 10 ... 12:
        block.at = calloc(block.bytes % 3 ? 1 : 3, block.bytes % 3 ? block.bytes : block.bytes / 3);
        for (size_t i = 0; block.at && i < block.bytes; i += block.bytes <= DENSE ? 1 : 509)
            if (block.at[i])
                fail("calloc did not clear byte", i, block.bytes);
        break;
    case 13:
        block.alignment = random_alignment(state);
        block.at = memalign(block.alignment, block.bytes);
        break;
    case 14:
        block.alignment = random_alignment(state);
        block.at = aligned_alloc(block.alignment, block.bytes);
        break;
    case 15:
        block.alignment = random_alignment(state);
        if (block.alignment < sizeof(void *))
            block.alignment = sizeof(void *);
        if (posix_memalign(&result, block.alignment, block.bytes))
            fail("posix_memalign", block.alignment, block.bytes);
        block.at = result;
        break;
    }
    if (!block.at)
        fail("no memory", 0, block.bytes);
    fill(block);
    return block;
}

static void release(uint64_t *state, Block block)
{
    unsigned how = next(state) % 8;
    if (how == 0 && cfree)
        cfree(block.at);
    else if (how == 1 && block.alignment && free_aligned_sized)
        free_aligned_sized(block.at, block.alignment, block.bytes);
    else if (how == 2 && !block.alignment && free_sized)
        free_sized(block.at, block.bytes);
    else
        free(block.at);
}

static Block resize(uint64_t *state, Block block)
{
    size_t before = block.bytes;
    /* realloc to no bytes frees. */
    size_t after = random_bytes(state) + 1;
    block.at = after % 5 ? realloc(block.at, after) : reallocarray(block.at, after / 5, 5);
    if (!block.at)
        fail("no memory", 0, after);
    /* The contents that stay, at the places where `before` filled them. */
    block.alignment = 0;
    size_t kept = before < after ? before : after;
    for (size_t i = 0; i < kept; i += step(before))
        if (block.at[i] != content(block.tag, i))
            fail("realloc lost byte", i, kept);
    block.bytes = after;
    block.tag = next(state);
    fill(block);
    return block;
}

static void *run(void *number)
{
    uint64_t state = seed * 1000 + (uintptr_t)number;
    for (long i = 0; i < operations; i++) {
        unsigned at = next(&state) % SLOTS;
        Block block = exchange(at, (Block){0});
        if (block.at) {
            check(block);
            if (next(&state) % 16 < 10) {
                release(&state, block);
                continue;
            }
            block = resize(&state, block);
        } else {
            block = allocate(&state);
        }
        block = exchange(at, block);
        if (block.at) {
            check(block);
            release(&state, block);
        }
    }
    return NULL;
}

int main(int count, char **words)
{
    int threads = count > 1 ? atoi(words[1]) : 3;
    long all = count > 2 ? atol(words[2]) : OPERATIONS;
    seed = count > 3 ? atol(words[3]) : 1;
    if (threads < 1 || threads > MAX_THREADS)
        return fprintf(stderr, "%d threads: 1 to %d are possible\n", threads, MAX_THREADS), 2;
    operations = all / ROUNDS / threads;
    for (int round = 0; round < ROUNDS; round++, seed++) {
        pthread_t made[MAX_THREADS];
        for (int i = 0; i < threads; i++)
            if (pthread_create(&made[i], NULL, run, (void *)(uintptr_t)i))
                fail("thread not created", i, threads);
        for (int i = 0; i < threads; i++)
            pthread_join(made[i], NULL);
    }
    for (unsigned at = 0; at < SLOTS; at++) {
        Block block = exchange(at, (Block){0});
        if (block.at) {
            check(block);
            free(block.at);
        }
    }
    puts("ok");
    return 0;
}
