/* Counts the words of a text that it makes itself, in a hash table of linked
 * lists: calls, branches, allocations, and data all over the heap. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef BUCKETS
#define BUCKETS 512
#endif
#define WORDS 200000

struct word {
    struct word *next;
    unsigned count;
    char text[12];
};

static struct word *table[BUCKETS];

static unsigned hash(const char *text) {
    unsigned h = 2166136261u;
    while (*text) h = (h ^ (unsigned char)*text++) * 16777619u;
    return h % BUCKETS;
}

static struct word *find(const char *text) {
    struct word **link = &table[hash(text)];
    for (; *link; link = &(*link)->next)
        if (strcmp((*link)->text, text) == 0) return *link;
    *link = calloc(1, sizeof **link);
    if (*link == NULL) exit(1);
    strcpy((*link)->text, text);
    return *link;
}

int main(void) {
    unsigned long state = 1;
    unsigned long most = 0;
    for (int i = 0; i < WORDS; i++) {
        char text[12];
        state = state * 6364136223846793005ul + 1442695040888963407ul;
        snprintf(text, sizeof text, "w%lu", (state >> 33) % 20000);
        struct word *word = find(text);
        if (++word->count > most) most = word->count;
    }
    printf("the most frequent word occurs %lu times\n", most);
    return 0;
}
