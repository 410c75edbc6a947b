//#Variants: -O2 | -O2 -static
//#Flags: -pthread
//#Movable: 0
//#Epochs: 0
/* Threads whose only calls of malloc and free are in destructors of thread-specific data, in one
 * round or several, some of them with children: what they used must serve the next thread. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define THREADS 600

static pthread_key_t freed, filled, forking;

/* Address space of the process in KiB. (Memory is no measure: copies of code have some.) */
static long address_space(void)
{
    static char text[8192];
    FILE *file = fopen("/proc/self/status", "r");
    size_t length = fread(text, 1, sizeof text - 1, file);
    fclose(file);
    text[length] = 0;
    return strtol(strstr(text, "VmSize:") + 7, NULL, 10);
}

/* Allocates and frees in this round and the next, but not in the last. */
static void fill(void *value)
{
    size_t round = (size_t)value;
    char *blocks[50];
    for (int i = 0; i < 50; i++) {
        blocks[i] = malloc(i * 40 + 1);
        memset(blocks[i], i, i * 40 + 1);
    }
    for (int i = 0; i < 50; i++) {
        if (blocks[i][i * 40] != i)
            abort();
        free(blocks[i]);
    }
    if (round < 3)
        pthread_setspecific(filled, (void *)(round + 1));
}

static void fork_one(void *value)
{
    (void)value;
    free(malloc(100));
    pid_t child = fork();
    if (child == 0) {
        fill((void *)3);
        _exit(7);
    }
    int status;
    if (waitpid(child, &status, 0) != child || !WIFEXITED(status) || WEXITSTATUS(status) != 7)
        abort();
}

static void *free_at_end(void *block)
{
    pthread_setspecific(freed, block);
    return NULL;
}

static void *fill_at_end(void *unused)
{
    pthread_setspecific(filled, (void *)1);
    return unused;
}

static void *fork_at_end(void *unused)
{
    free(malloc(200));
    pthread_setspecific(forking, (void *)1);
    return unused;
}

static void run(void *(*start)(void *), void *argument)
{
    pthread_t thread;
    if (pthread_create(&thread, NULL, start, argument) != 0 || pthread_join(thread, NULL) != 0)
        abort();
}

static void run_all(void)
{
    for (int i = 0; i < THREADS; i++) {
        run(free_at_end, malloc(100));
        run(fill_at_end, NULL);
    }
}

int main(void)
{
    pthread_key_create(&freed, free);
    pthread_key_create(&filled, fill);
    pthread_key_create(&forking, fork_one);
    run_all();
    long before = address_space();
    run_all();
    printf("%d threads later: %s\n", 2 * THREADS,
           address_space() - before < 16 << 10 ? "no more address space" : "more address space");
    for (int i = 0; i < 20; i++)
        run(fork_at_end, NULL);
    return 0;
}
