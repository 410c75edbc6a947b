//#Variants: -O1
//#Flags: -pthread
//#Movable: 0
//#Epochs: 0
/* 100,000 blocks of 20 KiB, every second one freed, threads and other blocks meanwhile: more
 * holes than the kernel gives areas to a process (vm.max_map_count) if each block were a mapping
 * of its own. Hardly any of the memory is touched. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define COUNT 100000
#ifdef LONG
enum { ROUNDS = 2 };
#else
enum { ROUNDS = 1 };
#endif
static size_t *blocks[COUNT], *others[COUNT / 2];

static void *nothing(void *value) { return value; }

static int fill(size_t **list, size_t count, size_t step, size_t bytes)
{
    for (size_t i = 0; i < count; i += step) {
        if (!(list[i] = malloc(bytes)))
            return printf("%zu: no block of %zu bytes\n", i, bytes), 1;
        if (i % 64 == 0)
            *list[i] = i;
    }
    return 0;
}

static int empty(size_t **list, size_t first, size_t count, size_t step)
{
    for (size_t i = first; i < count; i += step) {
        if (i % 64 == 0 && *list[i] != i)
            return printf("%zu: other contents\n", i), 1;
        free(list[i]);
    }
    return 0;
}

int main(void)
{
    for (int round = 0; round < ROUNDS; round++) {
        pthread_t thread;
        if (fill(blocks, COUNT, 1, 20 << 10) || empty(blocks, 0, COUNT, 2))
            return 1;
        if (pthread_create(&thread, NULL, nothing, NULL) || pthread_join(thread, NULL))
            return puts("no thread"), 1;
        if (fill(others, COUNT / 2, 1, 30 << 10) || fill(blocks, COUNT, 2, 24 << 10))
            return 1;
        if (empty(others, 0, COUNT / 2, 1) || empty(blocks, 1, COUNT, 2) ||
            empty(blocks, 0, COUNT, 2))
            return 1;
    }
    puts("ok");
    return 0;
}
