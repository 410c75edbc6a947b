/* Where frames lie: prints, for calls of one padded function, how far the frame of its callee lies
 * below that of its caller. One line for each turn of 256 calls.
 *
 *   turns MS [LEAST]  the distances of all turns that begin in this time, and then until so many
 *                     are known: a busy machine may leave little of the time. At most a minute
 *   counts CALLS      how often each distance occurred, as "distance:count", in one line
 *   layouts MS        the distances of two functions, "one other", a line each time that one of
 *                     them changes
 *   threads PAIRS     the first distance in each of two threads that run at once, a line for each
 *                     pair
 *   fork MS [LEAST]   like "turns", and after half the time a child does the same for a fourth
 *                     of it
 *   deep MIB          a recursion that takes so much without pads; prints the peak memory in KiB
 *   span DEPTH        how far below the frame of main a recursion of so many calls ends, on the
 *                     main thread and on another one
 *
 * LARGE: bytes of an array in main. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline))
enum { TURN = 256, MAX_DISTANCE = 64 << 10 };

NOINLINE static uint64_t frame(void)
{
    uint64_t here;
    __asm__ volatile("mov %%rsp, %0" : "=r"(here));
    /* Not to be taken for a function that bounds the stack: the room is that of most programs. */
    __asm__ volatile("" : "+r"(here));
    return here;
}

NOINLINE static uint64_t padded(void)
{
    uint64_t here = frame();
    __asm__ volatile("" : "+r"(here));
    return here;
}

/* With a variable whose address escapes. */
NOINLINE static uint64_t also_padded(void)
{
    uint64_t here = frame();
    __asm__ volatile("" : : "r"(&here) : "memory");
    return here;
}

static double now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

__attribute__((always_inline)) static inline uint64_t stack_pointer(void)
{
    uint64_t here;
    __asm__ volatile("mov %%rsp, %0" : "=r"(here));
    __asm__ volatile("" : "+r"(here)); /* as above */
    return here;
}

/* Nothing else may be padded between the calls of a turn. */
NOINLINE static void take_turn(uint64_t *distances)
{
    for (int i = 0; i < TURN; i++)
        distances[i] = stack_pointer() - padded();
}

static void turns(double ms, size_t least)
{
    static uint64_t seen[1 << 14][TURN];
    size_t count = 0;
    double begin = now_ms();
    while (count < 1 << 14 && now_ms() < begin + (count < least ? 6e4 : ms)) {
        take_turn(seen[count]);
        /* Only what changed is of interest. */
        if (count == 0 || memcmp(seen[count], seen[count - 1], sizeof seen[0]) != 0)
            count++;
    }
    for (size_t turn = 0; turn < count; turn++)
        for (int i = 0; i < TURN; i++)
            printf("%llu%c", (unsigned long long)seen[turn][i], i == TURN - 1 ? '\n' : ' ');
    fflush(stdout);
}

NOINLINE static void take_both(uint64_t *distances)
{
    distances[0] = stack_pointer() - padded();
    distances[1] = stack_pointer() - also_padded();
}

static void layouts(double ms)
{
    uint64_t last[2] = {0, 0}, now[2];
    for (double end = now_ms() + ms; now_ms() < end;) {
        take_both(now);
        if (memcmp(last, now, sizeof now) != 0)
            printf("%llu %llu\n", (unsigned long long)now[0], (unsigned long long)now[1]);
        memcpy(last, now, sizeof now);
    }
}

static void counts(long calls)
{
    static uint64_t seen[MAX_DISTANCE];
    for (long i = 0; i < calls; i++) {
        uint64_t distance = stack_pointer() - padded();
        seen[distance < MAX_DISTANCE ? distance : 0]++;
    }
    for (int distance = 0; distance < MAX_DISTANCE; distance++)
        if (seen[distance] != 0)
            printf("%d:%llu ", distance, (unsigned long long)seen[distance]);
    puts("");
}

static void *first_distance(void *barrier)
{
    pthread_barrier_wait(barrier);
    return (void *)(stack_pointer() - padded());
}

static void threads(long pairs)
{
    pthread_barrier_t barrier;
    pthread_barrier_init(&barrier, NULL, 2);
    for (long i = 0; i < pairs; i++) {
        pthread_t pair[2];
        void *found[2];
        for (int k = 0; k < 2; k++)
            if (pthread_create(&pair[k], NULL, first_distance, &barrier) != 0)
                abort();
        for (int k = 0; k < 2; k++)
            pthread_join(pair[k], &found[k]);
        printf("%llu %llu\n", (unsigned long long)found[0], (unsigned long long)found[1]);
    }
}

NOINLINE static uint64_t down(uint64_t depth)
{
    volatile char own[100];
    own[depth % 100] = 1;
    return depth == 0 ? 0 : down(depth - 1) + (unsigned char)own[depth % 100];
}

static uint64_t lowest;
NOINLINE static uint64_t bottom(uint64_t depth)
{
    volatile char own[100];
    own[depth % 100] = 1;
    if (depth == 0)
        lowest = frame();
    return depth == 0 ? 0 : bottom(depth - 1) + (unsigned char)own[depth % 100];
}
static void *span(void *depth)
{
    uint64_t here = stack_pointer();
    if (bottom((uint64_t)depth) > (uint64_t)depth)
        abort();
    printf("%llu\n", (unsigned long long)(here - lowest));
    return NULL;
}
NOINLINE static void spans(long depth)
{
    pthread_t thread;
    span((void *)depth);
    if (pthread_create(&thread, NULL, span, (void *)depth) != 0)
        abort();
    pthread_join(thread, NULL);
}

int main(int count, char **words)
{
#ifdef LARGE
    volatile char large[LARGE];
    large[count] = 1;
#endif
    if (count < 3)
        return 2;
    long number = atol(words[2]);
    size_t least = count > 3 ? (size_t)atol(words[3]) : 0;
    if (strcmp(words[1], "turns") == 0)
        turns((double)number, least);
    else if (strcmp(words[1], "layouts") == 0)
        layouts((double)number);
    else if (strcmp(words[1], "counts") == 0)
        counts(number);
    else if (strcmp(words[1], "threads") == 0)
        threads(number);
    else if (strcmp(words[1], "fork") == 0) {
        turns((double)number / 2, 2 * least);
        pid_t child = fork();
        turns((double)number / 4, least);
        int status = 0;
        if (child != 0 && (waitpid(child, &status, 0) != child || status != 0))
            return 3;
    } else if (strcmp(words[1], "span") == 0) {
        spans(number);
    } else if (strcmp(words[1], "deep") == 0) {
        if (down(((uint64_t)number << 20) / 144) == 0)
            return 4;
        struct rusage usage;
        getrusage(RUSAGE_SELF, &usage);
        printf("%ld\n", usage.ru_maxrss);
    }
    return 0;
}
