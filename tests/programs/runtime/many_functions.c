/* Calls 2,048 functions for as many milliseconds as it is told, and then says what is asked for:
 * "fork": page faults of a child that calls one of them and ends.
 * "written": KiB of the alias by which copies are written that count as the program's, when they
 * have become few, or 10 seconds later;
 * "pieces": pieces of memory that hold code which no file has, after forks during which the parent
 * calls functions for the first time;
 * "tasks": threads of a child of a process whose children have ended soon; and when its first
 * round is due and it asks for memory, that number and ten times the one before;
 * "sleep": processor time of a second of sleep, in microseconds. */
#include "../rounds.h"
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define ONE(n)                                                                                     \
    NOINLINE static uint64_t f##n(uint64_t x)                                                      \
    {                                                                                              \
        volatile uint64_t array[4] = {x, x + 1, x * 3, x ^ n};                                     \
        for (int i = 0; i < 4; i++) array[i] += array[(i + 1) & 3] * (2 * n + 1);                  \
        return array[x & 3];                                                                       \
    }
/* A macro is not expanded within itself: one for each digit, all octal. */
#define LAST(m, n) m(n##0) m(n##1) m(n##2) m(n##3) m(n##4) m(n##5) m(n##6) m(n##7)
#define NEXT(m, n) m(n##0) m(n##1) m(n##2) m(n##3) m(n##4) m(n##5) m(n##6) m(n##7)
#define FIRST(m, n) m(n##0) m(n##1) m(n##2) m(n##3) m(n##4) m(n##5) m(n##6) m(n##7)
#define EIGHT(n) LAST(ONE, n)
#define SIXTY_FOUR(n) NEXT(EIGHT, n)
#define NAME(n) f##n,
#define EIGHT_NAMES(n) LAST(NAME, n)
#define SIXTY_FOUR_NAMES(n) NEXT(EIGHT_NAMES, n)

FIRST(SIXTY_FOUR, 01)
FIRST(SIXTY_FOUR, 02)
FIRST(SIXTY_FOUR, 03)
FIRST(SIXTY_FOUR, 04)
static uint64_t (*const functions[])(uint64_t) = {
    FIRST(SIXTY_FOUR_NAMES, 01) FIRST(SIXTY_FOUR_NAMES, 02) FIRST(SIXTY_FOUR_NAMES, 03)
        FIRST(SIXTY_FOUR_NAMES, 04)};

static uint64_t call_all(void)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) sum += functions[i](i);
    return sum;
}

static long lines_with(const char *file, const char *text, const char *other)
{
    char line[512];
    long found = 0;
    FILE *lines = fopen(file, "r");
    CHECK(lines != NULL);
    while (fgets(line, sizeof line, lines))
        if (strstr(line, text) && strstr(line, other)) found++;
    fclose(lines);
    return found;
}

static long written_kib(void)
{
    char line[512];
    long kib = 0, found;
    int is_alias = 0;
    FILE *lines = fopen("/proc/self/smaps", "r");
    CHECK(lines != NULL);
    while (fgets(line, sizeof line, lines)) {
        if (strstr(line, " rw-s ")) is_alias = strstr(line, "szc code") != NULL;
        if (is_alias && sscanf(line, "Rss: %ld", &found) == 1) {
            kib += found;
            is_alias = 0;
        }
    }
    fclose(lines);
    return kib;
}

static long threads(void)
{
    char text[32];
    for (long n = 1;; n++) {
        snprintf(text, sizeof text, "Threads:\t%ld\n", n);
        if (lines_with("/proc/self/status", text, "")) return n;
    }
}

/* A child that sleeps for so long, and then ends. */
static pid_t child_for(int ms)
{
    fflush(stdout);
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        struct timespec time = {ms / 1000, ms % 1000 * 1000000};
        if (ms != 0) CHECK(nanosleep(&time, NULL) == 0);
        _exit(f01000(1) == 0);
    }
    return child;
}

static long page_faults(pid_t child)
{
    struct rusage usage;
    CHECK(wait4(child, NULL, 0, &usage) == child);
    return usage.ru_minflt;
}

/* The most page faults of a child that waits, of many that are made now and then. */
static long most_faults(void)
{
    pid_t children[30];
    long most = 0;
    for (size_t i = 0; i < sizeof children / sizeof *children; i++) {
        FOR_MS(30) SAME_EVERY_ROUND(call_all());
        children[i] = child_for(400);
    }
    for (size_t i = 0; i < sizeof children / sizeof *children; i++) {
        long faults = page_faults(children[i]);
        if (faults > most) most = faults;
    }
    return most;
}

static void forks(unsigned count, int calls)
{
    for (unsigned i = 0; i < count; i++) {
        pid_t child = fork();
        CHECK(child >= 0);
        if (child == 0) _exit(0);
        if (calls) CHECK(functions[i * 7](i) + 1 > 0);
        CHECK(waitpid(child, NULL, 0) == child);
    }
}

int main(int count, char **arguments)
{
    int ms = count > 2 ? atoi(arguments[1]) : 30;
    if (count > 2 && strcmp(arguments[2], "written") == 0) {
        call_all();
        long kib = written_kib(), at_first = kib;
        FOR_MS(10000)
        {
            struct timespec time = {0, 20000000};
            CHECK(nanosleep(&time, NULL) == 0);
            kib = written_kib();
            if (kib < at_first / 8) break;
        }
        printf("%ld\n", at_first > 100 ? kib : -1);
        return 0;
    }
    if (count > 2 && strcmp(arguments[2], "pieces") == 0) {
        forks(200, 1);
        printf("%ld\n", lines_with("/proc/self/maps", "r-xs", ""));
        return 0;
    }
    if (count > 2 && strcmp(arguments[2], "tasks") == 0) {
        forks(20, 0);
        fflush(stdout);
        pid_t child = fork();
        if (child == 0) {
            long at_first = threads();
            struct timespec time = {ms / 1000, ms % 1000 * 1000000};
            CHECK(nanosleep(&time, NULL) == 0);
            void *volatile memory = calloc(1, 16);
            CHECK(memory != NULL);
            printf("%ld\n", 10 * at_first + threads());
            exit(0);
        }
        CHECK(waitpid(child, NULL, 0) == child);
        return 0;
    }
    FOR_MS(ms) SAME_EVERY_ROUND(call_all());
    if (count > 2 && strcmp(arguments[2], "fork") == 0) {
        printf("%ld\n", page_faults(child_for(0)));
    } else if (count > 2 && strcmp(arguments[2], "waits") == 0) {
        printf("%ld\n", most_faults());
    } else if (count > 2) {
        struct timespec before, after, second = {1, 0};
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &before);
        CHECK(nanosleep(&second, NULL) == 0);
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &after);
        printf("%ld\n", (long)(after.tv_sec - before.tv_sec) * 1000000
                            + (after.tv_nsec - before.tv_nsec) / 1000);
    }
    return 0;
}
