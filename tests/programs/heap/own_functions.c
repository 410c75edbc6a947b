//#Movable: 0
//#Epochs: 0
/* A program that brings its own malloc, from a fixed area, and uses functions of the family that it
 * does not bring. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static _Alignas(64) char area[1 << 20];
static size_t used;

void *malloc(size_t bytes)
{
    size_t *block = (size_t *)(area + used + 48);
    used += (bytes + 64 + 63) / 64 * 64;
    if (used > sizeof area - 64)
        return NULL;
    block[0] = bytes;
    return block + 2;
}
void free(void *block) { (void)block; }
void *calloc(size_t count, size_t bytes)
{
    void *block = malloc(count * bytes);
    return block ? memset(block, 0, count * bytes) : NULL;
}
void *realloc(void *old, size_t bytes)
{
    char *block = malloc(bytes);
    if (block && old) {
        size_t before = ((size_t *)old)[-2];
        memcpy(block, old, before < bytes ? before : bytes);
    }
    return block;
}

int main(void)
{
    char *block = malloc(100);
    strcpy(block, "text");
    block = reallocarray(block, 10, 30);
    int inside = block >= area && block < area + sizeof area;
    printf("%s %d\n", block, inside);
    return 0;
}
