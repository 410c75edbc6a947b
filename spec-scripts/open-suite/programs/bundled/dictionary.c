/* A chained hash table of made-up words that grows, is searched and is emptied. */
#include "bundled.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct entry {
    struct entry *next;
    uint64_t count;
    char word[];
};

struct dictionary {
    struct entry **buckets;
    size_t bucket_count;
    size_t size;
};

static uint64_t hash(const char *word)
{
    uint64_t h = 14695981039346656037u;
    for (; *word; word++)
        h = (h ^ (unsigned char)*word) * 1099511628211u;
    return h;
}

static void *allocate(size_t count, size_t size)
{
    void *memory = calloc(count, size);
    if (!memory) {
        perror("bundled");
        exit(1);
    }
    return memory;
}

static void grow(struct dictionary *d)
{
    size_t count = d->bucket_count ? d->bucket_count * 2 : 16;
    struct entry **buckets = allocate(count, sizeof *buckets);
    for (size_t i = 0; i < d->bucket_count; i++) {
        for (struct entry *e = d->buckets[i], *next; e; e = next) {
            struct entry **place = &buckets[hash(e->word) % count];
            next = e->next;
            e->next = *place;
            *place = e;
        }
    }
    free(d->buckets);
    d->buckets = buckets;
    d->bucket_count = count;
}

static struct entry *lookup(struct dictionary *d, const char *word)
{
    struct entry *e;
    if (d->size >= d->bucket_count)
        grow(d);
    struct entry **place = &d->buckets[hash(word) % d->bucket_count];
    for (e = *place; e; e = e->next)
        if (strcmp(e->word, word) == 0)
            return e;
    e = allocate(1, sizeof *e + strlen(word) + 1);
    strcpy(e->word, word);
    e->next = *place;
    *place = e;
    d->size++;
    return e;
}

static uint64_t empty(struct dictionary *d)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < d->bucket_count; i++) {
        for (struct entry *e = d->buckets[i], *next; e; e = next) {
            next = e->next;
            sum += e->count * hash(e->word);
            free(e);
        }
    }
    free(d->buckets);
    memset(d, 0, sizeof *d);
    return sum;
}

static void make_word(char *word, uint32_t random)
{
    static const char syllables[16][4] = {"ba", "ce", "di", "fo", "gu", "ha", "je", "ki",
                                          "lo", "mu", "na", "pe", "ri", "so", "tu", "va"};
    word[0] = 0;
    for (unsigned i = 2 + random % 3; i > 0; i--) {
        random /= 7;
        strcat(word, syllables[random % 16]);
    }
}

uint64_t run_dictionary(unsigned rounds)
{
    struct dictionary d = {0};
    uint32_t random = 7;
    uint64_t sum = 0;
    char word[16];
    for (unsigned round = 0; round < rounds; round++) {
        for (unsigned i = 0; i < 24000; i++) {
            make_word(word, next_random(&random) % 50021);
            lookup(&d, word)->count++;
        }
        if (round % 8 == 7)
            sum += empty(&d);
    }
    return sum + empty(&d);
}
