//#Variants: -O1 -fno-builtin | -O1 -fno-builtin -static
//#Flags: -Wno-everything
//#Movable: 0
//#Epochs: 0
/* What the manual pages say of malloc's family: sizes, alignments, contents, errors. */
#define _GNU_SOURCE
#include <errno.h>
#include <malloc.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
static int bad;
#define CHECK(x)                                                                                   \
    do {                                                                                           \
        if (!(x)) {                                                                                \
            printf("FAIL %d: %s\n", __LINE__, #x);                                                 \
            bad = 1;                                                                               \
        }                                                                                          \
    } while (0)
static volatile size_t huge = (size_t)PTRDIFF_MAX + 1;
int main(void)
{
    void *a = malloc(0), *b = malloc(0);
    CHECK(a && b && a != b);
    free(a);
    free(b);
    free(NULL);
    for (size_t s = 1; s < 200000; s = s * 5 / 4 + 1) {
        char *p = malloc(s);
        CHECK(p && (uintptr_t)p % 16 == 0);
        CHECK(malloc_usable_size(p) >= s);
        memset(p, 1, malloc_usable_size(p));
        char *q = calloc(1, s);
        for (size_t i = 0; i < s; i++)
            if (q[i]) {
                CHECK(0);
                break;
            }
        memset(q, 2, s);
        q = realloc(q, s * 3);
        for (size_t i = 0; i < s; i++)
            if (q[i] != 2) {
                CHECK(0);
                break;
            }
        q = realloc(q, s / 2 + 1);
        for (size_t i = 0; i < s / 2 + 1; i++)
            if (q[i] != 2) {
                CHECK(0);
                break;
            }
        free(q);
        free(p);
        q = calloc(s, 1);
        for (size_t i = 0; i < s; i++)
            if (q[i]) {
                CHECK(0);
                break;
            }
        free(q);
    }
    errno = 0;
    CHECK(!malloc(huge) && errno == ENOMEM);
    errno = 0;
    CHECK(!calloc(huge, 2) && errno == ENOMEM);
    errno = 0;
    CHECK(!calloc(huge / 2, 4) && errno == ENOMEM);
    void *p = malloc(10);
    errno = 0;
    CHECK(!realloc(p, huge) && errno == ENOMEM);
    errno = 0;
    CHECK(!reallocarray(p, huge, 2) && errno == ENOMEM);
    p = reallocarray(p, 10, 20);
    CHECK(p);
    CHECK(realloc(p, 0) == NULL);
    CHECK(posix_memalign(&p, 3, 10) == EINVAL);
    CHECK(posix_memalign(&p, 4, 10) == EINVAL);
    CHECK(posix_memalign(&p, 24, 10) == EINVAL);
    CHECK(posix_memalign(&p, 0, 10) == EINVAL);
    CHECK(posix_memalign(&p, 64, huge) == ENOMEM);
    for (size_t al = 1; al <= (4u << 20); al *= 2)
        for (size_t s = 0; s < 70000; s = s * 7 + 1) {
            char *q = memalign(al, s);
            CHECK(q && (uintptr_t)q % al == 0);
            size_t u = malloc_usable_size(q);
            CHECK(u >= s);
            memset(q, 3, u);
            char *r = aligned_alloc(al, s);
            CHECK(r && (uintptr_t)r % al == 0);
            q = realloc(q, s + 100);
            for (size_t i = 0; i < s; i++)
                if (q[i] != 3) {
                    CHECK(0);
                    break;
                }
            free(q);
            free(r);
            if (al >= 8) {
                void *t;
                CHECK(posix_memalign(&t, al, s) == 0 && (uintptr_t)t % al == 0);
                free(t);
            }
        }
    p = aligned_alloc(3, 10);
    CHECK(p);
    free(p);
    p = memalign(48, 10);
    CHECK(p && (uintptr_t)p % 64 == 0);
    free(p);
    errno = 0;
    p = memalign(SIZE_MAX / 2 + 2, 1);
    CHECK(!p && errno == EINVAL);
    errno = 0;
    p = memalign(SIZE_MAX / 2 + 1, 1);
    CHECK(!p && errno == ENOMEM);
    p = valloc(1);
    CHECK((uintptr_t)p % 4096 == 0);
    free(p);
    p = pvalloc(1);
    CHECK((uintptr_t)p % 4096 == 0 && malloc_usable_size(p) >= 4096);
    free(p);
    errno = 0;
    CHECK(!pvalloc(SIZE_MAX - 5) && errno == ENOMEM);
    errno = 7;
    p = malloc(100);
    free(p);
    p = malloc(1 << 20);
    free(p);
    CHECK(errno == 7);
    CHECK(malloc_usable_size(NULL) == 0);
    char *big = malloc(1 << 20);
    memset(big, 5, 1 << 20);
    big = realloc(big, 64 << 20);
    CHECK(big[0] == 5 && big[(1 << 20) - 1] == 5 && big[1 << 20] == 0);
    big = realloc(big, 200000);
    CHECK(big[199999] == 5);
    big = realloc(big, 100);
    CHECK(big[99] == 5);
    free(big);
    malloc_trim(0);
    mallopt(M_MMAP_THRESHOLD, 1 << 20);
    struct mallinfo2 mi = mallinfo2();
    (void)mi;
    char *s = strdup("x");
    free(s);
    char *line = NULL;
    asprintf(&line, "%d", 5);
    free(line);
    puts(bad ? "BAD" : "ok");
    return bad;
}
