/* Writes what a source of addresses returns, as 64-bit words: the addresses of malloc, or lrand48.
 *
 *     addresses fresh SIZE COUNT            COUNT times malloc(SIZE), nothing is freed
 *     addresses churn SIZE COUNT LIVE       LIVE blocks are kept; COUNT times, the oldest is freed,
 *                                           and another allocated in its place
 *     addresses lrand48 SEED COUNT          COUNT values of lrand48
 *
 * The program itself allocates nothing else: no stdio, and tables are mapped. It makes no random
 * choices, so that all randomness is the heap's: if the block to free were drawn at random, glibc's
 * addresses would pass all tests, too. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static uint64_t words[8192];
static size_t held;

static void flush(void)
{
    const char *next = (const char *)words;
    size_t left = held * sizeof *words;
    while (left > 0) {
        ssize_t written = write(STDOUT_FILENO, next, left);
        if (written <= 0)
            _exit(4);
        next += written;
        left -= (size_t)written;
    }
    held = 0;
}

static void put(uint64_t word)
{
    words[held++] = word;
    if (held == sizeof words / sizeof *words)
        flush();
}

/* A block whose first byte is written: memory in use is what a program has. */
static char *block(size_t size)
{
    char *fresh = malloc(size);
    if (fresh == NULL)
        _exit(3);
    *(volatile char *)fresh = 1;
    return fresh;
}

static uint64_t number(int count, char **arguments, int index)
{
    if (index >= count)
        _exit(2);
    return strtoull(arguments[index], NULL, 10);
}

int main(int count, char **arguments)
{
    if (count < 4)
        return 2;
    uint64_t wanted = number(count, arguments, 3);
    if (strcmp(arguments[1], "lrand48") == 0) {
        srand48((long)number(count, arguments, 2));
        for (uint64_t i = 0; i < wanted; i++)
            put((uint64_t)lrand48());
    } else if (strcmp(arguments[1], "fresh") == 0) {
        size_t size = number(count, arguments, 2);
        for (uint64_t i = 0; i < wanted; i++)
            put((uintptr_t)block(size));
    } else if (strcmp(arguments[1], "churn") == 0) {
        size_t size = number(count, arguments, 2), live = number(count, arguments, 4);
        char **blocks = mmap(NULL, live * sizeof *blocks, PROT_READ | PROT_WRITE,
                             MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (blocks == MAP_FAILED)
            _exit(3);
        for (size_t i = 0; i < live; i++)
            blocks[i] = block(size);
        for (uint64_t i = 0; i < wanted; i++) {
            char **oldest = &blocks[i % live];
            free(*oldest);
            put((uintptr_t)(*oldest = block(size)));
        }
    } else {
        return 2;
    }
    flush();
    return 0;
}
