/* Progress and arrival points, for `szc causal`. Source-compatible with coz's header: programs that
 * have that one work as they are, and those that are compiled with this one work with coz, too.
 *
 * What this one has beyond: COZ_ARRIVAL, and COZ_BEGIN and COZ_END that tell the time of each
 * visit, so that mean lengths and latencies are exact. In a program that runs by itself all of them
 * cost a comparison. Works in C and C++.
 */
#ifndef COZ_H
#define COZ_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <dlfcn.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

#define COZ_COUNTER_TYPE_THROUGHPUT 1
#define COZ_COUNTER_TYPE_BEGIN 2
#define COZ_COUNTER_TYPE_END 3
/* coz counts nothing of this kind. */
#define COZ_COUNTER_TYPE_ARRIVAL 4

typedef struct {
    size_t count;
    size_t backoff;
} coz_counter_t;

/* Weak, so that older C libraries need no libdl. */
void *dlsym(void *handle, const char *symbol) __attribute__((weak));

static __inline__ void *szc_coz_function(const char *name)
{
    return dlsym ? dlsym(RTLD_DEFAULT, name) : 0;
}

static __inline__ coz_counter_t *szc_coz_counter(int kind, const char *name)
{
    void *found = szc_coz_function("_coz_get_counter");
    return found ? ((coz_counter_t * (*)(int, const char *)) found)(kind, name) : 0;
}

static __inline__ void szc_coz_visit(coz_counter_t *counter)
{
    static void (*visit)(coz_counter_t *);
    static int is_known;
    if (!__atomic_load_n(&is_known, __ATOMIC_ACQUIRE)) {
        visit = (void (*)(coz_counter_t *))szc_coz_function("_szc_coz_visit");
        __atomic_store_n(&is_known, 1, __ATOMIC_RELEASE);
    }
    if (visit)
        visit(counter);
    else
        __atomic_add_fetch(&counter->count, 1, __ATOMIC_RELAXED);
}

/* Two threads that come first find the same counter. */
#define SZC_COZ_POINT(kind, name, count)                                                          \
    do {                                                                                          \
        static coz_counter_t *szc_counter;                                                        \
        static int szc_is_known;                                                                  \
        if (!__atomic_load_n(&szc_is_known, __ATOMIC_ACQUIRE)) {                                  \
            szc_counter = szc_coz_counter(kind, name);                                            \
            __atomic_store_n(&szc_is_known, 1, __ATOMIC_RELEASE);                                 \
        }                                                                                         \
        if (szc_counter)                                                                          \
            count(szc_counter);                                                                   \
    } while (0)

#define SZC_COZ_ADD(counter) __atomic_add_fetch(&(counter)->count, 1, __ATOMIC_RELAXED)

#define SZC_COZ_TEXT_OF(x) #x
#define SZC_COZ_TEXT(x) SZC_COZ_TEXT_OF(x)

/* One more is done. */
#define COZ_PROGRESS_NAMED(name) SZC_COZ_POINT(COZ_COUNTER_TYPE_THROUGHPUT, name, SZC_COZ_ADD)
#define COZ_PROGRESS COZ_PROGRESS_NAMED(__FILE__ ":" SZC_COZ_TEXT(__LINE__))

/* A request begins and ends. It has arrived where it begins. */
#define COZ_BEGIN(name) SZC_COZ_POINT(COZ_COUNTER_TYPE_BEGIN, name, szc_coz_visit)
#define COZ_END(name) SZC_COZ_POINT(COZ_COUNTER_TYPE_END, name, szc_coz_visit)

/* A request arrives, on the thread that waits for them or makes them. */
#define COZ_ARRIVAL SZC_COZ_POINT(COZ_COUNTER_TYPE_ARRIVAL, "arrival", szc_coz_visit)

#ifdef __cplusplus
}
#endif

#endif
