//#Variants: -O2 | -O2 -static
//#Flags: -pthread
//#Movable: 0
//#Epochs: 0
/* Blocks that pass between threads, threads that end and leave blocks behind, destructors of
 * thread-specific data that allocate, and children of a program with threads that allocate. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define BLOCKS 20000
#ifdef LONG
enum { ROUNDS = 5, SHORT_LIVED = 300, CHILDREN = 30 };
#else
enum { ROUNDS = 2, SHORT_LIVED = 101, CHILDREN = 5 };
#endif

static void *blocks[BLOCKS];
static pthread_key_t key;
static atomic_int stop;

static void destructor(void *value)
{
    static _Thread_local int rounds;
    char *text = malloc(100);
    strcpy(text, value);
    free(value);
    /* In a later round, as a library might. */
    if (rounds++ < 2)
        pthread_setspecific(key, text);
    else
        free(text);
}

static void *producer(void *argument)
{
    (void)argument;
    pthread_setspecific(key, strdup("value"));
    for (int i = 0; i < BLOCKS; i++) {
        blocks[i] = malloc(16 + i % 500);
        memset(blocks[i], i, 16 + i % 500);
    }
    return NULL;
}

static void *short_lived(void *argument)
{
    void *own[100];
    pthread_setspecific(key, strdup("value"));
    for (int i = 0; i < 100; i++)
        own[i] = malloc(i * 20);
    for (int i = 0; i < 100; i++)
        free(own[i]);
    return argument;
}

static void *consumer(void *argument)
{
    for (int i = 0; i < BLOCKS; i++) {
        unsigned char *block = blocks[i];
        if (block[15] != (unsigned char)i)
            abort();
        free(block);
    }
    return argument;
}

static void *busy(void *argument)
{
    while (!stop)
        free(malloc(1 + (size_t)argument % 3000));
    return NULL;
}

int main(void)
{
    pthread_t thread;
    pthread_key_create(&key, destructor);
    for (int round = 0; round < ROUNDS; round++) {
        pthread_create(&thread, NULL, producer, NULL);
        pthread_join(thread, NULL);
        pthread_create(&thread, NULL, consumer, NULL);
        pthread_join(thread, NULL);
    }
    /* Many threads, one after the other and at once. */
    for (int i = 0; i < SHORT_LIVED; i++) {
        pthread_create(&thread, NULL, short_lived, NULL);
        if (i % 100)
            pthread_detach(thread), usleep(100);
        else
            pthread_join(thread, NULL);
    }
    usleep(200000);
    pthread_t threads[4];
    for (size_t i = 0; i < 4; i++)
        pthread_create(&threads[i], NULL, busy, (void *)(i * 700));
    int good = 0;
    for (int i = 0; i < CHILDREN; i++) {
        pid_t child = fork();
        if (child == 0) {
            for (int j = 0; j < 2000; j++)
                blocks[j] = malloc(j * 10);
            for (int j = 0; j < 2000; j++)
                free(blocks[j]);
            pthread_create(&thread, NULL, short_lived, NULL);
            pthread_join(thread, NULL);
            _exit(7);
        }
        int status;
        waitpid(child, &status, 0);
        good += WIFEXITED(status) && WEXITSTATUS(status) == 7;
    }
    stop = 1;
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    printf("%d children\n", good);
    return 0;
}
