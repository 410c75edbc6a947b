//#Variants: -O2 | -O0 | -O2 -no-pie
//#Flags: -pthread
//#Epochs: 0
/* The program brings its own allocator, in several functions; the C library calls it when threads
 * begin and end, and then blocks all signals. */
#include "../rounds.h"
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

static _Alignas(64) char heap[64 << 20];
static atomic_size_t used;

NOINLINE static size_t rounded(size_t bytes)
{
    __asm__ volatile("" : "+r"(bytes));
    return (bytes + 31) & ~(size_t)15;
}
NOINLINE static void *take(size_t bytes)
{
    size_t at = atomic_fetch_add(&used, rounded(bytes));
    if (at + bytes > sizeof heap)
        abort();
    *(size_t *)(heap + at) = bytes;
    return heap + at + 16;
}
NOINLINE static void give_back(void *block) { __asm__ volatile("" : : "r"(block)); }

void *malloc(size_t bytes) { return take(bytes + 16); }
void free(void *block)
{
    if (block)
        give_back(block);
}
void *calloc(size_t count, size_t bytes) { return memset(malloc(count * bytes), 0, count * bytes); }
void *realloc(void *block, size_t bytes)
{
    void *fresh = malloc(bytes);
    if (block) {
        size_t before = *(size_t *)((char *)block - 16);
        memcpy(fresh, block, before - 16 < bytes ? before - 16 : bytes);
    }
    return fresh;
}

static __thread char local[5000];
static void *thread(void *argument)
{
    local[77] = 1;
    char *copy = strdup("text");
    CHECK(strcmp(copy, "text") == 0);
    free(copy);
    return argument;
}

int main(void)
{
    for (int i = 0; i < 200; i++) {
        pthread_t id;
        CHECK(pthread_create(&id, NULL, thread, NULL) == 0);
        pthread_join(id, NULL);
    }
    FOR_MS(20) free(malloc(10));
    puts("all ended");
    return 0;
}
