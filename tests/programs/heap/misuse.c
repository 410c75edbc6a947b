//#Variants: -O0
//#Movable: 0
//#Epochs: 0
/* misuse KIND: gives free(3) what is not to be freed. Without a word it does nothing. */
#include <stdlib.h>
#include <string.h>

static char array[64];

int main(int count, char **words)
{
    const char *kind = count > 1 ? words[1] : "";
    char *block = malloc(300), *large = malloc(1 << 20), *aligned = aligned_alloc(512, 100);
    if (!strcmp(kind, "interior"))
        free(block + 16);
    if (!strcmp(kind, "next"))
        free(block + 32);
    if (!strcmp(kind, "static"))
        free(array + 16);
    if (!strcmp(kind, "stack"))
        free(__builtin_frame_address(0));
    if (!strcmp(kind, "large"))
        free(large + 64);
    if (!strcmp(kind, "realloc"))
        block = realloc(array + 32, 10);
    if (!strcmp(kind, "twice"))
        free(block), free(block);
    if (!strcmp(kind, "twice large"))
        free(large), free(large);
    if (!strcmp(kind, "twice aligned"))
        free(aligned), free(aligned);
    return 0;
}
